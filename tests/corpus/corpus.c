/* SPDX-License-Identifier: MIT */
/*
 * corpus - compare the tables of ELF files with the rows that libdw reads
 *
 * Usage: corpus FILE...
 *
 * tests/fuzz/slow.c lists the FDEs. For each of them, libdw's
 * dwarf_cfi_addrframe() returns row after row. Each row of ours that covers
 * addresses of a row of libdw must have the same CFA, rbp, return address and
 * registers that the table follows. Our row is looked up, as a walk does it, at
 * its first byte and at the last byte before the next row. Between FDEs there
 * must be no rule. So each byte of the object's code is checked, with two tables:
 * one follows the registers that it needs, the other all callee-saved registers.
 * A table in parts must have the same rules as the former at each address.
 *
 * Prints a line for each file, with tabs: verdict (ok, differs, refused, or none:
 * no CFI), path, FDEs, libdw's rows, our rows that were compared (of both
 * tables), how many of these have a full rule, have an expression, or are legal
 * and not expressed; rows compared with slow.c; differences. Lines before it, which
 * begin with "# ", have the first 20 differences, and each expression that the
 * table does not express. The exit status is 1 if a file differs or is refused.
 *
 * libdw 0.188 has no result, or another one, in these cases:
 * - It does not support an FDE inside another one, and refuses DW_CFA_restore in
 *   a CIE, which readelf and GCC's unwinder treat as "no rule given". These FDEs
 *   are compared with slow.c. So are rows whose CFA is given by a register again
 *   after it was given by an expression (libgcrypt): libdw then has no CFA, all
 *   others keep the last offset.
 * - A register that is not callee-saved, and that CFI does not mention, is
 *   undefined to libdw, and has the same value to us. It is compared if one of
 *   the two has another rule. This also holds for rbx, which is callee-saved by
 *   the psABI: libdw's defaults for x86-64 have rax in its place.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#include "../fuzz/slow.h"
#include "../unit/object.h"
#include "../unit/parts.h"
#include "../../kmod/core/cfi/bytes.h"
#include "text.h"

#define SHOWN	20

struct fde {
	u64 start, end;
	Dwarf_CFI *cfi;
};

struct row {
	u64 addr;
	struct kunwind_rule rule;
};

struct table {
	struct kunwind_table *table;
	struct row *rows;
	size_t nr, room, at;
	u32 keep;
};

struct file {
	const char *path;
	struct object object;
	struct slow_section slow[2];
	struct table tables[2];
	struct fde *fdes;
	size_t nr_fdes, room;
	Dwarf_CFI *eh, *debug, *adding;
	u64 theirs, ours, wide, exprs, unknown, slowly, bad;
	char last_unknown[24576];
};

static void *grow(void *array, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return array;
	*room = *room ? 2 * *room : 1024;
	array = realloc(array, *room * size);
	if (!array)
		abort();
	return array;
}

static void fde_add(void *data, uint64_t start, uint64_t end)
{
	struct file *f = data;

	f->fdes = grow(f->fdes, f->nr_fdes, &f->room, sizeof(*f->fdes));
	f->fdes[f->nr_fdes++] = (struct fde){ start, end, f->adding };
}

static int fde_cmp(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? 1 : x->end > y->end ? -1 : 0;
}

static int row_add(void *data, u64 addr, struct kunwind_rule rule)
{
	struct table *t = data;

	t->rows = grow(t->rows, t->nr, &t->room, sizeof(*t->rows));
	t->rows[t->nr++] = (struct row){ addr, rule };
	return 0;
}

static bool i386;	/* the file is of 32-bit code */

static void differs(struct file *f, u64 addr, const char *what, const char *ours,
		    const char *theirs)
{
	if (f->bad++ < SHOWN)
		printf("# %s: %llx: %s: table \"%s\", libdw \"%s\"\n", f->path,
		       (unsigned long long)addr, what, ours, theirs);
}

/* Whether @text is an expression that the table need not express. */
static bool not_expressed(const char *text, bool cfa)
{
	struct kunwind_expr_info info;
	unsigned int byte;
	u8 expr[4096];
	size_t len = 0;

	if (*text == 'v')
		text++;
	if (strncmp(text, "exp:", 4))
		return false;
	for (text += 4; sscanf(text, "%2x", &byte) == 1; text += 2)
		expr[len++] = byte;
	return kunwind_expr_check(expr, len, !cfa, i386, &info) || info.unknown;
}

static void unknown_note(struct file *f, u64 addr, const char *text)
{
	f->unknown++;
	if (strcmp(f->last_unknown, text)) {
		printf("# %s: %llx: not expressed: %s\n", f->path, (unsigned long long)addr, text);
		strcpy(f->last_unknown, text);
	}
}

/* One row of libdw as text. */
struct words {
	char cfa[8192], rbp[8192], ra[8192], line[24576];
	bool signal;
};

static void words_make(Dwarf_Frame *frame, bool signal, int ra, struct words *w)
{
	w->signal = signal;
	return_text(i386, frame, ra, w->ra);
	if (!strcmp(w->ra, "u")) {
		strcpy(w->line, "end - -");
		return;
	}
	if (*w->ra == '?' || !cfa_text(i386, frame, w->cfa)) {
		strcpy(w->line, "none - -");
		return;
	}
	reg_text(i386, frame, KUNWIND_RBP, w->rbp);
	sprintf(w->line, "%s %s %s", w->cfa, w->rbp, w->ra);
}

/* Compares our rule at @addr with libdw's. */
static void rule_check(struct file *f, const struct table *t, u64 addr, struct kunwind_rule rule,
		       Dwarf_Frame *frame, const struct words *w)
{
	static char ours[8192], theirs[8192];
	u8 kind = rule.kind & KUNWIND_RULE_KIND;
	int reg;

	f->ours++;
	f->wide += kind == KUNWIND_RULE_FULL;
	f->exprs += !strncmp(w->cfa, "exp:", 4) || strstr(w->line, "exp:");
	rule_text(t->table, rule, ' ', ours);
	exprs_shorten(ours);
	if (strcmp(ours, w->line)) {
		if (kind == KUNWIND_RULE_NONE &&
		    (not_expressed(w->cfa, true) || not_expressed(w->ra, false)))
			unknown_note(f, addr, w->line);
		else
			differs(f, addr, "rule", ours, w->line);
		return;
	}
	if (kind == KUNWIND_RULE_NONE || kind == KUNWIND_RULE_END)
		return;
	if (!(rule.kind & KUNWIND_RULE_SIGNAL) != !w->signal)
		differs(f, addr, "signal", w->signal ? "no" : "yes", w->signal ? "yes" : "no");
	for (reg = 0; reg < KUNWIND_RA; reg++) {
		bool followed = reg == KUNWIND_RSP || (t->keep >> reg & 1) || w->signal;

		if (reg == KUNWIND_RBP || !followed || (i386 && reg > KUNWIND_RSP))
			continue;
		ours_text(t->table, rule, reg, ours);
		exprs_shorten(ours);
		reg_text(i386, frame, reg, theirs);
		/* CFI does not mention it, and libdw does not count it as callee-saved */
		if (!strcmp(theirs, "u") && !strcmp(ours, "s") &&
		    (reg == KUNWIND_RBX || !(kunwind_saved_regs(i386) >> reg & 1)))
			continue;
		if (strcmp(ours, theirs))
			differs(f, addr, reg_name(t->table, reg), ours, theirs);
	}
}

/* Compares all our rows in [from, to), where libdw has one row; @frame NULL: none. */
static void span_check(struct file *f, u64 from, u64 to, Dwarf_Frame *frame, const struct words *w)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(f->tables); i++) {
		struct table *t = &f->tables[i];
		u64 at = from;

		while (at < to) {
			struct kunwind_rule rule = kunwind_table_lookup(t->table, at), last;
			u64 end = to;

			while (t->at < t->nr && t->rows[t->at].addr <= at)
				t->at++;
			if (t->at < t->nr && t->rows[t->at].addr < to)
				end = t->rows[t->at].addr;
			last = kunwind_table_lookup(t->table, end - 1);
			if (memcmp(&rule, &last, sizeof(rule)))
				differs(f, end - 1, "lookup", "another rule", "the same");
			if (frame)
				rule_check(f, t, at, rule, frame, w);
			else if (rule.kind & KUNWIND_RULE_KIND)
				differs(f, at, "rule", "one", "none");
			at = end;
		}
	}
}

static bool frame_get(Dwarf_CFI *cfi, u64 addr, Dwarf_Frame **frame)
{
	*frame = NULL;
	return cfi && !dwarf_cfi_addrframe(cfi, addr, frame);
}

static void gap_check(struct file *f, u64 from, u64 to)
{
	Dwarf_Frame *frame;
	u64 addr;
	int i;

	span_check(f, from, to, NULL, NULL);
	for (i = 0; i < 2; i++) {
		addr = i ? to - 1 : from;
		if (frame_get(f->eh, addr, &frame))
			differs(f, addr, "gap", "none", "a frame");
		free(frame);
	}
}

static void slow_address(struct file *f, u64 addr)
{
	static char ours[16384], theirs[16384];
	const struct table *t = &f->tables[0];
	struct kunwind_rule rule = kunwind_table_lookup(t->table, addr);
	const char *ra;

	rule_text(t->table, rule, ' ', ours);
	rule_rest(t->table, rule, ours + strlen(ours));
	slow_rule_text(&f->slow[0], addr, t->keep, theirs);
	f->slowly++;
	if (!strcmp(ours, theirs))
		return;
	ra = strchr(theirs, ' ');
	ra = ra ? strchr(ra + 1, ' ') : NULL;
	if (!(rule.kind & KUNWIND_RULE_KIND) &&
	    (not_expressed(theirs, true) || (ra && not_expressed(ra + 1, false))))
		unknown_note(f, addr, theirs);
	else
		differs(f, addr, "slow.c", ours, theirs);
}

/* Compares with slow.c, at the ends of [from, to) and where our rows meet. */
static void slow_check(struct file *f, u64 from, u64 to)
{
	const struct table *t = &f->tables[0];
	size_t i;

	slow_address(f, from);
	slow_address(f, to - 1);
	for (i = 0; i < t->nr; i++) {
		if (t->rows[i].addr <= from || t->rows[i].addr >= to)
			continue;
		slow_address(f, t->rows[i].addr - 1);
		slow_address(f, t->rows[i].addr);
	}
}

static void fde_check(struct file *f, const struct fde *fde)
{
	static struct words w;
	u64 at = fde->start, end;

	while (at < fde->end) {
		Dwarf_Addr lo, hi;
		Dwarf_Frame *frame;
		bool signal;
		int ra = -1;

		if (frame_get(fde->cfi, at, &frame))
			ra = dwarf_frame_info(frame, &lo, &hi, &signal);
		if (ra < 0) {
			free(frame);
			printf("# %s: %llx: libdw: %s\n", f->path, (unsigned long long)at,
			       dwarf_errmsg(-1));
			slow_check(f, fde->start, fde->end);
			return;
		}
		end = hi > at && hi < fde->end ? hi : fde->end;
		memset(w.cfa, 0, 8);
		words_make(frame, signal, ra, &w);
		f->theirs++;
		if (!strcmp(w.line, "none - -"))
			slow_check(f, at, end);
		else
			span_check(f, at, end, frame, &w);
		free(frame);
		at = end;
	}
}

/* Drops FDEs of .debug_frame that overlap those of .eh_frame; both are sorted. */
static void fdes_merge(struct file *f, size_t nr_eh)
{
	size_t n = nr_eh, i, j = 0;
	u64 end = 0;

	for (i = nr_eh; i < f->nr_fdes; i++) {
		const struct fde *d = &f->fdes[i];

		for (; j < nr_eh && f->fdes[j].start <= d->start; j++)
			end = f->fdes[j].end > end ? f->fdes[j].end : end;
		if (d->start >= end && (j == nr_eh || d->end <= f->fdes[j].start))
			f->fdes[n++] = *d;
	}
	f->nr_fdes = n;
	qsort(f->fdes, n, sizeof(*f->fdes), fde_cmp);
}

static void fdes_list(struct file *f)
{
	bool debug_only = f->object.section.debug;
	size_t nr_eh;
	int i;

	for (i = 0; i < 2; i++) {
		const struct kunwind_section *s = &f->object.sections[i];

		f->slow[i] = (struct slow_section){
			.data = s->data, .size = s->size, .addr = s->addr,
			.text_base = s->text_base, .data_base = s->data_base,
			.lo = s->lo, .hi = s->hi, .whole = s->min_fdes, .debug = s->debug,
			.more = s->more ? &f->slow[1] : NULL, .i386 = i386,
		};
	}
	f->adding = debug_only ? f->debug : f->eh;
	slow_fdes(&f->slow[0], fde_add, f);
	qsort(f->fdes, f->nr_fdes, sizeof(*f->fdes), fde_cmp);
	nr_eh = f->nr_fdes;
	if (!f->object.section.more)
		return;
	f->adding = f->debug;
	slow_fdes(&f->slow[1], fde_add, f);
	qsort(f->fdes + nr_eh, f->nr_fdes - nr_eh, sizeof(*f->fdes), fde_cmp);
	fdes_merge(f, nr_eh);
}

static void compare(struct file *f)
{
	u64 at = ~0ULL, last = 0;
	size_t i, j;

	fdes_list(f);
	for (i = 0; i < f->nr_fdes; i = j) {
		const struct fde *fde = &f->fdes[i];

		if (at < fde->start)
			gap_check(f, at, fde->start);
		last = fde->end;
		for (j = i + 1; j < f->nr_fdes && f->fdes[j].start < last; j++)
			last = f->fdes[j].end > last ? f->fdes[j].end : last;
		if (j == i + 1)
			fde_check(f, fde);
		else
			slow_check(f, fde->start, last);
		at = last;
	}
}

static int tables_build(struct file *f)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(f->tables); i++) {
		struct table *t = &f->tables[i];
		int err = kunwind_table_build(&f->object.section, i ? kunwind_saved_regs(i386) : 0,
					      1UL << 31, NULL, NULL, &t->table);

		if (err)
			return err;
		t->keep = kunwind_table_keep(t->table);
		kunwind_table_for_each(t->table, row_add, t);
	}
	return 0;
}

/* Compares a table in parts, which the module makes of big objects. */
static void stages_check(struct file *f)
{
	struct kunwind_table *parts;
	struct parts_same same;
	int err = parts_build(&f->object.section, 0, 1024, 1UL << 31, NULL, NULL, &parts);

	if (err) {
		f->bad++;
		printf("# %s: refused in two stages: %s\n", f->path, kunwind_build_error_name(err));
		return;
	}
	same = parts_compare_all(f->tables[0].table, parts);
	if (same.different)
		printf("# %s: in parts %u addresses differ, the first is %#llx\n", f->path,
		       same.different, (unsigned long long)same.first);
	f->bad += same.different;
	kunwind_table_free(parts);
}

static void file_free(struct file *f)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(f->tables); i++) {
		kunwind_table_free(f->tables[i].table);
		free(f->tables[i].rows);
	}
	free(f->fdes);
}

/* Separate debug information: headers of a file that is elsewhere. */
static bool debug_only(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Scn *section = NULL;
	bool found = false;
	GElf_Shdr shdr;

	while (elf && !found && (section = elf_nextscn(elf, section)))
		found = gelf_getshdr(section, &shdr) && (shdr.sh_flags & SHF_EXECINSTR) &&
			shdr.sh_type == SHT_NOBITS;
	elf_end(elf);
	close(fd);
	return found;
}

/* 0 when all is equal, or there is no CFI. */
static int check(const char *path)
{
	struct file f = { .path = path };
	int fd, err = object_open(&f.object, path);
	const char *verdict;
	Dwarf *dwarf = NULL;
	Elf *elf = NULL;

	i386 = f.object.elf.i386;
	if (!err)
		err = tables_build(&f);
	if (err) {
		bool none = err == KUNWIND_E_NO_CFI || (err > 0 && debug_only(path));

		printf("%s\t%s\t%s\n", none ? "none" : "refused", path,
		       err < 0 ? "cannot open" : err == KUNWIND_E_NO_CFI || !none ?
		       kunwind_build_error_name(err) : "separate debug information");
		file_free(&f);
		return !none;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	f.eh = elf ? dwarf_getcfi_elf(elf) : NULL;
	if (f.object.elf.debug_size) {
		dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
		f.debug = dwarf ? dwarf_getcfi(dwarf) : NULL;
	}
	compare(&f);
	stages_check(&f);
	verdict = f.bad ? "differs" : "ok";
	printf("%s\t%s\t%zu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\n", verdict, path, f.nr_fdes,
	       (unsigned long long)f.theirs, (unsigned long long)f.ours,
	       (unsigned long long)f.wide, (unsigned long long)f.exprs,
	       (unsigned long long)f.unknown, (unsigned long long)f.slowly,
	       (unsigned long long)f.bad);
	if (f.eh)
		dwarf_cfi_end(f.eh);
	if (dwarf)
		dwarf_end(dwarf);
	elf_end(elf);
	close(fd);
	file_free(&f);
	object_close(&f.object);
	return f.bad != 0;
}

int main(int argc, char **argv)
{
	int i, status = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: corpus FILE...\n");
		return 2;
	}
	elf_version(EV_CURRENT);
	for (i = 1; i < argc; i++)
		status |= check(argv[i]);
	return status;
}

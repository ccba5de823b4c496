/* SPDX-License-Identifier: MIT */
/*
 * code-compare.c - compare rows from code with CFI
 *
 * Usage: code-compare FILE...
 *
 * Makes rows from all code of each file, as if it had no CFI, and compares them with the
 * table of its CFI, address by address. Compilers know where the CFA is, so where the
 * two differ, the rows from code are wrong. Exceptions: .init and .fini, whose CFI does
 * not know what the C library's crti.o pushes, are not compared. Nor are addresses
 * where one rule counts from rbp and the other from rsp. Of a full rule, only the CFA is
 * compared. A row says that rbp is the caller's, where CFI says that it was saved: both may
 * hold.
 *
 * Prints for each file: name, bytes with a rule by CFI, percent of these that have a row from
 * code, bytes whose CFA is wrong, bytes whose rbp is wrong, and the first wrong address;
 * separated by tabs.
 */
#include <elf.h>

#include "object.h"
#include "../../kmod/core/cfi/expr.h"
#include "../../kmod/core/rows/code.h"

struct rows {
	const struct kunwind_table *table;
	struct row {
		u64 at;
		struct kunwind_rule rule;
		bool full; /* the rule has only the CFA of a full rule */
	} *row;
	size_t nr, room;
};

struct result {
	u64 bytes, covered, wrong, wrong_rbp, first;
};

static int read_at(void *file, u64 off, void *buf, size_t len)
{
	return pread(*(int *)file, buf, len, off) == (ssize_t)len ? 0 : -1;
}

/* The CFA of a full rule, as a rule of another kind, or KUNWIND_RULE_FULL. */
static struct kunwind_rule cfa_of(const struct kunwind_table *table, struct kunwind_rule rule)
{
	const struct kunwind_full_rule *full = kunwind_table_full_rule(table, rule.off);
	const struct kunwind_full_rule_entry *cfa = (const void *)(full + 1);
	struct kunwind_expr_info info;
	const u8 *expr;
	u16 len;

	if (cfa->how == KUNWIND_HOW_REG)
		return (struct kunwind_rule){ .kind = KUNWIND_RULE_CFA, .reg = cfa->source, .off = cfa->off };
	expr = cfa->how == KUNWIND_HOW_EXPR ? kunwind_table_expr(table, cfa->off, &len) : NULL;
	if (expr && !kunwind_expr_check(expr, len, false, false, &info) && info.shape == KUNWIND_EXPR_DEREF)
		return (struct kunwind_rule){ .kind = KUNWIND_RULE_DEREF, .reg = info.reg, .off = info.off };
	return rule;
}

static int add(void *data, u64 addr, struct kunwind_rule rule)
{
	const bool full = (rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_FULL;
	struct rows *rows = data;

	if (rows->nr == rows->room) {
		rows->room = rows->room ? 2 * rows->room : 1024;
		rows->row = realloc(rows->row, rows->room * sizeof(*rows->row));
	}
	if (full)
		rule = cfa_of(rows->table, rule);
	rows->row[rows->nr++] = (struct row){ addr, rule, full };
	return 0;
}

static struct rows rows_of(const struct kunwind_section *section)
{
	struct rows rows = { 0 };
	struct kunwind_table *table;

	if (kunwind_table_build(section, 0, 1UL << 30, NULL, NULL, &table))
		return rows;
	rows.table = table;
	kunwind_table_for_each(table, add, &rows);
	kunwind_table_free(table);
	return rows;
}

static u8 rbp_of(struct kunwind_rule rule)
{
	return rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3;
}

/* Both rules hold for @len bytes from @at on. */
static void compare(struct result *r, u64 at, u64 len, const struct row *by_cfi, struct kunwind_rule code)
{
	const struct kunwind_rule cfi = by_cfi->rule;
	const u8 how = rbp_of(code);
	bool wrong, wrong_rbp;

	if (!(cfi.kind & KUNWIND_RULE_KIND))
		return;
	r->bytes += len;
	if (!(code.kind & KUNWIND_RULE_KIND))
		return;
	r->covered += len;
	code.reg &= ~KUNWIND_RULE_FLAGS;
	if ((cfi.kind & KUNWIND_RULE_KIND) != (code.kind & KUNWIND_RULE_KIND) ||
	    (cfi.reg & 15) != (code.reg & 15))
		return;
	wrong = cfi.off != code.off || cfi.reg != code.reg;
	wrong_rbp = !by_cfi->full &&
		    ((how == KUNWIND_RBP_SAVED && rbp_of(cfi) == how && cfi.rbp != code.rbp) ||
		     (how == KUNWIND_RBP_SAME && rbp_of(cfi) == KUNWIND_RBP_UNKNOWN));
	r->wrong += wrong ? len : 0;
	r->wrong_rbp += wrong_rbp ? len : 0;
	if ((wrong || wrong_rbp) && !r->first)
		r->first = at;
}

static struct result compare_all(const struct rows *cfi, const struct rows *code, u64 lo, u64 hi)
{
	struct kunwind_rule second = { 0 };
	struct row first = { 0 };
	struct result r = { 0 };
	size_t i = 0, j = 0;
	u64 at = lo;

	while (i < cfi->nr || j < code->nr) {
		const u64 next_i = i < cfi->nr ? cfi->row[i].at : ~0ULL;
		const u64 next_j = j < code->nr ? code->row[j].at : ~0ULL;
		const u64 next = next_i < next_j ? next_i : next_j;

		if (next > at && at >= lo && next <= hi)
			compare(&r, at, next - at, &first, second);
		at = next;
		if (next_i == next)
			first = cfi->row[i++];
		if (next_j == next)
			second = code->row[j++].rule;
		/* The table ends at some place in the last row. */
		if (j == code->nr)
			second = (struct kunwind_rule){ 0 };
	}
	return r;
}

/* The bounds of the section .text. */
static bool text_of(int fd, u64 *lo, u64 *hi)
{
	Elf64_Ehdr ehdr;
	Elf64_Shdr shdr, names;
	char name[8];
	int i;

	if (read_at(&fd, 0, &ehdr, sizeof(ehdr)) ||
	    read_at(&fd, ehdr.e_shoff + ehdr.e_shstrndx * sizeof(names), &names, sizeof(names)))
		return false;
	for (i = 0; i < ehdr.e_shnum; i++) {
		if (read_at(&fd, ehdr.e_shoff + i * sizeof(shdr), &shdr, sizeof(shdr)) ||
		    read_at(&fd, names.sh_offset + shdr.sh_name, name, sizeof(name)))
			return false;
		if (!memcmp(name, ".text", 6)) {
			*lo = shdr.sh_addr;
			*hi = shdr.sh_addr + shdr.sh_size;
			return true;
		}
	}
	return false;
}

static bool file_compare(const char *path)
{
	static const struct kunwind_section nothing = { .data = (const u8 *)"" };
	struct kunwind_code_gaps *gaps = calloc(1, sizeof(*gaps));
	struct kunwind_section section[2];
	struct kunwind_elf elf;
	struct rows cfi, code;
	struct result r;
	struct stat st;
	u8 *data, *made;
	int fd = open(path, O_RDONLY);
	u64 size, lo, hi;

	if (fd < 0 || fstat(fd, &st) || kunwind_elf_parse(read_at, &fd, st.st_size, &elf) || !elf.eh_size ||
	    !text_of(fd, &lo, &hi))
		return false;
	data = malloc(elf.eh_size);
	elf.debug_size = 0;
	kunwind_elf_sections(&elf, data, NULL, section);
	if (read_at(&fd, elf.eh_offset, data, elf.eh_size))
		return false;
	cfi = rows_of(section);
	if (kunwind_code_gaps_find(&elf, &nothing, NULL, NULL, gaps) ||
	    kunwind_code_gaps_read(read_at, &fd, gaps) ||
	    kunwind_code_rows(gaps, NULL, 0, NULL, NULL, &made, &size) || !made)
		return false;
	elf.eh_size = 0;
	elf.debug_size = size;
	kunwind_elf_sections(&elf, NULL, made, section);
	code = rows_of(section);
	r = compare_all(&cfi, &code, lo, hi);
	printf("%s\t%llu\t%.1f\t%llu\t%llu\t%llx\n", path, (unsigned long long)r.bytes,
	       100.0 * r.covered / r.bytes, (unsigned long long)r.wrong,
	       (unsigned long long)r.wrong_rbp, (unsigned long long)r.first);
	kunwind_free(gaps->code);
	kunwind_free(made);
	free(gaps);
	free(data);
	free(cfi.row);
	free(code.row);
	close(fd);
	return true;
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!file_compare(argv[i])) {
			fprintf(stderr, "code-compare: %s: cannot be compared\n", argv[i]);
			return 1;
		}
	}
	return 0;
}

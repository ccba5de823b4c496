// SPDX-License-Identifier: MIT
/*
 * fde-rule-test.c - the rule that one FDE gives for an address equals that of the object's
 * table, at each row and just before its end, in all FDEs of real objects and of a hand-made
 * section
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kunwind_core.h"
#include "cfi/cfi.h"
#include "cfi/elf.h"
#include "../../libkunwind/unwind/fde_rule.c"
#include "eh.h"
#include "tap.h"

static struct kunwind_section section;
static const struct kunwind_table *table;
static unsigned long compared, fulls, wrong, limits;

static int file_read(void *file, u64 off, void *buf, size_t len)
{
	return pread(*(int *)file, buf, len, off) == (ssize_t)len ? 0 : -1;
}

/* Entries of full rules are compared one by one; expressions by their bytes. */
static bool same_full(const struct kunwind_table *a, s32 at, const struct kunwind_table *b, s32 bt)
{
	const struct kunwind_full_rule *x = kunwind_table_full_rule(a, at);
	const struct kunwind_full_rule *y = kunwind_table_full_rule(b, bt);
	const struct kunwind_full_rule_entry *p, *q;
	const u8 *s, *t;
	u16 sl, tl;
	u32 i;

	if (!x || !y || x->nr != y->nr || x->signal != y->signal || x->cost != y->cost)
		return false;
	p = (const void *)(x + 1);
	q = (const void *)(y + 1);
	for (i = 0; i < x->nr; i++) {
		if (p[i].reg != q[i].reg || p[i].how != q[i].how || p[i].source != q[i].source)
			return false;
		if (p[i].how != KUNWIND_HOW_EXPR && p[i].how != KUNWIND_HOW_AT_EXPR) {
			if (p[i].off != q[i].off)
				return false;
			continue;
		}
		s = kunwind_table_expr(a, p[i].off, &sl);
		t = kunwind_table_expr(b, q[i].off, &tl);
		if (!s || !t || sl != tl || memcmp(s, t, sl))
			return false;
	}
	return true;
}

static void compare(size_t offset, u64 addr)
{
	struct kunwind_rule want = kunwind_table_lookup(table, addr), rule;
	struct kunwind_fde_rule own;
	enum kunwind_build_error err;
	bool same;

	err = kunwind_fde_rule(&section, offset, addr, KUNWIND_SAVED_REGS, &own, &rule);
	compared++;
	limits += err == KUNWIND_E_LIMIT;
	if ((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_FULL &&
	    (want.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_FULL) {
		fulls++;
		same = rule.kind == want.kind && same_full(&own.table, rule.off, table, want.off);
	} else {
		same = !memcmp(&rule, &want, sizeof(rule));
	}
	if (!same && !wrong++)
		printf("# %#llx: kind %u, not %u\n", (unsigned long long)addr, rule.kind, want.kind);
}

static int on_row(void *data, u64 addr, struct kunwind_rule rule)
{
	u64 *rows = data;

	(void)rule;
	rows[++rows[0]] = addr;
	return 0;
}

/* Compares at each row's start and at the byte before it, in the FDE that covers the byte. */
static void compare_all(void)
{
	struct kunwind_table_stats stats;
	struct kunwind_record record = { .end = 0 };
	struct kunwind_cie cie;
	struct kunwind_fde fde;
	u64 *rows, lo, hi;

	kunwind_table_stats(table, &stats);
	rows = calloc(stats.nr_rows + 2, sizeof(*rows));
	kunwind_table_for_each(table, on_row, rows);
	while (!kunwind_record_read(&section, record.end, &record) &&
	       record.kind != KUNWIND_RECORD_END) {
		if (record.kind != KUNWIND_RECORD_FDE || kunwind_cie_read(&section, record.cie, &cie) ||
		    kunwind_fde_read(&section, &record, &cie, &fde) || !fde.len)
			continue;
		for (lo = 1, hi = rows[0] + 1; lo < hi;)
			if (rows[(lo + hi) / 2] < fde.start)
				lo = (lo + hi) / 2 + 1;
			else
				hi = (lo + hi) / 2;
		compare(record.begin, fde.start);
		for (; lo <= rows[0] && rows[lo] < fde.start + fde.len; lo++) {
			compare(record.begin, rows[lo]);
			if (rows[lo] > fde.start)
				compare(record.begin, rows[lo] - 1);
		}
		compare(record.begin, fde.start + fde.len - 1);
	}
	free(rows);
}

static void test_object(const char *path)
{
	struct kunwind_section sections[2];
	struct kunwind_table *built;
	struct kunwind_elf elf;
	struct stat st;
	int fd = open(path, O_RDONLY);
	u8 *data;

	compared = fulls = wrong = limits = 0;
	if (fd < 0 || fstat(fd, &st) || kunwind_elf_parse(file_read, &fd, st.st_size, &elf)) {
		tap_count++;
		printf("ok %d - %s # SKIP not there\n", tap_count, path);
		return;
	}
	data = malloc(elf.eh_size);
	if (file_read(&fd, elf.eh_offset, data, elf.eh_size))
		abort();
	close(fd);
	elf.debug_size = 0;
	kunwind_elf_sections(&elf, data, NULL, sections);
	section = sections[0];
	if (kunwind_table_build(&section, KUNWIND_SAVED_REGS, 1UL << 30, NULL, NULL, &built))
		abort();
	table = built;
	compare_all();
	tap_ok(compared > 1000 && fulls && !wrong && !limits,
	       "%s: %lu addresses, %lu by full rules: %lu wrong, %lu beyond the limits", path, compared,
	       fulls, wrong, limits);
	kunwind_table_free(built);
	free(data);
}

/* What needs more memory than there is has no rule, and a limit as the error. */
static void test_limits(void)
{
	static struct eh eh;
	struct kunwind_fde_rule own;
	struct kunwind_rule rule;
	enum kunwind_build_error err;
	size_t cie, fde;
	char code[100];
	int i, nested;

	for (nested = KUNWIND_FDE_REMEMBERED; nested <= KUNWIND_FDE_REMEMBERED + 1; nested++) {
		memset(&eh, 0, sizeof(eh));
		cie = eh_plain_cie(&eh, "0c 07 08 90 01");
		fde = eh.size;
		*code = 0;
		for (i = 0; i < nested; i++)
			strcat(code, "0a ");	/* DW_CFA_remember_state */
		strcat(code, "41 0e 10");	/* advance 1; def_cfa_offset 16 */
		eh_plain_fde(&eh, cie, TEXT_LO, 0x100, code);
		section = (struct kunwind_section){
			.data = eh.data, .size = eh.size, .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI,
		};
		err = kunwind_fde_rule(&section, fde, TEXT_LO + 8, KUNWIND_SAVED_REGS, &own, &rule);
		if (nested == KUNWIND_FDE_REMEMBERED)
			tap_ok(!err && rule.kind == KUNWIND_RULE_CFA && rule.off == 16,
			       "%d remembered states", nested);
		else
			tap_ok(err == KUNWIND_E_LIMIT && rule.kind == KUNWIND_RULE_NONE,
			       "%d remembered states: beyond the limit", nested);
	}
	err = kunwind_fde_rule(&section, fde, TEXT_LO + 0x100, KUNWIND_SAVED_REGS, &own, &rule);
	tap_ok(!err && rule.kind == KUNWIND_RULE_NONE, "an address after the FDE has no rule");
	err = kunwind_fde_rule(&section, cie, TEXT_LO, KUNWIND_SAVED_REGS, &own, &rule);
	tap_ok(err && rule.kind == KUNWIND_RULE_NONE, "a CIE is no FDE");
}

int main(void)
{
	test_object("/usr/lib/x86_64-linux-gnu/libc.so.6");
	test_object("/usr/lib/x86_64-linux-gnu/libcrypto.so.3");
	test_object("/usr/lib/x86_64-linux-gnu/libgcrypt.so.20");
	test_object("/usr/bin/gdb");
	test_limits();
	return tap_done();
}

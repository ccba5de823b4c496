/* SPDX-License-Identifier: MIT */
/*
 * table-test.c - packed tables: each address's rule against a plain list of
 * rows of many shapes; and lookups in damaged tables
 */
#include "../../kmod/core/table/pack.h"
#include "../../kmod/core/table/table.h"
#include "eh.h"
#include "tap.h"

#define BASE	0x400000ULL

struct row {
	u32 addr;
	struct kunwind_rule rule;
};

static u64 seed = 0x2545f4914f6cdd1dULL;

static u32 rnd(u32 below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 32) % below;
}

static struct kunwind_table *pack(const struct row *rows, u32 nr, u64 span)
{
	struct kunwind_budget budget = { .work = 1 << 20, .memory = 1 << 28 };
	struct kunwind_table_stats head = { .base = BASE, .span = span, .nr_fdes = 1 };
	struct kunwind_table *table = NULL;
	struct kunwind_pack p;
	enum kunwind_build_error err = kunwind_pack_init(&p, 1 << 28, &budget);
	u32 i;

	for (i = 0; i < nr && !err; i++)
		err = kunwind_pack_row(&p, rows[i].addr, rows[i].rule);
	if (!err)
		err = kunwind_pack_finish(&p, &head, &table);
	kunwind_pack_exit(&p);
	return err ? NULL : table;
}

static bool same(struct kunwind_rule a, struct kunwind_rule b)
{
	return !memcmp(&a, &b, sizeof(a));
}

static bool lookup_is(const struct kunwind_table *table, u64 offset, struct kunwind_rule rule)
{
	struct kunwind_rule got = kunwind_table_lookup(table, BASE + offset);

	return same(got, rule);
}

/* Rows less than @distance apart; 8 of @nr_rules rules are frequent. */
static void rows_make(struct row *rows, u32 nr, u32 distance, u32 nr_rules)
{
	u32 addr = 0, i;

	for (i = 0; i < nr; i++) {
		u32 n = rnd(4) ? rnd(nr_rules < 8 ? nr_rules : 8) : rnd(nr_rules);

		rows[i].addr = addr;
		rows[i].rule = (struct kunwind_rule){
			.kind = n % 9 ? KUNWIND_RULE_CFA : KUNWIND_RULE_NONE,
			.off = n % 9 ? n : 0, .reg = n % 9 ? 7 : 0,
		};
		addr += 1 + rnd(distance);
	}
}

static int rows_count(void *data, u64 addr, struct kunwind_rule rule)
{
	(void)addr;
	(void)rule;
	(*(u32 *)data)++;
	return 0;
}

static void test_rows(u32 nr, u32 distance, u32 nr_rules)
{
	struct row *rows = calloc(nr, sizeof(*rows));
	struct kunwind_table_stats st;
	struct kunwind_table *table;
	struct kunwind_rule none = { 0 };
	u32 i, merged = 1, seen = 0;
	bool good = true;
	u64 span;

	rows_make(rows, nr, distance, nr_rules);
	span = rows[nr - 1].addr + 1 + rnd(distance);
	table = pack(rows, nr, span);
	if (!table) {
		tap_ok(false, "rows: %u rows, distances to %u, %u rules are packed", nr, distance, nr_rules);
		free(rows);
		return;
	}
	for (i = 0; i < nr; i++) {
		u64 end = i + 1 < nr ? rows[i + 1].addr : span;
		u64 mid = rows[i].addr + rnd(end - rows[i].addr);

		good &= lookup_is(table, rows[i].addr, rows[i].rule);
		good &= lookup_is(table, mid, rows[i].rule);
		good &= lookup_is(table, end - 1, rows[i].rule);
		merged += i && !same(rows[i].rule, rows[i - 1].rule);
	}
	good &= lookup_is(table, span, none) && lookup_is(table, -1ULL, none) &&
		lookup_is(table, span + (1ULL << 32), none) && lookup_is(table, 1ULL << 63, none);
	kunwind_table_stats(table, &st);
	kunwind_table_for_each(table, rows_count, &seen);
	good &= st.nr_rows == merged && seen == merged && st.span == span;
	tap_ok(good, "rows: addresses have their rules: %u rows (%u merged), distances to %u, %u rules, "
	       "%.2f bytes a row",
	       nr, merged, distance, nr_rules, (double)st.bytes / merged);
	kunwind_table_free(table);
	free(rows);
}

/* More than 65,536 blocks: the directory names groups of them. */
static void test_many(void)
{
	const u32 nr = 5 << 19;
	struct row *rows = calloc(nr, sizeof(*rows));
	struct kunwind_table *table;
	u32 i, wrong = 0;

	for (i = 0; i < nr; i++)
		rows[i] = (struct row){ 7 * i, { .kind = KUNWIND_RULE_CFA, .reg = 7, .off = 8 + i % 97 } };
	table = pack(rows, nr, 7 * (u64)nr);
	for (i = 0; table && i < nr; i++)
		wrong += !lookup_is(table, rows[i].addr, rows[i].rule);
	tap_ok(table && table->nr_blocks > 0x10000 && !wrong, "rows: all of %u have their rules, %u have not",
	       nr, wrong);
	kunwind_table_free(table);
	free(rows);
}

/* A frequent rule takes one byte in each of its rows. The rows of rare rules are in a list, too. */
static void test_frequent(void)
{
	static struct row rows[300 + 1000];
	struct kunwind_table *table;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = (struct row){ 4 * i, { .kind = KUNWIND_RULE_CFA,
						 .off = 8 * (i < 300 ? i : 300 + i % 2) } };
	table = pack(rows, ARRAY_SIZE(rows), 4 * ARRAY_SIZE(rows));
	tap_ok(table && table->nr_far <= 302 - KUNWIND_FAR_RULE,
	       "rows: the most frequent rules are not in the list, although they come last");
	kunwind_table_free(table);
}

/* The greatest address that a table can have. */
static void test_span(void)
{
	struct kunwind_rule a = { .kind = KUNWIND_RULE_CFA, .off = 8 };
	struct kunwind_rule b = { .kind = KUNWIND_RULE_CFA, .off = 16 };
	struct row rows[] = { { 0, a }, { 0xfffffffe, b } };
	struct kunwind_table *table = pack(rows, 2, 0xffffffff);

	tap_ok(table && lookup_is(table, 0xfffffffd, a) && lookup_is(table, 0xfffffffe, b) &&
	       !kunwind_table_lookup(table, BASE + 0xffffffff).kind,
	       "rows: two rows that are 4 GB apart have their rules");
	kunwind_table_free(table);
}

/*
 * The test overwrites random bytes of a table, but not the header with its
 * counts and pointers. Lookups, full rules and expressions must stay within the
 * allocation (AddressSanitizer checks this).
 */
static void test_damage(void)
{
	static struct row rows[3000];
	struct kunwind_table *table;
	u32 round, i, hits = 0;
	u8 *bytes;

	for (round = 0; round < 300; round++) {
		struct kunwind_table_stats st;
		u32 nr = 1 + rnd(ARRAY_SIZE(rows));

		rows_make(rows, nr, round % 3 ? 300 : 70000, 400);
		table = pack(rows, nr, rows[nr - 1].addr + 100);
		if (!table)
			break;
		kunwind_table_stats(table, &st);
		bytes = (u8 *)table;
		for (i = 0; i < 1 + st.bytes / 20; i++) {
			u32 at = sizeof(*table) + rnd(st.bytes - sizeof(*table));

			bytes[at] = round % 2 ? 0xff - rnd(2) : rnd(256);
		}
		for (i = 0; i < 2000; i++) {
			u16 len;

			hits += kunwind_table_lookup(table, BASE + rnd(st.span)).kind != 0;
			kunwind_table_full_rule(table, (s32)rnd(~0U));
			kunwind_table_expr(table, (s32)rnd(~0U), &len);
		}
		kunwind_table_free(table);
	}
	tap_ok(round == 300 && hits, "damaged tables: lookups stay inside the table");
}

/* Full rules and expressions by index, valid and invalid ones. */
static void test_full_rules(void)
{
	static struct eh eh;
	const struct kunwind_full_rule_entry *e;
	const struct kunwind_full_rule *full;
	struct kunwind_table *table;
	struct kunwind_rule rule;
	const u8 *expr;
	u16 len = 0;
	size_t cie;
	s32 i;
	bool good = true;

	cie = eh_plain_cie(&eh, "0c 07 08 90 01");
	eh_plain_fde(&eh, cie, TEXT_LO, 0x10, "0f 05 77 18 06 23 04 41 16 06 03 77 90 01");
	/* an equal rule in another function is stored once */
	eh_plain_fde(&eh, cie, TEXT_LO + 0x10, 0x10, "0f 05 77 18 06 23 04");
	if (!tap_ok(!eh_build(&eh, 0, &table), "full rule: the table is built"))
		return;
	rule = kunwind_table_lookup(table, TEXT_LO + 1);
	full = kunwind_table_full_rule(table, rule.off);
	e = (const void *)(full + 1);
	tap_ok(rule.kind == KUNWIND_RULE_FULL && full && full->nr == 2 && !full->signal &&
	       e[0].how == KUNWIND_HOW_EXPR && e[1].how == KUNWIND_HOW_EXPR &&
	       e[1].reg == KUNWIND_RBP, "full rule: the rule has an expression for CFA and for rbp");
	expr = kunwind_table_expr(table, e[1].off, &len);
	tap_ok(expr && len == 3 && !memcmp(expr,
					   "\x77\x90\x01",
					   3), "full rule: the expression of rbp has its bytes");
	rule = kunwind_table_lookup(table, TEXT_LO);
	tap_ok(same(rule, kunwind_table_lookup(table, TEXT_LO + 0x18)) &&
	       table->nr_full == 2 && table->exprs_size == 2 + 5 + 2 + 3,
	       "full rule: equal rules and expressions are stored once");
	for (i = -3; i < 100; i++) {
		full = kunwind_table_full_rule(table, i);
		good &= !full || (i >= 0 && i + 1 + full->nr <= table->full_units);
		expr = kunwind_table_expr(table, i, &len);
		good &= !expr || (expr >= table->exprs &&
				  expr + len <= table->exprs + table->exprs_size);
	}
	tap_ok(good && !kunwind_table_full_rule(table, 0x7fffffff) &&
	       !kunwind_table_expr(table, 0x7fffffff, &len), "full rule: no index leads outside the table");
	kunwind_table_free(table);
}

/* A limit that is lower than the table's size. */
static void test_limit(void)
{
	struct kunwind_budget budget = { .work = 1 << 20, .memory = 1 << 28 };
	static struct row rows[20000];
	struct kunwind_table_stats head = { .base = BASE, .span = 1 << 30 };
	struct kunwind_table *table;
	struct kunwind_pack p;
	enum kunwind_build_error err = KUNWIND_OK;
	u32 i;

	rows_make(rows, ARRAY_SIZE(rows), 100, 50);
	if (kunwind_pack_init(&p, 20000, &budget))
		return;
	for (i = 0; i < ARRAY_SIZE(rows) && !err; i++)
		err = kunwind_pack_row(&p, rows[i].addr, rows[i].rule);
	if (!err)
		err = kunwind_pack_finish(&p, &head, &table);
	kunwind_pack_exit(&p);
	tap_ok(err == KUNWIND_E_LIMIT,
	       "limit: one below the table's size is refused: %s", kunwind_build_error_name(err));
}

int main(void)
{
	static const u32 counts[] = { 1, 2, 31, 32, 33, 63, 64, 65, 1000, 30000 };
	static const u32 distances[] = { 1, 200, 300, 5000, 60000 };
	static const u32 rules[] = { 2, 254, 258, 3000 };
	unsigned int i, j, k;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		for (j = 0; j < ARRAY_SIZE(distances); j++)
			for (k = 0; k < ARRAY_SIZE(rules); k++)
				test_rows(counts[i], distances[j], rules[k]);
	test_many();
	test_frequent();
	test_span();
	test_full_rules();
	test_limit();
	test_damage();
	return tap_done();
}

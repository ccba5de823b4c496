/* SPDX-License-Identifier: MIT */
/*
 * intern-test.c - how a table is packed: the pool of byte strings, the hash of
 * rules, the exact limits, full rules, FDEs of one range, edges of parts
 */
#include "../../kmod/core/table/pack.h"
#include "../../kmod/core/cfi/intern.h"
#include "../../kmod/core/table/table.h"
#include "eh.h"
#include "tap.h"

/* Time and memory: enough for all tests here. */
static struct kunwind_budget budget;

static struct kunwind_budget *plenty(void)
{
	budget = (struct kunwind_budget){ .work = 1ULL << 40, .memory = 1ULL << 32 };
	return &budget;
}

/* So many strings that some have the same 32-bit hash; each must be found. */
static void test_pool(void)
{
	enum { NR = 300000 };
	u32 *offs = malloc(NR * sizeof(*offs)), i, wrong = 0;
	u64 *words = malloc(NR * sizeof(*words)), seed = 1;
	struct kunwind_intern pool;

	kunwind_intern_init(&pool, 1 << 30, plenty());
	for (i = 0; i < NR; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		words[i] = seed ^ seed >> 29;
		wrong += kunwind_intern_add(&pool, &words[i], sizeof(words[i]), &offs[i]) != KUNWIND_OK;
	}
	for (i = 0; i < NR; i++)
		wrong += memcmp(pool.data + offs[i], &words[i], sizeof(words[i])) != 0;
	tap_ok(!wrong, "intern: %u strings are stored unchanged", NR);
	i = 0;
	wrong = kunwind_intern_add(&pool, &words[5], sizeof(words[5]), &i);
	tap_ok(!wrong && i == offs[5], "intern: an equal string is not stored twice");
	kunwind_intern_exit(&pool);

	kunwind_intern_init(&pool, 100, plenty());
	for (i = 0; i < 40; i++)
		if (kunwind_intern_add(&pool, &words[i], sizeof(words[i]), &offs[i]))
			break;
	tap_ok(i == 12 && pool.size <= 100, "intern: a limit of 100 bytes holds 12 strings of 8 bytes");
	kunwind_intern_exit(&pool);
	free(offs);
	free(words);
}

/* Rules that differ only in one half. */
static void test_rules(void)
{
	enum { NR = 400 };
	struct kunwind_table_stats head = { .base = 0, .span = NR * 8, .nr_fdes = 1 };
	struct kunwind_table *table = NULL;
	struct kunwind_pack pack;
	enum kunwind_build_error err = kunwind_pack_init(&pack, 1 << 20, plenty());
	u32 i, wrong = 0;

	for (i = 0; i < NR && !err; i++)
		err = kunwind_pack_row(&pack, i * 8, (struct kunwind_rule){
			.off = i % 2 ? 16 : 16 + 8 * (s32)i, .rbp = i % 2 ? -8 * (s32)i : -16,
			.kind = KUNWIND_RULE_CFA | KUNWIND_RBP_SAVED << KUNWIND_RULE_RBP_SHIFT,
			.reg = KUNWIND_RSP });
	if (!err)
		err = kunwind_pack_finish(&pack, &head, &table);
	kunwind_pack_exit(&pack);
	for (i = 0; i < NR && !err; i++) {
		struct kunwind_rule rule = kunwind_table_lookup(table, i * 8);

		wrong += rule.off != (i % 2 ? 16 : 16 + 8 * (s32)i) ||
			 rule.rbp != (i % 2 ? -8 * (s32)i : -16);
	}
	tap_ok(!err && !wrong, "rules: %u rules that differ only in one half stay different", NR);
	kunwind_table_free(table);
}

static enum kunwind_build_error build(const struct eh *eh, size_t limit, struct kunwind_table **table)
{
	struct kunwind_section section = {
		.data = eh->data, .size = eh->size, .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI,
	};

	return kunwind_table_build(&section, 0, limit, NULL, NULL, table);
}

static void test_limit(void)
{
	static struct eh eh;
	struct kunwind_table_stats stats = { };
	struct kunwind_table *table = NULL;
	enum kunwind_build_error err;
	size_t cie = eh_plain_cie(&eh, "0c 07 08 90 01");
	u32 i;

	for (i = 0; i < 200; i++) {
		char code[32];

		snprintf(code, sizeof(code), "41 0e %02x 42 0e %02x", 16 + i % 50, 24 + i % 60);
		eh_plain_fde(&eh, cie, TEXT_LO + i * 16, 16, code);
	}
	err = build(&eh, 1 << 20, &table);
	if (!err) {
		kunwind_table_stats(table, &stats);
		kunwind_table_free(table);
	}
	tap_ok(!err && stats.nr_rows > 300, "limit: the section builds with a high limit");
	table = NULL;
	err = build(&eh, 16 * stats.bytes, &table);
	tap_ok(!err, "limit: 16 times the bytes of the table are enough");
	kunwind_table_free(table);
	table = NULL;
	err = build(&eh, stats.bytes - 1, &table);
	tap_ok(err == KUNWIND_E_LIMIT, "limit: one byte less than the table's bytes is not enough: %s",
	       kunwind_build_error_name(err));
	if (!err)
		kunwind_table_free(table);
}

/* The last full rule, then with one entry more than the table has. */
static void test_full_rule(void)
{
	static struct eh eh;
	struct kunwind_table *table = NULL;
	const struct kunwind_full_rule *full = NULL;
	struct kunwind_rule rule;
	size_t cie = eh_plain_cie(&eh, "0c 07 08 90 01");

	eh_plain_fde(&eh, cie, TEXT_LO, 16, "0f 03 77 18 96");
	if (!tap_ok(!eh_build(&eh, 0, &table), "full rule: the table is built"))
		return;
	rule = kunwind_table_lookup(table, TEXT_LO);
	full = kunwind_table_full_rule(table, rule.off);
	tap_ok(full && full->nr == 1 && (u32)rule.off + 2 == table->full_units,
	       "full rule: the index is that of the table's last one");
	((struct kunwind_full_rule *)full)->nr = 2;
	tap_ok(!kunwind_table_full_rule(table, rule.off),
	       "full rule: one that reaches beyond the table is not found");
	((struct kunwind_full_rule *)full)->nr = 0;
	tap_ok(!kunwind_table_full_rule(table, rule.off),
	       "full rule: one without entries is not found");
	kunwind_table_free(table);
}

/* The same range twice, by CIEs that differ in one property. */
static void test_twice(void)
{
	static const struct {
		const char *name, *cie;
		enum kunwind_build_error want;
	} cases[] = {
		{ "equal CIEs", "00 00 00 00 01 00 01 78 10 0c 07 08 90 01 00 00 00", KUNWIND_OK },
		{ "other data alignment",
		  "00 00 00 00 01 00 01 70 10 0c 07 08 90 01 00 00 00", KUNWIND_E_OVERLAP },
		{ "other code alignment",
		  "00 00 00 00 01 00 02 78 10 0c 07 08 90 01 00 00 00", KUNWIND_E_OVERLAP },
		{ "signal frame", "00 00 00 00 01 53 00 01 78 10 0c 07 08 90 01 00 00", KUNWIND_E_OVERLAP },
		{ "other instructions",
		  "00 00 00 00 01 00 01 78 10 0c 07 10 90 01 00 00 00", KUNWIND_E_OVERLAP },
	};
	static struct eh eh;
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		size_t cie;

		eh.size = 0;
		for (k = 0; k < 2; k++) {
			cie = eh.size;
			eh_begin(&eh, false);
			eh_hex(&eh, cases[k ? i : 0].cie);
			eh_end(&eh);
			eh_fde(&eh, cie, false);
			eh_num(&eh, TEXT_LO, 8);
			eh_num(&eh, 0x100, 8);
			eh_hex(&eh, "44 83 02");
			eh_end(&eh);
		}
		err = eh_build(&eh, 0, &table);
		tap_ok(err == cases[i].want, "two FDEs of one range, %s: %s", cases[i].name,
		       kunwind_build_error_name(err));
		if (!err)
			kunwind_table_free(table);
	}
}

/* Edges of parts: the byte after the last, and an FDE that others lie in. */
static void test_parts(void)
{
	static struct eh eh;
	struct kunwind_build_parts *builder;
	struct kunwind_table *table;
	const struct kunwind_table *part;
	size_t cie = eh_plain_cie(&eh, "0c 07 08 90 01");
	struct kunwind_section section = {
		.data = eh.data, .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI,
	};

	eh_plain_fde(&eh, cie, TEXT_LO, 0x100, "");
	eh_plain_fde(&eh, cie, TEXT_LO + 0x10, 0x10, "0e 10");
	section.size = eh.size;
	if (!tap_ok(!kunwind_build_parts_begin(&section, 0, 1, 1 << 20, NULL, NULL, &builder,
					       &table),
		    "parts: the directory is built"))
		return;
	part = table;
	tap_ok(kunwind_table_part(&part, TEXT_LO + 0xff) == KUNWIND_NOT_READY,
	       "parts: the last byte of an FDE that others lie in belongs to its part");
	part = table;
	tap_ok(kunwind_table_part(&part, TEXT_LO + 0x100) == KUNWIND_COMPLETE && part == table,
	       "parts: the byte after the last FDE belongs to no part");
	part = table;
	tap_ok(kunwind_table_part(&part, TEXT_LO - 1) == KUNWIND_COMPLETE && part == table,
	       "parts: the byte before the first FDE belongs to no part");
	kunwind_build_parts_end(builder);
	kunwind_table_free(table);
}

/* The kind and offset of the rule at @addr, as one number; ~0: the table cannot be used. */
static u32 found_at(const struct kunwind_table *table, u64 addr, bool *in_code)
{
	const struct kunwind_table *whole = table;
	struct kunwind_rule rule;

	if (kunwind_table_find(&table, addr, &rule))
		return ~0U;
	*in_code = table == whole->code;
	return rule.off;
}

/* Rows from code are found where neither the table nor its parts have a rule. */
static void test_code(void)
{
	static struct eh eh, more;
	struct kunwind_section section = { .data = eh.data, .addr = EH_ADDR, .lo = TEXT_LO, .hi = TEXT_HI };
	struct kunwind_build_parts *builder;
	struct kunwind_table *table, *code;
	struct kunwind_table_stats before, after, of_code;
	size_t cie = eh_plain_cie(&eh, "0c 07 08 90 01");
	bool in_code = false;
	u32 part;

	eh_plain_fde(&eh, cie, TEXT_LO, 0x100, "0e 10");
	eh_plain_fde(&eh, cie, TEXT_LO + 0x300, 0x100, "0e 18");
	section.size = eh.size;
	eh_plain_fde(&more, eh_plain_cie(&more, "0c 07 08 90 01"), TEXT_LO + 0x200, 0x100, "0e 20");
	if (kunwind_build_parts_begin(&section, 0, 1, 1 << 20, NULL, NULL, &builder, &table) ||
	    eh_build(&more, 0, &code))
		abort();
	tap_ok(found_at(table, TEXT_LO, &in_code) == ~0U,
	       "rows from code: a part that is missing is not ready");
	for (part = 0; part < 2; part++)
		if (kunwind_build_parts_one(builder, part))
			abort();
	tap_ok(!found_at(table, TEXT_LO + 0x200, &in_code), "rows from code: not there yet");
	kunwind_table_stats(table, &before);
	kunwind_table_stats(code, &of_code);
	kunwind_table_add_code(table, code);
	kunwind_table_stats(table, &after);
	tap_ok(found_at(table, TEXT_LO, &in_code) == 16 && found_at(table, TEXT_LO + 0x300, &in_code) == 24 &&
	       found_at(table, TEXT_LO + 0x200, &in_code) == 32 && in_code &&
	       !found_at(table, TEXT_LO + 0x100, &in_code),
	       "rows from code: found where no part has a rule");
	tap_ok(after.nr_rows > before.nr_rows && after.bytes > before.bytes &&
	       after.nr_parts == before.nr_parts && after.nr_fdes == before.nr_fdes + 1 &&
	       after.nr_rules == before.nr_rules + of_code.nr_rules &&
	       after.bytes == before.bytes + of_code.bytes,
	       "rows from code: counted with the table");
	kunwind_build_parts_end(builder);
	kunwind_table_free(table);
}

int main(void)
{
	test_pool();
	test_rules();
	test_limit();
	test_full_rule();
	test_twice();
	test_parts();
	test_code();
	return tap_done();
}

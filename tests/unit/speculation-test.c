/* SPDX-License-Identifier: MIT */
/*
 * speculation-test.c - a mispredicted bounds check does not make a table lookup
 * load from outside the table
 *
 * table.c is compiled here a second time, with a switch in each unlikely().
 * While the switch is on, each such branch goes the likely way whatever its
 * condition is, as a mispredicted branch does until the processor notices. If
 * the clamp missed an index, it would then lie outside the table's allocation,
 * and the address sanitizer would report the load. Loops are not mispredicted
 * here: table.c says why that is safe.
 */
#include "kunwind_deps.h"

static volatile bool mispredicted;
#undef unlikely
#define unlikely(x)	((x) && !mispredicted)

#define kunwind_table_lookup	predicted_lookup
#define kunwind_table_part	predicted_part
#define kunwind_table_find_elsewhere	predicted_find
#define kunwind_table_add_code	predicted_add_code
#define kunwind_table_i386	predicted_i386
#define kunwind_table_keep	predicted_keep
#define kunwind_table_full_rule	predicted_wide
#define kunwind_table_expr	predicted_expr
#define kunwind_table_for_each	predicted_for_each
#define kunwind_table_stats	predicted_stats
#define kunwind_table_retire	predicted_retire
#define kunwind_table_drop	predicted_drop
#define kunwind_table_free	predicted_free
#include "../../kmod/core/table/table.c"
#include "eh.h"
#include "tap.h"

#define FDES	400
#define TRIES	200000

static u64 seed = 0x2545f4914f6cdd1dULL;

static u64 rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Returns an address near the table, or any: a stack may hold either. */
static u64 any_address(const struct kunwind_table *table)
{
	switch (rnd() & 3) {
	case 0:
		return rnd();
	case 1:
		return table->base + (u32)rnd();
	case 2:
		return table->base - rnd() % 0x10000;
	}
	return table->base + rnd() % (2 * table->span);
}

/* More than 255 rules, so some are far ones; one is an expression. */
static struct kunwind_table *table_make(void)
{
	struct kunwind_table *table;
	static struct eh eh;
	char code[64];
	size_t cie;
	u32 i;

	cie = eh_plain_cie(&eh, "0c 07 08 90 01");
	for (i = 0; i < FDES; i++) {
		snprintf(code, sizeof(code), "0e %02x %02x", 0x80 | (i & 0x7f), i >> 7);
		eh_plain_fde(&eh, cie, TEXT_LO + 16 * i, 16, code);
	}
	eh_plain_fde(&eh, cie, TEXT_LO + 16 * i, 16, "0f 06 77 08 06 06 23 08");
	return eh_build(&eh, 0, &table) ? NULL : table;
}

static volatile u64 sink;

static void test_lookup(const struct kunwind_table *table)
{
	u32 i, found = 0;

	for (i = 0; i < TRIES; i++)
		found += (predicted_lookup(table, any_address(table)).kind & KUNWIND_RULE_KIND) !=
			 KUNWIND_RULE_NONE;
	tap_ok(found == TRIES, "speculation: a lookup outside the span loads from the table only");
	printf("# %u of %u addresses got some row's rule\n", found, TRIES);
}

static void test_wide(const struct kunwind_table *table)
{
	const u8 *begin = (const u8 *)table, *end = begin + table->bytes;
	u32 i, outside = 0, j;
	u16 len;

	for (i = 0; i < TRIES; i++) {
		s32 number = i & 1 ? rnd() : rnd() % 16;
		const struct kunwind_full_rule *wide = predicted_wide(table, number);
		const u8 *expr;

		outside += (const u8 *)wide < begin || (const u8 *)(wide + 1) > end;
		expr = predicted_expr(table, number, &len);
		outside += expr < begin || expr + len > end;
		for (j = 0; j < len && !outside; j++)
			sink += expr[j];
	}
	tap_ok(!outside, "speculation: any number of a full rule or expression leads into the table");
}

int main(void)
{
	struct kunwind_table *table = table_make();

	if (!tap_ok(table && table->nr_far && table->nr_full, "speculation: the table is built"))
		return tap_done();
	mispredicted = true;
	test_lookup(table);
	test_wide(table);
	mispredicted = false;
	tap_ok(predicted_lookup(table, table->base + table->span).kind == KUNWIND_RULE_NONE &&
	       !predicted_wide(table, -1) && !predicted_expr(table, -1, &(u16){ 0 }),
	       "speculation: without misprediction, such addresses and numbers have no rule");
	predicted_free(table);
	return tap_done();
}

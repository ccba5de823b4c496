/* SPDX-License-Identifier: MIT */
/*
 * Property: whatever the bytes of .eh_frame, the builder reads nothing outside
 * them and looks at the clock at most once for each 64 of them (it does so
 * after so many rows, records and instructions: linear time); the table that
 * it makes, if it makes one, is within its limit, and lookups in it read
 * nothing outside it.
 */
#include "fuzz.h"

#define LIMIT	(1 << 20)

static bool tick(void *data)
{
	++*(u32 *)data;
	return false;
}

static int row_check(void *data, u64 addr, struct kunwind_rule rule)
{
	const struct kunwind_table *table = data;
	const struct kunwind_wide_entry *e;
	const struct kunwind_wide *wide;
	u16 len;
	u32 i;

	property(addr < FUZZ_HI, "row at %llx", (unsigned long long)addr);
	if ((rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_WIDE)
		return 0;
	wide = kunwind_table_wide(table, rule.off);
	property(wide && wide->nr && wide->nr <= 1 + KUNWIND_NR_REGS, "wide rule %d", rule.off);
	e = (const void *)(wide + 1);
	for (i = 0; i < wide->nr; i++) {
		property(e[i].how <= KUNWIND_HOW_EXPR && e[i].source < KUNWIND_NR_REGS &&
			 e[i].reg < KUNWIND_NR_REGS, "entry of wide rule %d", rule.off);
		if (e[i].how == KUNWIND_HOW_AT_EXPR || e[i].how == KUNWIND_HOW_EXPR)
			property(kunwind_table_expr(table, e[i].off, &len) && len <= 256,
				 "expression of wide rule %d", rule.off);
	}
	return 0;
}

static void build(const u8 *data, size_t size, bool i386)
{
	struct kunwind_table_stats stats;
	struct kunwind_section section[2];
	struct kunwind_table *table;
	enum kunwind_refusal err;
	u32 ticks = 0, i;
	u8 *copy;

	/* exactly as long as it is, for the sanitizer to see a read beyond */
	copy = malloc(size - 1 + (size == 1));
	memcpy(copy, data + 1, size - 1);
	fuzz_section(*data, i386, copy, size - 1, section);
	err = kunwind_table_build(section, fuzz_keep(*data), LIMIT, tick, &ticks, &table);
	free(copy);
	property(ticks <= 1 + size / 64, "%u looks at the clock for %zu bytes", ticks, size);
	property(err < KUNWIND_NR_REFUSALS, "refusal %d", err);
	if (err)
		return;
	kunwind_table_stats(table, &stats);
	property(stats.bytes <= LIMIT, "%llu bytes", (unsigned long long)stats.bytes);
	kunwind_table_for_each(table, row_check, table);
	for (i = 0; i < 64; i++)
		kunwind_table_lookup(table, stats.base + (u64)i * stats.span / 63);
	kunwind_table_free(table);
}

/* As 64-bit code's, and as 32-bit code's. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (!size || size > FUZZ_MAX)
		return 0;
	build(data, size, false);
	build(data, size, true);
	return 0;
}

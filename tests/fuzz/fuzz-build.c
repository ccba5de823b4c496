/* SPDX-License-Identifier: MIT */
/*
 * Property: for any bytes of .eh_frame, the builder reads nothing outside them.
 * It checks the time at most once for each 64 bytes; because it does so after a
 * fixed number of rows, records and instructions, the build takes linear time.
 * A table that it builds is within its limit, and lookups in the table read
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
	const struct kunwind_full_rule_entry *e;
	const struct kunwind_full_rule *full;
	u16 len;
	u32 i;

	property(addr < FUZZ_HI, "row at %llx, outside the code", (unsigned long long)addr);
	if ((rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_FULL)
		return 0;
	full = kunwind_table_full_rule(table, rule.off);
	property(full && full->nr && full->nr <= 1 + KUNWIND_NR_REGS,
		 "full rule %d is missing, or has no or too many entries", rule.off);
	e = (const void *)(full + 1);
	for (i = 0; i < full->nr; i++) {
		property(e[i].how <= KUNWIND_HOW_EXPR && e[i].source < KUNWIND_NR_REGS &&
			 e[i].reg < KUNWIND_NR_REGS, "full rule %d has an invalid entry", rule.off);
		if (e[i].how == KUNWIND_HOW_AT_EXPR || e[i].how == KUNWIND_HOW_EXPR)
			property(kunwind_table_expr(table, e[i].off, &len) && len <= 256,
				 "full rule %d has a missing or too long expression", rule.off);
	}
	return 0;
}

static void build(const u8 *data, size_t size, bool i386)
{
	struct kunwind_table_stats stats;
	struct kunwind_section section[2];
	struct kunwind_table *table;
	enum kunwind_build_error err;
	u32 ticks = 0, i;
	u8 *copy;

	/*
	 * A copy of exactly this size: the sanitizer reports reads beyond it.
	 */
	copy = malloc(size - 1 + (size == 1));
	memcpy(copy, data + 1, size - 1);
	fuzz_section(*data, i386, copy, size - 1, section);
	err = kunwind_table_build(section, fuzz_keep(*data), LIMIT, tick, &ticks, &table);
	free(copy);
	property(ticks <= 1 + size / 64, "builder checks the time %u times for %zu bytes", ticks, size);
	property(err < KUNWIND_NR_BUILD_ERRORS, "build error %d is unknown", err);
	if (err)
		return;
	kunwind_table_stats(table, &stats);
	property(stats.bytes <= LIMIT, "table of %llu bytes is above its limit",
		 (unsigned long long)stats.bytes);
	kunwind_table_for_each(table, row_check, table);
	for (i = 0; i < 64; i++)
		kunwind_table_lookup(table, stats.base + (u64)i * stats.span / 63);
	kunwind_table_free(table);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	return fuzz_both(data, size, build);
}

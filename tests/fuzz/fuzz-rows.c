/* SPDX-License-Identifier: MIT */
/*
 * Property: where the builder accepts .eh_frame, the rule that a lookup finds
 * is what slow.c, which shares no code with it, finds in the bytes: at every
 * row's first byte and the byte before, at and around each FDE's ends, and
 * throughout each FDE.
 */
#include "../unit/rule-text.h"
#include "fuzz.h"
#include "slow.h"

struct check {
	const struct slow_section *section;
	const struct kunwind_table *table;
	u32 keep, left;
};

static void address_check(struct check *c, u64 addr)
{
	static char ours[16384], theirs[16384];
	struct kunwind_rule rule;

	if (!c->left)
		return;
	c->left--;
	rule = kunwind_table_lookup(c->table, addr);
	rule_text(c->table, rule, ' ', ours);
	rule_rest(c->table, rule, ours + strlen(ours));
	slow_rule_text(c->section, addr, c->keep, theirs);
	property(!strcmp(ours, theirs), "at %llx: table \"%s\", slow \"%s\"",
		 (unsigned long long)addr, ours, theirs);
}

static int row_check(void *data, u64 addr, struct kunwind_rule rule)
{
	(void)rule;
	address_check(data, addr);
	address_check(data, addr - 1);
	return 0;
}

static void fde_check(void *data, u64 start, u64 end)
{
	u64 i, step = (end - start) / 64 + 1;

	address_check(data, start - 1);
	address_check(data, end);
	address_check(data, end - 1);
	for (i = start; i < end && i - start < 64; i++)
		address_check(data, i);
	for (i = start; i < end; i += step)
		address_check(data, i);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct kunwind_table_stats stats;
	struct kunwind_section section;
	struct kunwind_table *table;
	struct slow_section slow;
	struct check check;

	if (!size || size > FUZZ_MAX)
		return 0;
	section = fuzz_section(data + 1, size - 1);
	if (kunwind_table_build(&section, fuzz_keep(*data), 1 << 20, NULL, NULL, &table))
		return 0;
	kunwind_table_stats(table, &stats);
	property((stats.needed & ~stats.keep) == 0 && (fuzz_keep(*data) & ~stats.keep) == 0,
		 "keep %x", stats.keep);
	slow = (struct slow_section){
		.data = section.data, .size = section.size, .addr = section.addr,
		.text_base = section.text_base, .data_base = section.data_base,
		.lo = section.lo, .hi = section.hi,
	};
	check = (struct check){
		.section = &slow, .table = table, .keep = stats.keep, .left = 3000,
	};
	kunwind_table_for_each(table, row_check, &check);
	slow_fdes(&slow, fde_check, &check);
	kunwind_table_free(table);
	return 0;
}

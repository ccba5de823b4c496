// SPDX-License-Identifier: MIT
/*
 * fde_find.c - find the rule for an address: in a table, or by one FDE
 *
 * The search table of .eh_frame_hdr (LSB 5.0 core generic, 10.6.2) has the start of each
 * FDE's code and its place, sorted by the start. Any context.
 */
#include "internal.h"

static s32 distance(const struct unwind_by_fde *by, u32 number, u32 second)
{
	s32 value;

	memcpy(&value, by->search + 8 * (u64)number + 4 * second, sizeof(value));
	return value;
}

static enum kunwind_reason find_by_fde(struct unwind_memory *memory, const struct unwind_by_fde *by,
				       const struct kunwind_table **table, u64 addr,
				       struct kunwind_rule *rule)
{
	struct kunwind_fde_rule *own = &memory->rule[memory->rule_turn & 1];
	u32 first = 0, nr = by->search_nr, half;
	u64 place;

	for (; nr > 1; nr -= half) {
		half = nr / 2;
		if (by->search_base + (s64)distance(by, first + half, 0) <= addr)
			first += half;
	}
	place = by->search_base + (s64)distance(by, first, 1) - by->section.addr;
	if (place >= by->section.size)
		return KUNWIND_COMPLETE;
	if (kunwind_fde_rule(&by->section, place, addr, KUNWIND_SAVED_REGS, own, rule) ==
	    KUNWIND_E_LIMIT)
		return KUNWIND_MEMORY_LIMIT;
	if ((rule->kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_FULL) {
		*table = &own->table;
		memory->rule_turn++;
	}
	return KUNWIND_COMPLETE;
}

int kunwind_unwind_find(struct kunwind_mem *mem, const struct kunwind_table **table, u64 addr,
			struct kunwind_rule *rule)
{
	const struct kunwind_table *found = *table;

	if (found->bytes)
		return kunwind_table_find(table, addr, rule);
	*rule = (struct kunwind_rule){ .kind = KUNWIND_RULE_NONE };
	return find_by_fde(mem->memory, (const struct unwind_by_fde *)found, table, addr, rule);
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * mem.h - words of the user's memory, and the budget of the walk that pays for them
 *
 * For all of the walk. Any context.
 */
#ifndef _KUNWIND_MEM_H
#define _KUNWIND_MEM_H

#include "../kunwind_core.h"

/* No user address has bits above: 57-bit addressing. */
#define KUNWIND_ADDRESS_BITS	56

/*
 * The budget of a walk, in mem.left, pays for all work except steps by rules that
 * the cache has. Work is charged where it is done, never by an estimate. One unit
 * each: an instruction of user code that is decoded, a word or a line of code that
 * is read in a window of its own, an entry or a byte of expression of a wide rule.
 * A word that the walk of 32-bit code reads (kunwind_read_word32()) is not charged:
 * the lookup or the entry that it belongs to is. docs/unwinding.md lists all units.
 * tests/fuzz/fuzz-cost-walk.c looks for units that cost more than they should.
 * When the budget is spent, the step that spent it is discarded: it might have
 * found something else. The walk then ends with KUNWIND_DEPTH.
 */
#define KUNWIND_BUDGET		16384
#define KUNWIND_BUDGET_URGENT	(KUNWIND_BUDGET / 4)	/* interrupts are off, or NMI */
#define KUNWIND_COST_LOOKUP	3	/* of the rule for an address: range, table, row */

static __always_inline u32 kunwind_budget(const struct kunwind_walk *walk)
{
	return walk->budget ?: KUNWIND_BUDGET;
}

/* False: the budget does not pay for that any more, and is spent. */
static __always_inline bool kunwind_pay(struct kunwind_mem *mem, u32 cost)
{
	if (likely(mem->left > cost)) {
		mem->left -= cost;
		return true;
	}
	mem->left = 0;
	return false;
}

/* One word of the user's memory, in a window of its own: a unit of the budget. */
bool kunwind_read_word(struct kunwind_mem *mem, u64 addr, u64 *value);
/* One of 32-bit code: four bytes, at an address below 2^32. */
bool kunwind_read_word32(struct kunwind_mem *mem, u64 addr, u64 *value);

/*
 * Reads @size bytes (1, 2, 4 or 8) at @addr. A short read takes the aligned
 * word around it where there is one, so that it does not fail at the end of
 * what is mapped. Must be called outside any window.
 */
static __always_inline bool kunwind_read_size(struct kunwind_mem *mem, u64 addr, u8 size,
					      u64 *result)
{
	unsigned int shift = 0;
	u64 val;

	if (size < 8 && (addr & 7) + size <= 8) {
		shift = 8 * (addr & 7);
		addr &= ~7ULL;
	}
	if (!kunwind_mem_begin(mem, addr))
		return false;
	kunwind_mem_read(mem, val, addr, fault);
	kunwind_mem_end(mem);
	val >>= shift;
	if (size < 8)
		val &= (1ULL << (8 * size)) - 1;
	*result = val;
	return true;
fault:
	kunwind_mem_end(mem);
	return false;
}

#endif /* _KUNWIND_MEM_H */

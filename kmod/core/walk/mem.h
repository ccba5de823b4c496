/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * mem.h - the budget of a walk, and reads of single words of the user's memory
 *
 * All of the walk uses this file. Any context, NMI included.
 */
#ifndef _KUNWIND_MEM_H
#define _KUNWIND_MEM_H

#include "../kunwind_core.h"

/* Bits of a user address, with 57-bit addressing. */
#define KUNWIND_ADDRESS_BITS	56

/*
 * The budget of a walk (mem.left) pays for all work except steps by rules from
 * the cache. Work is charged where it is done, never by an estimate. One unit
 * pays for one of these: decoding an instruction of user code, reading 32 bytes
 * of code, reading a word in a window of its own, an entry of a full rule, a
 * byte of its expressions. kunwind_read_word32() is not charged; the lookup or
 * the entry that needs the word is. docs/unwinding.md has a table of the units.
 * tests/fuzz/fuzz-cost-walk.c searches for units that cost too much time. The
 * step that spends the budget is discarded, because with more budget it might
 * have found something else. The walk then ends with KUNWIND_BUDGET_SPENT.
 */
#define KUNWIND_BUDGET		16384
/* With interrupts off, in softirqs, hard interrupts and NMIs, and on PREEMPT_RT. */
#define KUNWIND_BUDGET_URGENT	(KUNWIND_BUDGET / 4)
#define KUNWIND_COST_LOOKUP	3	/* find the rule for an address: range, table, row */
/* A read that fails is a page fault, which the kernel handles (and may trace). */
#define KUNWIND_COST_FAULT	32

static __always_inline u32 kunwind_budget(const struct kunwind_walk *walk)
{
	return walk->budget ?: KUNWIND_BUDGET;
}

/* Charges @cost units. False: too few are left, and the whole budget is now spent. */
static __always_inline bool kunwind_pay(struct kunwind_mem *mem, u32 cost)
{
	if (likely(mem->left > cost)) {
		mem->left -= cost;
		return true;
	}
	mem->left = 0;
	return false;
}

/*
 * Reads eight bytes in a window of their own, for one unit of the budget, or
 * KUNWIND_COST_FAULT more if that fails. No window may be open. False: the word
 * cannot be read, or the budget is spent; *@value is unchanged.
 */
bool kunwind_read_word(struct kunwind_mem *mem, u64 addr, u64 *value);
/* The same for 32-bit code: four bytes, at @addr modulo 2^32, without charge. */
bool kunwind_read_word32(struct kunwind_mem *mem, u64 addr, u64 *value);

#define KUNWIND_CHUNK	8	/* words */
/*
 * Reads up to @most words (at most KUNWIND_CHUNK), without charge. Returns how
 * many were readable.
 */
u32 kunwind_read_words(struct kunwind_mem *mem, u64 addr, u64 *words, u32 most);

/*
 * Reads @size bytes (1, 2, 4 or 8) at @addr, without charge. If the bytes lie
 * in one aligned word, this word is read, so that a short read does not fail at
 * the end of a mapping. No window may be open.
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

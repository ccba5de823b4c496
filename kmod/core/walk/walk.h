/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * walk.h - functions that the walks of 64-bit and of 32-bit code share (walk.c,
 * walk_i386.c)
 */
#ifndef _KUNWIND_WALK_H
#define _KUNWIND_WALK_H

#include "../kunwind_core.h"

/*
 * A walk in stretches, for callers outside the kernel (libkunwind/unwind/stretch.c):
 * walk->addresses is stretch->address, and walk->capacity KUNWIND_STRETCH + 1. A stretch
 * has at most KUNWIND_STRETCH addresses. If the walk ends with
 * KUNWIND_BUFFER_FULL, walk->regs and the first two members are those of the
 * next frame, with which the next stretch begins. walk->trust, of KUNWIND_STRETCH + 1
 * bytes, has the trust of that frame at the end.
 * @addr: address to look up: the frame's, or one less after a call
 * @bp_at: where the frame's rbp is saved, or KUNWIND_STRETCH_NO_SLOT: it is in the registers
 * @after_slot: KUNWIND_RULE_CACHE_ENTRIES hints beside walk->cache: the number of the
 *	entry that was used after each entry. Zeroed at first; walks may share it
 * @sp: stack pointer of each frame
 * @looked_up: @addr of each frame. The frame is exact if it equals its address
 */
#define KUNWIND_STRETCH		64
#define KUNWIND_STRETCH_SP	KUNWIND_STRETCH		/* distances from address[], words */
#define KUNWIND_STRETCH_LOOKED_UP	(2 * KUNWIND_STRETCH)
#define KUNWIND_STRETCH_NO_SLOT	(1ULL << 63)
struct kunwind_stretch {
	u64 addr, bp_at;
	u16 *after_slot;
	unsigned long address[KUNWIND_STRETCH];
	u64 sp[KUNWIND_STRETCH];
	u64 looked_up[KUNWIND_STRETCH];
};

/*
 * Finds the rule for an address by its range and table, without the cache. Any
 * context; no window may be open.
 * @exact: @addr is the address itself, not the return address minus one
 * @sp: stack pointer of the frame
 * @end: out: the frame is outermost, and the walk is complete. If CFI says so,
 *	*@rule is KUNWIND_RULE_END; otherwise kunwind_at_start() does, and
 *	*@rule and *@table may be unset
 * Return: KUNWIND_COMPLETE: *@end is true, or *@rule and *@table are set.
 * Otherwise the reason why there is no rule; if kunwind_reason_without_rule()
 * is true for the reason, the caller may go on without CFI.
 */
enum kunwind_reason kunwind_walk_rule(struct kunwind_walk *walk, u64 addr, bool exact, u64 sp,
				      struct kunwind_rule *rule,
				      const struct kunwind_table **table, bool *end);

/*
 * Counts the address that is stored, or about to be stored, at @index for the
 * method that found it, which is not CFI. If the address at @index is already
 * counted, it is replaced: the original of a return probe's trampoline.
 */
static __always_inline void kunwind_count_found(struct kunwind_walk *walk, u32 index,
						enum kunwind_method method)
{
	u32 i;

	/* Not memset(), which may be a call: a window may be open. */
	for (i = 0; !walk->others && i < ARRAY_SIZE(walk->found); i++)
		WRITE_ONCE(walk->found[i], 0);
	if (walk->others && walk->found_at == index)
		walk->found[walk->found_by]--;
	walk->others = true;
	walk->found[method]++;
	walk->found_at = index;
	walk->found_by = method;
}

/* The address that was to be stored at @index is not stored: it does not count. */
static __always_inline void kunwind_discount(struct kunwind_walk *walk, u32 index)
{
	if (walk->others && walk->found_at == index)
		walk->found[walk->found_by]--;
}

#endif /* _KUNWIND_WALK_H */

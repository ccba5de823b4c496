/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * code_aligned.h - where the old rsp is in code that has aligned rsp (code_aligned.c); and
 * sums of distances, of which some are not known
 */
#ifndef _KUNWIND_CODE_ALIGNED_H
#define _KUNWIND_CODE_ALIGNED_H

#include "code_flow.h"

#define UNKNOWN	KUNWIND_FLOW_UNKNOWN
#define LOST	KUNWIND_FLOW_LOST
#define SAME	KUNWIND_FLOW_SAME
#define VARIES	KUNWIND_FLOW_VARIES
#define ALIGNED KUNWIND_FLOW_ALIGNED

static inline bool known(s32 distance)
{
	return distance > VARIES;
}

/* @base + @change, where @base may not be known. Both count from the same place. */
static inline s32 moved(s32 base, s64 change)
{
	const s64 sum = base + change - (kunwind_flow_aligned(base) ? ALIGNED : 0);

	if (!known(base))
		return base;
	return sum > -KUNWIND_FLOW_MOST && sum < KUNWIND_FLOW_MOST ? base + change : LOST;
}

/* Where the instruction reads or writes a word. @sp: before or after it, see insn_effect.h. */
static inline s32 place(s32 sp, const struct kunwind_insn_effect *e)
{
	return moved(sp, -(s64)e->at);
}

/* Follows a copy of rsp through code in the order of its addresses. */
struct kunwind_copy_tracker {
	u8 made; /* a register that has rsp + at, before rsp is aligned; or KUNWIND_NO_REG */
	u8 kept; /* the register that has the copy of the last aligned rsp; or KUNWIND_NO_REG */
	s64 at;
};

/* Sets insn->copy and its place. All instructions of some code, one after the other. */
void kunwind_copy_track(struct kunwind_copy_tracker *t, const struct kunwind_insn *decoded,
			struct kunwind_flow_insn *insn);

/* The distance of rsp after an instruction that aligns it. @bp: of rbp, before it. */
s32 kunwind_aligned_sp(s32 sp, s32 bp);

/* What is known of a distance before such an instruction, from what is known after it. */
static inline s32 kunwind_before_aligned(s32 distance)
{
	return kunwind_flow_aligned(distance) ? UNKNOWN : distance;
}

/* The distance of rsp after an instruction that sets it to the old rsp, maybe. */
s32 kunwind_aligned_restored(const struct kunwind_flow_insn *insn);

/* What is known of the old rsp after an instruction. @sp: after it. */
s32 kunwind_aligned_old(const struct kunwind_flow_insn *insn, s32 sp);

/* Whether the instruction loads the old rsp from memory. */
bool kunwind_aligned_loads(const struct kunwind_flow_insn *insn);

#endif /* _KUNWIND_CODE_ALIGNED_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ahead_state.h - what code_ahead.c knows about rsp, rbp, r10 and words of the
 * stack at an instruction
 */
#ifndef _KUNWIND_AHEAD_STATE_H
#define _KUNWIND_AHEAD_STATE_H

#include "insn_kind.h"

#define MOST_OFFSET	(1 << 28)	/* bytes, either way; no frame is as big */

enum base {
	BASE_NONE,		/* not known */
	BASE_RSP,		/* rsp at the first instruction */
	BASE_RBP,
	BASE_R10,		/* the value of r10, read from the place state.r10 */
};

/* An address, in bytes above a base. */
struct place {
	s32 off : 30;
	u32 base : 2;		/* enum base */
};

enum rbp {
	RBP_SAME,		/* as it was at the first instruction */
	RBP_PLACE,		/* the address of a place: a frame pointer */
	RBP_READ,		/* the word of the stack at a place */
	RBP_OTHER,
};

/* What is known at an instruction. */
struct ahead_state {
	struct place rsp, rbp;
	struct place pushed, pushed_rbp; /* where rbp was written last, and its value then */
	struct place moved;	/* where the last mov to n(%rsp) wrote */
	struct place r10;	/* the place from which r10 was read */
	struct place popped;	/* place of a popped word that a register still holds */
	struct place copied;	/* rsp when it was copied to a callee-saved register that holds it */
	s32 called_at;		/* the highest rsp at a call, from BASE_RSP */
	s32 highest;		/* the highest rsp so far: below it, the path may have written */
	u8 popped_to, copied_to;	/* the registers */
	u8 from_top;		/* the register into which the word below highest was popped */
	s8 first;		/* the register pushed on an empty frame; 16: another word */
	/* Bits, because a walk has 13 of these structures on its stack. */
	u8 rbp_is : 2, pushed_is : 2;	/* enum rbp */
	bool back : 1;		/* the last instruction pushed popped_to, or jumped through it */
	bool flags : 1;		/* popped, and not changed since */
	bool calls : 1;		/* a call came on the path */
	bool late : 1;		/* of a target: after a call and nops, so it is taken after all others */
	bool jumps : 1, jumps_later : 1; /* as in struct kunwind_code */
	bool replaced : 1;	/* another register than from_top was pushed there since */
};

static inline bool kunwind_walk_attr same(struct place a, struct place b)
{
	return a.base == b.base && a.off == b.off;
}

static inline struct place kunwind_walk_attr at_distance(struct place place, s64 bytes)
{
	const s64 sum = place.off + bytes;

	if (!place.base || sum > MOST_OFFSET || sum < -MOST_OFFSET)
		return (struct place){ };
	return (struct place){ .off = sum, .base = place.base };
}

/* The place that rbp points to; BASE_NONE if it is not known. */
static inline struct place kunwind_walk_attr rbp_place(const struct ahead_state *state)
{
	if (state->rbp_is == RBP_SAME)
		return (struct place){ .base = BASE_RBP };
	return state->rbp_is == RBP_PLACE ? state->rbp : (struct place){ };
}

static inline void kunwind_walk_attr rbp_becomes(struct ahead_state *state, enum rbp is, struct place place)
{
	/* Mono aligns its calls by lea 0(%rbp), %rbp. */
	if (is == RBP_PLACE && place.base == BASE_RBP && !place.off)
		is = RBP_SAME;
	state->rbp_is = place.base ? is : RBP_OTHER;
	state->rbp = place;
}

/* rbp is loaded from @from. */
static inline void kunwind_walk_attr read_rbp(struct ahead_state *state, struct place from)
{
	if (from.base && same(from, state->pushed)) {
		state->rbp_is = state->pushed_is;
		state->rbp = state->pushed_rbp;
	} else if (from.base == BASE_RSP && from.off < state->highest) {
		state->rbp_is = RBP_OTHER;	/* that place may be written on the path */
	} else {
		rbp_becomes(state, RBP_READ, from);
	}
}

static inline void kunwind_walk_attr read_r10(struct ahead_state *state, struct place from)
{
	/*
	 * The path may have written a place below the highest rsp. A place above an
	 * earlier r10 is not kept, because only the last r10 is known.
	 */
	if (from.base == BASE_R10 || (from.base == BASE_RSP && from.off < state->highest))
		from = (struct place){ };
	state->r10 = from;
}

/* @reg is written to the stack; ~0: something else is. */
static inline void kunwind_walk_attr store(struct ahead_state *state, struct place at, u32 reg)
{
	if (reg == RBP) {
		state->pushed = at;
		state->pushed_rbp = state->rbp;
		state->pushed_is = state->rbp_is;
	} else if (same(at, state->pushed)) {
		state->pushed = (struct place){ };
	}
}

#endif /* _KUNWIND_AHEAD_STATE_H */

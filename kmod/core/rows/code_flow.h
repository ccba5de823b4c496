/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * code_flow.h - where the CFA is at each instruction of some code (code_flow.c)
 */
#ifndef _KUNWIND_CODE_FLOW_H
#define _KUNWIND_CODE_FLOW_H

#include "../x86/insn_effect.h"

/*
 * Distances below the CFA, in bytes.
 */
#define KUNWIND_FLOW_UNKNOWN (-0x7fffffff) /* nothing is known yet */
#define KUNWIND_FLOW_LOST    (-0x7ffffffe) /* different values were found, or one that is not known */
#define KUNWIND_FLOW_SAME    (-0x7ffffffd) /* bp: rbp is the caller's; slot: it is not saved */
#define KUNWIND_FLOW_VARIES  (-0x7ffffffc) /* sp: there is a frame pointer, and no single distance */
#define KUNWIND_FLOW_MOST    (1 << 28) /* no frame is as large */
/* After rsp was aligned, distances of rsp and rbp are below the aligned value, plus this. */
#define KUNWIND_FLOW_ALIGNED (1 << 29)

static inline bool kunwind_flow_aligned(s32 distance)
{
	return distance > KUNWIND_FLOW_MOST;
}

/*
 * Where the old rsp is, after rsp was aligned: in a register, or in a word that is @at bytes
 * below the aligned value. Bits 0 to 3: the register's number by ModRM. Bits 4 to 11: the distance
 * of the old rsp below the CFA, in words. A rule has room for the same (KUNWIND_DEREF_ADDS).
 * Above: the word's place, or 0 for a register.
 */
#define KUNWIND_OLD_MOST_AT (1 << 20) /* bytes, in both directions */

static inline s32 kunwind_old_in_reg(u8 reg, s32 distance)
{
	return distance / 8 << 4 | reg;
}

static inline s32 kunwind_old_at_word(s32 at, s32 distance)
{
	return ((at + KUNWIND_OLD_MOST_AT) / 8 + 1) << 12 | distance / 8 << 4;
}

static inline bool kunwind_old_in_word(s32 old)
{
	return old >= 1 << 12;
}

static inline s32 kunwind_old_at(s32 old)
{
	return 8 * ((old >> 12) - 1) - KUNWIND_OLD_MOST_AT;
}

static inline s32 kunwind_old_distance(s32 old)
{
	return 8 * (old >> 4 & 0xff);
}

static inline u8 kunwind_old_reg(s32 old)
{
	return old & 15;
}

/* What is known before an instruction. */
struct kunwind_flow_state {
	s32 sp; /* of rsp; 8 at a function's entry */
	s32 bp; /* of rbp, from what leads here */
	s32 slot; /* of the word that has the caller's rbp, from what leads here */
	s32 need_bp, need_slot; /* the same, from what follows and relies on it */
	s32 old; /* kunwind_old(), from what leads here */
	s32 need_old; /* the place of the word that what follows loads as the old rsp */
};

/* What is known of rbp: what leads to an instruction counts more than what relies on it. */
static inline s32 kunwind_flow_either(s32 led, s32 needed)
{
	return led == KUNWIND_FLOW_UNKNOWN ? needed : led;
}

/* Whether old says something: rsp was aligned. */
static inline bool kunwind_has_old(const struct kunwind_flow_state *state)
{
	return kunwind_flow_aligned(state->sp) ||
	       kunwind_flow_aligned(kunwind_flow_either(state->bp, state->need_bp));
}

#define KUNWIND_INSN_ENTRY 1 /* a function begins here */
#define KUNWIND_INSN_ALIGNED 2 /* at a multiple of 16, where most compilers put entries */
#define KUNWIND_INSN_BEGINS 4 /* the instruction before it is not known, or does not flow into it */
#define KUNWIND_INSN_TAIL 16 /* it jumps to a function's entry, or pushes one and returns to it */
/* private to code_flow.c */
#define KUNWIND_INSN_QUEUED 32
#define KUNWIND_INSN_FOREIGN 8 /* a jump leads here, but only from other code */
#define KUNWIND_INSN_TRIED 64 /* the current trial has changed its state */
#define KUNWIND_INSN_GOOD 128 /* and leads to where the distance of rsp was known, and is the same */

#define KUNWIND_COPY_STORED 0x10 /* flag of copy: it stores that register in the word at rsp + effect.at */

#define KUNWIND_NO_INSN	     (~0U)

struct kunwind_flow_insn {
	u32 at; /* bytes from the start of the code */
	u8 flags;
	u8 length;
	bool targeted; /* a jump leads here, maybe from other code */
	bool padded; /* after padding: a function may begin here */
	bool takes_return; /* it pops the return address, which is pushed again; or the return after that */
	bool drops_word; /* add $8, %rsp */
	u8 copy; /* a register that it keeps, or KUNWIND_NO_REG; see code_aligned.h */
	bool was_known; /* private: the distance of rsp, before the current trial */
	bool removes; /* it is a return that takes words off the stack; then: see code_moved.c */
	bool kept; /* out: a trial has found that a function begins here; then: see code_moved.c */
	struct kunwind_insn_effect effect;
	u32 function; /* number of the last entry before it */
	u32 target; /* number of the instruction to which it jumps, or KUNWIND_NO_INSN */
	struct kunwind_flow_state state; /* before the instruction */
};

struct kunwind_flow_change {
	u32 insn;
	struct kunwind_flow_state state; /* before the change */
};

/*
 * The caller allocates all arrays: insns, jumps and queue have @room elements, trail
 * has KUNWIND_FLOW_TRAIL. It sets nr and, for each instruction, at, length, flags,
 * targeted, padded, takes_return, drops_word, removes, effect and copy.
 */
#define KUNWIND_FLOW_TRAIL 16384
struct kunwind_code_flow {
	struct kunwind_flow_insn *insns; /* in ascending order */
	u32 *jumps; /* instructions that jump to another of them, by target */
	u32 *queue;
	struct kunwind_flow_change *trail;
	u32 nr, room;
	/* private */
	u32 nr_jumps, queued, tried;
	u64 work; /* steps that trials may still take */
	u32 steps; /* taken so far */
	bool trial; /* one is under way */
	u8 calls; /* which calls it follows */
	bool dispatch; /* an indirect jump at this distance of rsp confirms it: */
	s32 dispatch_sp;
	bool failed; /* the trial has found a contradiction */
};

/**
 * kunwind_code_flow_solve() - find the state before each instruction
 *
 * Task context. Time is linear in flow->nr, except for a logarithm.
 */
void kunwind_code_flow_solve(struct kunwind_code_flow *flow);

#endif /* _KUNWIND_CODE_FLOW_H */

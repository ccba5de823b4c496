/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * method.h - the methods that step from a frame without unwind information, in
 * the order in which they are tried
 *
 * docs/unwinding.md ("Code without CFI") has the same table. step.c makes one
 * direct call of each row, because an indirect call is expensive in a kernel
 * with retpolines. A walk counts each step for the method that made it.
 *
 *   enumerator, name in the status
 *   trust of the caller's address
 *   the frames that the method is for (step.c)
 *   the function in step.c
 *   what it reads at most, besides proofs of words. The budget pays for each
 *	read and each decoded instruction when it is made (walk/mem.h), so a
 *	method that gives up early costs little
 *
 * Proofs come first, guesses last. Of the proofs, those that recognize a
 * special place come first: they are cheap, and the others would be wrong
 * there.
 */
#ifndef _KUNWIND_METHOD_H
#define _KUNWIND_METHOD_H

#define KUNWIND_METHODS(M)									\
	M(BEGIN, "begin", REGISTERS, CALLED, begins)		/* 112 instructions */		\
	M(SIGNAL, "signal", SIGNAL, 0, in_trampoline)		/* 8 words of code */		\
	M(TOP, "top", CODE, EXACT | ALIGNED, by_top)		/* 16 words, 768 insns */	\
	M(OTHER_STACK, "other_stack", CODE, CALLED | ALIGNED, by_other_frame) /* 1,024 instructions */ \
	M(JIT_FRAME, "jit_frame", CODE, CALLED | ALIGNED | JIT, by_jit_frame) /* 512 words of stack */ \
	M(JIT_MADE, "jit_made", CODE, CALLED | ALIGNED | JIT, by_jit_made) /* 384 words of code */ \
	M(JIT_RUN, "jit_run", CODE, CALLED | ALIGNED | JIT, by_jit_run) /* 24 instructions */ \
	M(AHEAD, "ahead", CODE, ALIGNED, by_code_ahead)		/* 8,192 instructions */	\
	M(JIT_FRAME_EXACT, "jit_frame_exact", CODE, EXACT | ALIGNED | JIT, by_jit_frame)	\
	M(RBP, "rbp", CODE, ALIGNED, by_proven_rbp)		/* 2 words of stack */		\
	M(NEAREST, "nearest", CODE, ALIGNED, by_proven_word) /* 512 words, 512 instructions */ \
	M(JIT_ENTRY, "jit_entry", CODE, ALIGNED | JIT, by_jit_entry) /* 512 words */		\
	M(RBP_HANDLER, "rbp_handler", CODE, ALIGNED, by_handler)	/* nothing more */	\
	M(ENTRY, "entry", CODE, CALLED | ALIGNED, by_entry) /* 8,224 instructions */ \
	M(FP, "fp", FP, ALIGNED | GUESS, guess_rbp)		/* nothing more */		\
	M(SCAN, "scan", SCAN, ALIGNED | GUESS, guess_word)	/* 2 words of stack */

/* How the address of a frame was found. */
enum kunwind_method {
	KUNWIND_BY_CFI,		/* by a rule; not counted in kunwind_walk.found */
#define KUNWIND_METHOD(id, name, trust, frames, try)	KUNWIND_BY_##id,
	KUNWIND_METHODS(KUNWIND_METHOD)
#undef KUNWIND_METHOD
	KUNWIND_BY_URETPROBE,	/* the kernel's list of return probes */
	KUNWIND_BY_ROW,		/* a row that was made from code (rows/code.h) */
	KUNWIND_NR_METHODS
};

/* The enum kunwind_trust of an address that @method found. */
static __always_inline u8 kunwind_method_trust(enum kunwind_method method)
{
	static const u8 trusts[KUNWIND_NR_METHODS] = {
		KUNWIND_TRUST_CFI,
#define KUNWIND_METHOD(id, name, trust, frames, try)	KUNWIND_TRUST_##trust,
		KUNWIND_METHODS(KUNWIND_METHOD)
#undef KUNWIND_METHOD
		KUNWIND_TRUST_URETPROBE,
		KUNWIND_TRUST_CODE,
	};

	return trusts[method];
}

#endif /* _KUNWIND_METHOD_H */

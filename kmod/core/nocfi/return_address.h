/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * return_address.h - how sure it is that a word is the return address of a
 * frame without unwind information (return_address.c)
 *
 * For step.c. Any context, NMI included. The functions read user memory in
 * windows of their own, so the caller must have no window open.
 */
#ifndef _KUNWIND_RETURN_ADDRESS_H
#define _KUNWIND_RETURN_ADDRESS_H

#include "../kunwind_core.h"

#define KUNWIND_MOST_CODE	(1U << 16)	/* bytes of one function */
#define KUNWIND_FRAME_MOST	(1U << 20)	/* bytes from rsp to the frame pointer */
#define KUNWIND_PROOF_TAILS	1024		/* initial *tails of struct kunwind_nocfi_frame */
#define KUNWIND_PROOF_COST	2		/* in units of the budget, without reads */

/* How sure it is that a word is a return address, ascending. See return_address.c. */
enum kunwind_proof {
	KUNWIND_PROOF_NO_CALL,
	KUNWIND_PROOF_CONTRADICTED,
	KUNWIND_PROOF_POSSIBLE,
	KUNWIND_PROOF_NEAR,
	KUNWIND_PROOF_HANDLER,		/* the trampoline of a signal frame; follows no call */
	KUNWIND_PROOF_PROVEN,
	KUNWIND_PROOF_OUTERMOST,
};

/* A word that may be a return address. */
struct kunwind_candidate {
	u64 slot, ra;		/* address and value of the word */
	enum kunwind_proof proof;
	u64 target;		/* where the call before @ra leads; 0: not known, or no call */
	s32 rbp_at;		/* if proven: the caller's rbp, as in struct kunwind_code */
	bool resumes;		/* follows no call: interrupted code continues there */
	bool by_calls;		/* @slot is counted from rsp; a call on the path may not return */
	bool own_rbp;		/* by KUNWIND_BY_JIT_FRAME: rbp is certainly the frame's own */
	bool moved;		/* by the code ahead: the function may have moved the word */
	s32 depth, end;		/* as in struct kunwind_code */
};

/* The frame that has no rule. bp is 0 unless bp_known. */
struct kunwind_nocfi_frame {
	u64 ip, sp, bp;
	const struct kunwind_range *range;	/* of ip; NULL: not known to be code */
	bool bp_known;
	u32 *tails;		/* instructions that the step may still read for tail calls */
};

/* Whether rbp is known, not below @sp, and at most KUNWIND_FRAME_MOST above it. */
static __always_inline bool kunwind_bp_above(const struct kunwind_nocfi_frame *frame, u64 sp)
{
	return frame->bp_known && frame->bp - sp <= KUNWIND_FRAME_MOST;
}

static __always_inline u8 kunwind_byte(u64 word, u32 n)
{
	return word >> 8 * n;
}

/*
 * Whether a table has a rule for @addr; and whether that rule computes the CFA
 * from rbp.
 */
bool kunwind_proof_covered(struct kunwind_walk *walk, u64 addr);
bool kunwind_proof_uses_rbp(struct kunwind_walk *walk, u64 addr);

/*
 * Whether @ra is in code and follows a call. *target: where the call leads,
 * through stubs and jumps; 0 if the instruction does not say, or if the jumps
 * could not be followed. (The jumps are read as 64-bit code: ignore *target in
 * 32-bit code.) If the bytes fit several calls, a direct one counts, then one
 * through the GOT, provided that it leads to code.
 */
bool kunwind_proof_call(struct kunwind_walk *walk, u64 ra, u64 *target);

/*
 * Whether the eight bytes of code @word may begin a signal trampoline. The
 * first byte is not compared, because it may be a breakpoint. No memory is
 * read.
 */
static __always_inline bool kunwind_proof_may_be_trampoline(u64 word)
{
	const u32 from_one = word >> 8, from_three = word >> 24;

	return unlikely(from_one == 15 ? (u16)(word >> 40) == 0x050f :	/* mov $15, %eax; syscall */
			from_three == 15 && (u16)from_one == 0xc0c7);	/* mov $15, %rax */
}

/* Whether the eight bytes of code @behind an address end with a 64-bit system call. */
static __always_inline bool kunwind_proof_after_syscall(u64 behind)
{
	return behind >> 48 == 0x050f;
}

/*
 * Whether an exact frame may be in a signal trampoline: false if the eight bytes
 * of code @behind its address end with another system call.
 */
static __always_inline bool kunwind_proof_may_run_trampoline(u64 behind)
{
	/* mov $15, %eax; syscall */
	return !kunwind_proof_after_syscall(behind) || (u32)(behind >> 16) == 15;
}

/* Whether the code at @at is a signal trampoline: mov $15, %rax or %eax; syscall. */
bool kunwind_proof_trampoline(struct kunwind_walk *walk, u64 at);
/* Whether the frame in walk->regs is in a signal trampoline, by its code. */
bool kunwind_proof_in_trampoline(struct kunwind_walk *walk, bool exact);
/* Whether the struct ucontext of a signal frame may lie at @sp. */
bool kunwind_proof_sigframe(struct kunwind_walk *walk, u64 sp);

/*
 * Whether the frame is in the handler of a signal, and @c (a KUNWIND_PROOF_HANDLER)
 * is where its code has the return address. A signal frame that is no longer used
 * may lie on the stack.
 */
bool kunwind_proof_handles(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
			   const struct kunwind_candidate *c);

/* Whether @ra follows a direct call to @ip, where no code is. */
bool kunwind_proof_calls_nothing(struct kunwind_walk *walk, u64 ra, u64 ip);

/* Whether the function at @target, or one to which it jumps, jumps through a pointer. */
bool kunwind_proof_leads_anywhere(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
				  u64 target);

/*
 * Whether it is certain that @ra follows no call, after kunwind_proof_call()
 * has found none. False if the code cannot be read, or if a breakpoint may hide
 * a call.
 */
bool kunwind_proof_no_call(struct kunwind_walk *walk, u64 ra);

/**
 * kunwind_prove() - judge whether @c->ra at @c->slot is @frame's return address
 *
 * Sets c->proof, never to KUNWIND_PROOF_OUTERMOST, and c->target. Sets
 * c->rbp_at if the word is proven or a handler's; otherwise c->rbp_at may have
 * any value. Charges the walk's budget; if the budget is spent at the start,
 * c->proof is KUNWIND_PROOF_NO_CALL.
 */
void kunwind_prove(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
		   struct kunwind_candidate *c);

/*
 * The same without reading the function that the call before @c->ra leads to: c->proof is
 * KUNWIND_PROOF_NO_CALL, _HANDLER or _POSSIBLE.
 */
void kunwind_prove_call(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
			struct kunwind_candidate *c);

/*
 * The frame of a function whose stack gcc has realigned (@code->realigned) has a
 * word with the caller's rsp. Whether the word below that rsp is the function's
 * return address: it must follow a call, and equal the copy that the function has
 * pushed directly above the saved rbp. If true, all of @c is set except
 * @c->resumes.
 */
bool kunwind_proof_realigned(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
			     const struct kunwind_code *code, struct kunwind_candidate *c);

/*
 * Whether @c->ra is a place in an interpreter (OpenJDK) to which its callee
 * returns. The interpreter does not call: it saves rsp in its frame, pushes the
 * return address, and jumps. Therefore no call precedes @c->ra. Instead, the
 * code at @c->ra restores rsp from the frame: mov n(%rbp), %rsp; or, from JDK 22 on,
 * mov n(%rbp), %rcx; lea 0(%rbp,%rcx,8), %rsp. *at: n, in bytes. Both @c->ra and the
 * frame must be in code of a JIT.
 */
bool kunwind_proof_takes_rsp(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
			     const struct kunwind_candidate *c, s8 *at);
/*
 * Whether the interpreter's frame at @bp has an rsp between @c->slot and @bp
 * saved @at bytes from @bp, as an address or, below zero, as a distance from @bp in words. The
 * saved rsp is 0 while the interpreter has not called. It may be @c->slot itself, in a frame
 * that was made when compiled code was given up.
 */
bool kunwind_proof_noted_rsp(struct kunwind_walk *walk, const struct kunwind_candidate *c, u64 bp,
			     s8 at);
/*
 * Both checks, for any word of the stack. The interpreter's callee has not
 * changed rbp, or has pushed rbp first, just below the word. Sets c->rbp_at,
 * not c->proof.
 */
bool kunwind_proof_jumped(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
			  struct kunwind_candidate *c);

/*
 * The original of the return address @ra at the address @slot, where a return
 * probe of the kernel may have put its trampoline. Returns @ra if no original
 * is known, or if the original is not in a live range.
 */
u64 kunwind_nocfi_return(struct kunwind_walk *walk, u64 ra, u64 slot);

#endif /* _KUNWIND_RETURN_ADDRESS_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * proof.h - what proves that a word of the stack is a frame's return address, where
 * no unwind information says so
 *
 * For bare.c. Any context; memory is read by the seam's reader, so no window may be open.
 */
#ifndef _KUNWIND_PROOF_H
#define _KUNWIND_PROOF_H

#include "../kunwind_core.h"

#define KUNWIND_FRAME_MOST	(1U << 20)	/* bytes from rsp to the frame pointer */
#define KUNWIND_PROOF_TAILS	1024		/* of struct kunwind_bare, when a step begins */
#define KUNWIND_PROOF_COST	2		/* of the budget, without what is read */

/* By how much it proves. */
enum kunwind_proof {
	KUNWIND_PROOF_NO_CALL,
	KUNWIND_PROOF_CONTRADICTED,
	KUNWIND_PROOF_POSSIBLE,
	KUNWIND_PROOF_NEAR,
	KUNWIND_PROOF_HANDLER,		/* follows no call: the trampoline of a signal frame */
	KUNWIND_PROOF_PROVEN,
	KUNWIND_PROOF_OUTERMOST,
};

/* What may be a return address. */
struct kunwind_candidate {
	u64 slot, ra;		/* where it lies, what it is */
	enum kunwind_proof proof;
	s32 rbp_at;		/* when proven: the caller's rbp, as struct kunwind_code's */
	bool resumes;		/* it follows no call: what was interrupted goes on there */
};

/* The frame that has no rule. */
struct kunwind_bare {
	u64 ip, sp, bp;
	const struct kunwind_range *range;	/* of ip; NULL: not known to be code */
	bool bp_known;
	u32 *tails;		/* instructions that may be read for tail calls */
};

static __always_inline u8 kunwind_byte(u64 word, u32 n)
{
	return word >> 8 * n;
}

/* Whether a table has a rule for the address; and one by which rbp is its function's own frame. */
bool kunwind_proof_covered(struct kunwind_walk *walk, u64 addr);
bool kunwind_proof_uses_rbp(struct kunwind_walk *walk, u64 addr);

/*
 * Whether @ra follows a call in code, and where that leads through stubs and jumps: *target, 0
 * where the call does not tell, or of 32-bit code. In the middle of
 * bytes that are not code both forms can be there: then the direct call, if it
 * leads to code.
 */
bool kunwind_proof_call(struct kunwind_walk *walk, u64 ra, u64 *target);

/* The first seven bytes of a signal trampoline; the first may be a breakpoint's. */
static __always_inline bool kunwind_proof_may_be_trampoline(u64 word)
{
	const u32 from_one = word >> 8, from_three = word >> 24;

	return unlikely(from_one == 15 ? (u16)(word >> 40) == 0x050f :	/* mov $15, %eax; syscall */
			from_three == 15 && (u16)from_one == 0xc0c7);	/* mov $15, %rax */
}

/* Whether the code at @at is a signal trampoline: mov $15, %rax or %eax; syscall. */
bool kunwind_proof_trampoline(struct kunwind_walk *walk, u64 at);
/* Whether what lies at @sp may be the struct ucontext of a signal frame. */
bool kunwind_proof_sigframe(struct kunwind_walk *walk, u64 sp);

/* Whether it is sure that @ra follows no call, kunwind_proof_call() having found none. */
bool kunwind_proof_no_call(struct kunwind_walk *walk, u64 ra);

/**
 * kunwind_prove() - what speaks for the word @c->ra at @c->slot being @frame's return address
 * Sets c->proof, and c->rbp_at where it is proven; never to KUNWIND_PROOF_OUTERMOST.
 * Takes from the walk's budget, and proves nothing where that is spent.
 */
void kunwind_prove(struct kunwind_walk *walk, const struct kunwind_bare *frame,
		   struct kunwind_candidate *c);

/*
 * An interpreter (OpenJDK's) does not call: it notes rsp in its frame, pushes where its callee is
 * to come back, and jumps. No call is before @c->ra then, but the code there takes rsp back
 * from its frame: mov *@at(%rbp), %rsp. Whether it does.
 */
bool kunwind_proof_takes_rsp(struct kunwind_walk *walk, const struct kunwind_bare *frame,
			     const struct kunwind_candidate *c, s8 *at);
/* With its frame at @bp it finds an rsp between @c->slot and that. Where nobody was called it is 0. */
bool kunwind_proof_noted_rsp(struct kunwind_walk *walk, const struct kunwind_candidate *c, u64 bp,
			     s8 at);
/* Both for a word of the stack: the interpreter's callee left rbp alone, or pushed it at once. */
bool kunwind_proof_jumped(struct kunwind_walk *walk, const struct kunwind_bare *frame,
			  struct kunwind_candidate *c);

#endif /* _KUNWIND_PROOF_H */

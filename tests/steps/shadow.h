/* SPDX-License-Identifier: MIT */
/*
 * shadow.h - shadow stacks: what was called and did not return
 *
 * Kept from what runs: calls, returns, the kernel's signal frames, rt_sigreturn, and rsp
 * set to elsewhere. No unwind information is read. README states the rules.
 *
 * A stack is a stretch of addresses that rsp was seen in. It belongs to the process,
 * for coroutines take theirs from thread to thread.
 */
#ifndef _STEPS_SHADOW_H
#define _STEPS_SHADOW_H

#include <sys/types.h>

#include "memory.h"
#include "stepped.h"

enum shadow_kind {
	SHADOW_CALL,		/* a call, or the kernel, pushed @address */
	SHADOW_PLANTED,		/* was there already when the stack was first entered */
	SHADOW_CONTEXT,		/* a signal interrupted @address, with rsp @to_sp on stack @to */
	SHADOW_LINK,		/* no frame: code took this stack at @slot, from @to_sp on @to */
};

struct shadow_stack;

struct shadow_entry {
	u64 slot, address;
	u64 hash;			/* of the addresses from the outermost one to this */
	enum shadow_kind kind;
	struct shadow_stack *to;
	u64 to_sp;
};

struct shadow_stack {
	struct shadow_stack *next;
	u64 lowest, highest;		/* values of rsp that were seen */
	bool fresh;			/* nothing was called on it */
	u32 nr, room;
	struct shadow_entry *entry;	/* the outermost first */
};

struct shadow {
	struct shadow_stack *stacks;
	pid_t pid;
};

/* Of one thread. */
struct shadow_thread {
	struct shadow *shadow;
	struct shadow_stack *on;
	/* rsp was set to another stack, and neither a call nor a return or jump followed. */
	struct shadow_stack *left;
	u64 left_sp, taken_sp;
	/* What the last pop took off the stack, if it was a return address. */
	struct shadow_entry popped;
};

struct shadow_regs {
	u64 ip, sp, rax;
};

/* An empty shadow; for exec, too. */
void shadow_reset(struct shadow *shadow, pid_t pid);

/* A thread whose first instruction is to run with @sp. */
void shadow_begin(struct shadow_thread *thread, struct shadow *shadow, u64 sp);

/* An instruction of @kind ran. */
void shadow_step(struct shadow_thread *thread, enum stepped kind, const struct shadow_regs *before,
		 const struct shadow_regs *after);

/*
 * Whether the kernel delivered a signal between the two: its frame is at after->sp. If so, the
 * shadow has it.
 */
bool shadow_signal(struct shadow_thread *thread, const struct shadow_regs *before,
		   const struct shadow_regs *after);

/* What the instruction at @ip is reached by: equal where the addresses of the stack are. */
u64 shadow_hash(const struct shadow_thread *thread, u64 ip);

/*
 * Readings of the shadow, where it has more than one (README). shadow_truth() adds to *had
 * those that would make a difference.
 */
#define SHADOW_OLDER	1	/* at a link: what was on the stack before it was taken */
#define SHADOW_POPPED	2	/* with the return address that a pop took into a register */
#define SHADOW_BARE	4	/* without what was planted */
#define SHADOW_TAKEN	8	/* the stack that was taken just now, not the one that was left */
#define SHADOW_PUSHED	16	/* with what was pushed on the stack that was taken */
#define SHADOW_READINGS	32

/* The addresses of the stack, @ip first; returns how many, at most @most. */
u32 shadow_truth(const struct shadow_thread *thread, struct memory *memory, u64 ip, u64 sp,
		 u32 reading, u64 *addresses, u32 most, u32 *had);

#endif /* _STEPS_SHADOW_H */

/* SPDX-License-Identifier: MIT */
/*
 * shadow.h - shadow stacks: calls that have not returned
 *
 * They follow the instructions that run: calls, returns, the kernel's signal
 * frames, rt_sigreturn, and changes of rsp to another stack. No unwind
 * information is read. README states the rules.
 *
 * A stack is an interval of addresses that rsp has had. It belongs to the
 * process and not to a thread, because a coroutine may move from one thread to
 * another.
 */
#ifndef _STEPS_SHADOW_H
#define _STEPS_SHADOW_H

#include <sys/types.h>

#include "memory.h"
#include "stepped.h"

enum shadow_kind {
	SHADOW_CALL,		/* a call, or the kernel, pushed @address */
	SHADOW_PLANTED,		/* the word at rsp when the stack was first entered */
	SHADOW_CONTEXT,		/* a signal interrupted @address, with rsp @to_sp on stack @to */
	SHADOW_LINK,		/* no frame: code took this stack at @slot, from @to_sp on @to */
};

struct shadow_stack;

struct shadow_entry {
	u64 slot, address;
	u64 hash;			/* of all addresses from the outermost one to this one */
	enum shadow_kind kind;
	struct shadow_stack *to;
	u64 to_sp;
};

struct shadow_stack {
	struct shadow_stack *next;
	u64 lowest, highest;		/* values of rsp that were seen */
	bool fresh;			/* no call was made on it */
	u32 nr, room;
	struct shadow_entry *entry;	/* the outermost first */
};

struct shadow {
	struct shadow_stack *stacks;
	pid_t pid;
};

#define SHADOW_HELD	8

struct shadow_held {
	struct shadow_entry entry;	/* slot 0: none */
	struct shadow_stack *on;
	u64 until;			/* slot of the caller's return address */
};

/* State of one thread. */
struct shadow_thread {
	struct shadow *shadow;
	struct shadow_stack *on;
	/*
	 * rsp was set to another stack, and no call, return or jump followed
	 * yet.
	 */
	struct shadow_stack *left;
	u64 left_sp, taken_sp;
	/* The last popped return address, until a call, return or jump. */
	struct shadow_entry popped;
	/*
	 * Popped return addresses of functions whose caller has not returned
	 * yet: they may be pushed back later (musl's sigsetjmp, twice).
	 */
	struct shadow_held held[SHADOW_HELD];
};

struct shadow_regs {
	u64 ip, sp, rax;
};

/* Empties the shadow, also after exec. */
void shadow_reset(struct shadow *shadow, pid_t pid);

/* Begins the shadow of a thread whose first instruction runs with @sp. */
void shadow_begin(struct shadow_thread *thread, struct shadow *shadow, u64 sp);

/* Follows one instruction of @kind. */
void shadow_step(struct shadow_thread *thread, enum stepped kind, const struct shadow_regs *before,
		 const struct shadow_regs *after);

/*
 * Returns whether the kernel delivered a signal between @before and @after,
 * with its frame at after->sp. If so, adds its entries.
 */
bool shadow_signal(struct shadow_thread *thread, const struct shadow_regs *before,
		   const struct shadow_regs *after);

/* Hash of @ip and the addresses of the stack: equal for equal positions. */
u64 shadow_hash(const struct shadow_thread *thread, u64 ip);

/*
 * Readings of the shadow, if it has more than one (README). shadow_truth() adds
 * to *had the readings that would make a difference.
 */
#define SHADOW_OLDER	1	/* at a link: the older entries of the stack that was taken */
#define SHADOW_POPPED	2	/* with the return address that a pop took into a register */
#define SHADOW_BARE	4	/* without a planted address */
#define SHADOW_TAKEN	8	/* the stack that was taken just now, not the one that was left */
#define SHADOW_PUSHED	16	/* with the address pushed on the stack that was taken */
#define SHADOW_REPLACED	32	/* without the return address that this instruction overwrites */
#define SHADOW_INJECTED	64	/* with the call that a signal handler put where it will return */
#define SHADOW_READINGS	128

/*
 * Writes the addresses of the stack, @ip first, to @addresses. Returns their
 * number, at most @most.
 */
u32 shadow_truth(const struct shadow_thread *thread, struct memory *memory, u64 ip, u64 sp,
		 u32 reading, u64 *addresses, u32 most, u32 *had);

#endif /* _STEPS_SHADOW_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * callstack.h - walk the current task's user stack from its pt_regs
 */
#ifndef _KUNWIND_CALLSTACK_H
#define _KUNWIND_CALLSTACK_H

#include "../hook.h"
#include "../space/space.h"

struct pt_regs;
struct seq_file;

int kunwind_callstack_init(void);
void kunwind_callstack_exit(void);

/* Kill switch: module parameter "enabled". */
extern bool kunwind_enabled;

/*
 * Whether stacks may be walked and processes registered: not after the kill switch,
 * nor without a hook that correctness needs. Any context.
 */
static __always_inline bool kunwind_callstack_allowed(void)
{
	return READ_ONCE(kunwind_enabled) && !kunwind_hook_missing();
}

/*
 * Why the current task's user stack cannot be walked, or KUNWIND_COMPLETE if it can be.
 * KUNWIND_DISABLED: the kill switch, or a required hook is missing; KUNWIND_KTHREAD: a kernel
 * thread, a worker of io_uring or vhost, or a vCPU; KUNWIND_COMPAT32: the code segment is
 * neither that of 64-bit nor of 32-bit code. Any context.
 */
enum kunwind_reason kunwind_callstack_excluded(const struct pt_regs *regs);

/* For whom a stack is walked. */
enum kunwind_consumer {
	KUNWIND_FOR_TRACERS,	/* LTTng's callstack_user, perf, BPF, ftrace */
	KUNWIND_FOR_EVENT,	/* kunwind_callstack; and for the tracer that caused it */
	KUNWIND_FOR_IOCTL,
	KUNWIND_NR_CONSUMERS,
};

/* What a walk is asked for, and what it found. */
struct kunwind_request {
	enum kunwind_consumer consumer;	/* whose counters to use */
	unsigned long *store;		/* @capacity words */
	u8 *trust;			/* NULL, or @capacity bytes: enum kunwind_trust of
					 * each; the caller sets KUNWIND_TRUST_CFI, except
					 * the first. The walk may also change the byte
					 * after the last frame's */
	u32 capacity;			/* not 0 */
	u32 count;			/* out: addresses in @store */
};

/**
 * kunwind_callstack_walk() - one walk of the current task's user stack
 * @space: of current->mm; RCU or preemption off
 * @regs: user registers (task_pt_regs(current), or what an NMI gave)
 * @valid: KUNWIND_REG() bits of what in @regs can be trusted
 * @request: guessed frames are included if ->trust is set or the module parameter
 *	"guess" is on
 * Any context, NMI included. Counts itself in the statistics.
 */
enum kunwind_reason kunwind_callstack_walk(struct kunwind_space *space, const struct pt_regs *regs,
					   u32 valid, struct kunwind_request *request);

/* The same from 17 words in DWARF order (ioctl). */
enum kunwind_reason kunwind_callstack_walk_regs(struct kunwind_space *space,
						const struct kunwind_regs *regs,
						struct kunwind_request *request);

/* The module parameter "guess". */
bool kunwind_callstack_guesses(void);

/* Counts a request that was left to the kernel because the process is not registered. */
void kunwind_callstack_passed(void);

/* Lines of the status: stacks by reason and frames by trust, for each consumer. */
void kunwind_callstack_show(struct seq_file *m);

/* Adds the counters kept per CPU to @stats (stacks, frames, passed_through, by_reason). */
void kunwind_callstack_stats(struct kunwind_stats *stats);

void kunwind_callstack_show_params(struct seq_file *m);

#endif /* _KUNWIND_CALLSTACK_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * callstack.h - walk a task's user stack from its pt_regs
 */
#ifndef _KUNWIND_CALLSTACK_H
#define _KUNWIND_CALLSTACK_H

#include "../space/space.h"
#include "../uapi/kunwind.h"

struct pt_regs;
struct seq_file;

int kunwind_callstack_init(void);
void kunwind_callstack_exit(void);

/*
 * Returns KUNWIND_COMPLETE if the current task's user stack may be walked,
 * otherwise the reason. KUNWIND_DISABLED: the parameter "enabled" is N, or a
 * required hook is missing. KUNWIND_KTHREAD: a kernel thread, a worker of
 * io_uring or vhost, or a vCPU. KUNWIND_CODE_SEGMENT: the code segment is
 * neither that of 64-bit nor of 32-bit code. Any context.
 */
enum kunwind_reason kunwind_callstack_excluded(const struct pt_regs *regs);

/* For whom a stack is walked; each consumer has counters of its own. */
enum kunwind_consumer {
	KUNWIND_FOR_TRACERS,	/* LTTng's callstack-user, perf, BPF, ftrace */
	/*
	 * The event kunwind_callstack, and the tracer whose request caused it.
	 */
	KUNWIND_FOR_EVENT,
	KUNWIND_FOR_IOCTL,
	KUNWIND_FOR_SAMPLER,		/* the event kunwind_sample */
	KUNWIND_FOR_BLOCKED,		/* the event kunwind_blocked */
	KUNWIND_NR_CONSUMERS,
};

/* A task other than the current one, which does not run. */
struct kunwind_other_task {
	const struct task_struct *task;	/* with a reference */
	u64 unread[2];		/* out: as in struct kunwind_walk; 0: not known */
};

/* The arguments of a walk, and its result. */
struct kunwind_request {
	enum kunwind_consumer consumer;	/* whose counters the walk changes */
	unsigned long *store;		/* @capacity words */
	/*
	 * NULL, or @capacity bytes: enum kunwind_trust of each address. The
	 * caller sets the first to KUNWIND_TRUST_REGISTERS, and the others to
	 * KUNWIND_TRUST_CFI. The walk may also change the byte after the last
	 * frame's.
	 */
	u8 *trust;
	u32 capacity;			/* not 0 */
	/* The walk is noted here; NULL: in the note of this CPU. */
	struct kunwind_replay *replay;
	u32 count;			/* out: addresses in @store */
	/*
	 * NULL: walk the current task's stack. Otherwise the stack of this task; the
	 * caller, a kernel thread, uses its mm (kthread_use_mm()), and finds out
	 * itself whether the task has run meanwhile. The walk makes no request for
	 * what it missed.
	 */
	struct kunwind_other_task *other;
};

/**
 * kunwind_callstack_walk() - walk a task's user stack
 * @space: of current->mm; the caller is in an RCU read section or has
 *	preemption off
 * @regs: the task's user registers (task_pt_regs(), those that perf passes, or a
 *	copy)
 * @valid: KUNWIND_REG() bits of the registers that are valid in @regs
 * @request: guessed frames are included if ->trust is set or the module
 *	parameter "guess" is on
 * Any context, NMI included. notrace. Counts itself in the statistics.
 * Return: why the stack ended; @request->count addresses are valid in any case.
 */
enum kunwind_reason kunwind_callstack_walk(struct kunwind_space *space, const struct pt_regs *regs,
					   u32 valid, struct kunwind_request *request);

/*
 * Returns whether the note @replay of an earlier walk is also that of the current task's
 * stack, and then sets @store, which has room for KUNWIND_REPLAY_FRAMES, and @count.
 * Task context, preemption off. notrace. The walk counts itself in the statistics.
 */
bool kunwind_callstack_replay(struct kunwind_space *space, const struct pt_regs *pt, u32 valid,
			      struct kunwind_replay *replay, enum kunwind_consumer consumer,
			      unsigned long *store, u32 *count);

/* The same from 17 words in DWARF order, for the ioctl. System call context. */
enum kunwind_reason kunwind_callstack_walk_regs(struct kunwind_space *space,
						const struct kunwind_regs *regs,
						struct kunwind_request *request);

/* Returns the module parameter "guess". */
bool kunwind_callstack_guesses(void);

/*
 * Counts a request that the kernel's own code answers, because the process is
 * not registered.
 */
void kunwind_callstack_passed(void);

/*
 * Prints status lines for each consumer (stacks by reason, frames by trust),
 * and for all consumers together (steps without CFI by method).
 */
void kunwind_callstack_show(struct seq_file *m);

/*
 * Adds the sums over all CPUs to @stats (stacks, frames, passed_through,
 * by_reason).
 */
void kunwind_callstack_stats(struct kunwind_stats *stats);

void kunwind_callstack_show_params(struct seq_file *m);

#endif /* _KUNWIND_CALLSTACK_H */

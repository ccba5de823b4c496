// SPDX-License-Identifier: GPL-2.0-only
/*
 * callstack.c - walk the current task's user stack from its pt_regs
 *
 * Runs in any context, NMI included. Everything that a walk writes is on its
 * own stack or belongs to this CPU: the cache of rules (16 KB a CPU, guarded
 * entry by entry, see core/walk.c), the note of the last walk (4 KB a CPU, for those
 * from the task itself: the flag below guards it), answers about code (15 KB a CPU,
 * only for a walk that interrupts no other walk) and counters (one increment
 * instruction each). A walk that faults may meet a tracepoint on the page-fault path whose
 * probe asks for a stack again: one flag for each context of each CPU answers
 * that with KUNWIND_NESTED.
 *
 * With interrupts off, in a hard interrupt or an NMI, a walk has a quarter of the budget
 * (core/walk.h): nothing else can run on this CPU meanwhile. On processors with IBT
 * LTTng turns interrupts off around each user stack, whatever the event. On PREEMPT_RT
 * every walk has that budget, because preemption is off meanwhile. In a hard interrupt
 * or an NMI, the average is limited besides (credit.c).
 */
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>

#include "arch/x86/regs.h"
#include "callstack.h"
#include "compat/sched.h"
#include "core/walk.h"
#include "credit.h"
#include "touch.h"

bool kunwind_enabled = true;
module_param_named(enabled, kunwind_enabled, bool, 0644);
MODULE_PARM_DESC(enabled, "walk stacks; N leaves every request to the kernel, at once (default Y)");

static bool scan;
module_param(scan, bool, 0644);
MODULE_PARM_DESC(scan, "give LTTng, perf and others frames found by scanning the stack, too (default N)");

struct counters {
	u64 stacks;
	u64 frames;
	u64 passed_through;
	u64 budget_spent;
	u64 by_reason[KUNWIND_NR_REASONS];
};

static DEFINE_PER_CPU(struct counters, counters);
/* One flag each for task, softirq, hardirq and NMI context: interrupt_context_level(). */
#define HARDIRQ_LEVEL	2
static DEFINE_PER_CPU(u8 [4], walking);
/* A walk uses this CPU's answers; walks that interrupt it have none. */
static DEFINE_PER_CPU(u8, answering);
static struct kunwind_cache __percpu *caches;
static struct kunwind_answers __percpu *answers;
static struct kunwind_recent __percpu *recents;

enum kunwind_reason notrace kunwind_callstack_excluded(const struct pt_regs *regs)
{
	if (!kunwind_callstack_allowed())
		return KUNWIND_DISABLED;
	/*
	 * Kernel threads and io_uring's or vhost's workers have no user
	 * registers, even where they use an mm; with PF_VCPU the registers
	 * may be a guest's.
	 */
	if (current->flags & (PF_KTHREAD | KUNWIND_PF_WORKERS | PF_VCPU))
		return KUNWIND_KTHREAD;
	if (!kunwind_regs_64bit(regs) && !kunwind_regs_i386(regs))
		return KUNWIND_COMPAT32;
	return KUNWIND_COMPLETE;
}

bool notrace kunwind_callstack_scans(void)
{
	return READ_ONCE(scan);
}

void notrace kunwind_callstack_passed(void)
{
	this_cpu_inc(counters.passed_through);
}

/* Not inline: gcc would keep a copy of each register on the stack besides. */
static noinline notrace void regs_load(struct kunwind_regs *to, const struct pt_regs *pt, u32 valid)
{
	kunwind_regs_load(to, pt, valid);
}

static __always_inline u32 budget_in(u32 context)
{
	if (context >= HARDIRQ_LEVEL)
		return kunwind_credit_take(KUNWIND_BUDGET_URGENT);
	return IS_ENABLED(CONFIG_PREEMPT_RT) || irqs_disabled() ? KUNWIND_BUDGET_URGENT :
								  KUNWIND_BUDGET;
}

/* By the answers and the budget that a walk has in this context. */
static noinline notrace enum kunwind_reason make_walk(struct kunwind_walk *walk, u32 context)
{
	const u8 interrupted = this_cpu_read(answering);
	enum kunwind_reason reason;

	this_cpu_write(answering, 1);
	barrier();
	if (!interrupted)
		walk->mem.answers = this_cpu_ptr(answers);
	walk->budget = budget_in(context);
	reason = unlikely(walk->i386) ? kunwind_walk_i386(walk) : kunwind_walk(walk);
	if (context >= HARDIRQ_LEVEL)
		kunwind_credit_return(walk->mem.left);
	barrier();
	this_cpu_write(answering, interrupted);
	return reason;
}

/*
 * Inline in both of its users, with @regs or NULL (then those of @pt): 150 bytes
 * of registers lie on the stack once only, and the stack may be that of an NMI.
 */
static __always_inline enum kunwind_reason
walk_space(struct kunwind_space *space, const struct pt_regs *pt, u32 valid,
	   const struct kunwind_regs *regs, unsigned long *store, u8 *trust, u32 capacity,
	   u32 *count)
{
	u32 context = interrupt_context_level();
	enum kunwind_reason reason;
	struct kunwind_walk walk kunwind_unset;

	*count = 0;
	preempt_disable_notrace();
	if (this_cpu_read(walking[context])) {
		reason = KUNWIND_NESTED;
		goto out_count;
	}
	this_cpu_write(walking[context], 1);
	barrier();

	walk.ranges = rcu_dereference_sched(space->ranges);
	walk.cache = this_cpu_ptr(caches);
	walk.recent = context ? NULL : this_cpu_ptr(recents);
	walk.mem = (struct kunwind_mem){ };
	if (regs)
		walk.regs = *regs;
	else
		kunwind_regs_load_frame(&walk.regs, pt, valid);
	walk.i386 = kunwind_regs_i386(pt);
	walk.addresses = store;
	walk.trust = trust;
	walk.capacity = capacity;
	walk.scan = trust || READ_ONCE(scan);
	walk.unread[0] = walk.unread[1] = 0;
	if (READ_ONCE(space->fresh)) {
		/* The program that exec installed did not run yet: it stands at its entry. */
		store[0] = walk.regs.r[KUNWIND_RA];
		walk.count = 1;
		reason = KUNWIND_COMPLETE;
	} else if (likely(walk.ranges)) {
		if (walk.recent && !walk.i386 && kunwind_walk_again(&walk)) {
			reason = KUNWIND_COMPLETE;
		} else {
			if (!regs)
				regs_load(&walk.regs, pt, valid);
			reason = make_walk(&walk, context);
		}
	} else {
		store[0] = walk.regs.r[KUNWIND_RA];
		walk.count = 1;
		reason = KUNWIND_NOT_READY;
	}
	*count = walk.count;
	if (unlikely(reason == KUNWIND_DEPTH) && !walk.mem.left)
		this_cpu_inc(counters.budget_spent);
	if (unlikely(reason == KUNWIND_UNREADABLE))
		kunwind_touch(walk.unread[0], walk.unread[1]);
	else if (unlikely(reason == KUNWIND_NOT_READY) && walk.ranges)
		kunwind_touch_part(walk.range, store[walk.count - 1] - (walk.count > 1));

	barrier();
	this_cpu_write(walking[context], 0);
	this_cpu_add(counters.frames, walk.count);
out_count:
	this_cpu_inc(counters.stacks);
	this_cpu_inc(counters.by_reason[reason]);
	preempt_enable_notrace();
	return reason;
}

enum kunwind_reason notrace
kunwind_callstack_walk_regs(struct kunwind_space *space, const struct kunwind_regs *regs,
			    unsigned long *store, u8 *trust, u32 capacity, u32 *count)
{
	return walk_space(space, task_pt_regs(current), 0, regs, store, trust, capacity, count);
}

enum kunwind_reason notrace
kunwind_callstack_walk(struct kunwind_space *space, const struct pt_regs *pt, u32 valid,
		       unsigned long *store, u8 *trust, u32 capacity, u32 *count)
{
	return walk_space(space, pt, valid, NULL, store, trust, capacity, count);
}

void kunwind_callstack_show_params(struct seq_file *m)
{
	u64 spent = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		spent += READ_ONCE(per_cpu_ptr(&counters, cpu)->budget_spent);
	seq_printf(m, "param\tscan\t%c\n", READ_ONCE(scan) ? 'Y' : 'N');
	seq_printf(m, "stat\tbudget_spent\t%llu\n", spent);
}

void kunwind_callstack_stats(struct kunwind_stats *stats)
{
	int cpu, i;

	BUILD_BUG_ON(KUNWIND_NR_REASONS > ARRAY_SIZE(stats->by_reason));
	for_each_possible_cpu(cpu) {
		const struct counters *c = per_cpu_ptr(&counters, cpu);

		stats->stacks += READ_ONCE(c->stacks);
		stats->frames += READ_ONCE(c->frames);
		stats->passed_through += READ_ONCE(c->passed_through);
		for (i = 0; i < KUNWIND_NR_REASONS; i++)
			stats->by_reason[i] += READ_ONCE(c->by_reason[i]);
	}
}

int kunwind_callstack_init(void)
{
	caches = alloc_percpu(struct kunwind_cache);
	recents = alloc_percpu(struct kunwind_recent);
	answers = alloc_percpu(struct kunwind_answers);
	if (caches && recents && answers)
		return 0;
	kunwind_callstack_exit();
	return -ENOMEM;
}

void kunwind_callstack_exit(void)
{
	free_percpu(caches);
	free_percpu(recents);
	free_percpu(answers);
}

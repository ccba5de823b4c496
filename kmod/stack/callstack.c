// SPDX-License-Identifier: GPL-2.0-only
/*
 * callstack.c - walk a task's user stack from its pt_regs
 *
 * Runs in any context, NMI included. A walk writes only to its own stack and to
 * memory of this CPU:
 *  - the cache of rules, 16 KB, of which each entry has a sequence number
 *    (core/walk/rule_cache.c);
 *  - the record of the previous walk, 4 KB, for walks in task context only
 *    (core/walk/replay.c);
 *  - the cache of code analyses, 22 KB, and the rules for code of JITs, 28 KB, for
 *    a walk that interrupts no other walk (core/nocfi/analysis_cache.c, jit_rule.c);
 *  - counters, each changed by one instruction.
 * A walk's read of user memory may raise a page fault, which is not served. A
 * probe of a tracepoint on the page-fault path may then request a stack. A flag
 * for each context of each CPU detects this, and the inner walk returns
 * KUNWIND_NESTED. In task context, this flag also protects the record of the
 * previous walk.
 *
 * With interrupts off, in softirqs, in hard interrupts and in NMIs, a walk has
 * a quarter of the budget (core/walk/mem.h), because neither a task nor another
 * softirq can run on this CPU during the walk. The average cost is also limited
 * there (interrupt_budget.c). On processors with IBT, LTTng turns interrupts off
 * around each user stack, for any event. On PREEMPT_RT, walks with interrupts on
 * have a quarter of the budget, too, because preemption is off during the walk.
 */
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>

#include "../arch/x86/regs.h"
#include "../base/enabled.h"
#include "../base/param.h"
#include "callstack.h"
#include "../compat/sched.h"
#include "../compat/uprobes.h"
#include "../core/walk/mem.h"
#include "interrupt_budget.h"
#include "../deps/kernel/original.h"
#include "fault_in.h"

static bool guess;
KUNWIND_PARAM_BOOL(guess, guess);
MODULE_PARM_DESC(guess, "include guessed frames in stacks of LTTng, perf and BPF (default N)");

struct walk_counters {
	u64 passed_through;
	struct {
		u64 frames;
		u64 by_reason[KUNWIND_NR_REASONS];
		u64 by_method[KUNWIND_NR_METHODS];	/* frames that CFI did not find */
	} of[KUNWIND_NR_CONSUMERS];
};

static DEFINE_PER_CPU(struct walk_counters, counters);
/* Flags for task, softirq, hardirq and NMI (interrupt_context_level()). */
#define HARDIRQ_LEVEL	2
static DEFINE_PER_CPU(u8 [4], walking);
/* A walk uses this CPU's answers. Walks that interrupt that walk use none. */
static DEFINE_PER_CPU(u8, answering);
static struct kunwind_rule_cache __percpu *caches;
static struct kunwind_analysis_cache __percpu *answers;	/* about code */
static struct kunwind_jit_rules __percpu *jit_rules;
static struct kunwind_replay __percpu *replays;

enum kunwind_reason notrace kunwind_callstack_excluded(const struct pt_regs *regs)
{
	if (!kunwind_allowed())
		return KUNWIND_DISABLED;
	/*
	 * Kernel threads and the workers of io_uring and vhost have no user
	 * registers, even if they use an mm. With PF_VCPU, the registers may be
	 * a guest's.
	 */
	if (current->flags & (PF_KTHREAD | KUNWIND_PF_WORKERS | PF_VCPU))
		return KUNWIND_KTHREAD;
	if (!kunwind_regs_64bit(regs) && !kunwind_regs_i386(regs))
		return KUNWIND_CODE_SEGMENT;
	return KUNWIND_COMPLETE;
}

bool notrace kunwind_callstack_guesses(void)
{
	return READ_ONCE(guess);
}

void notrace kunwind_callstack_passed(void)
{
	this_cpu_inc(counters.passed_through);
}

/* Not inline: gcc would keep a second copy of each register on the stack. */
static noinline notrace void regs_load(struct kunwind_regs *to, const struct pt_regs *pt, u32 valid,
				       const struct task_struct *task)
{
	kunwind_regs_load(to, pt, valid);
	to->r[KUNWIND_RA] = kunwind_uprobes_ip(task, pt->ip);
}

static __always_inline u32 budget_in(u32 context, bool urgent)
{
	if (context >= HARDIRQ_LEVEL)
		return kunwind_interrupt_budget_take(KUNWIND_BUDGET_URGENT);
	if (urgent)
		return kunwind_burst_budget_take(KUNWIND_BUDGET_URGENT);
	return IS_ENABLED(CONFIG_PREEMPT_RT) ? KUNWIND_BUDGET_URGENT : KUNWIND_BUDGET;
}

/*
 * Walks with the budget of this context. Uses the answers, unless a walk that
 * it interrupts uses them.
 */
static noinline notrace enum kunwind_reason make_walk(struct kunwind_walk *walk, u32 context)
{
	const u8 interrupted = this_cpu_read(answering);
	const bool urgent = context || irqs_disabled();
	enum kunwind_reason reason;

	this_cpu_write(answering, 1);
	barrier();
	if (!interrupted)
		walk->mem.answers = this_cpu_ptr(answers);
	walk->budget = budget_in(context, urgent);
	reason = unlikely(walk->i386) ? kunwind_walk_i386(walk) : kunwind_walk(walk);
	if (context >= HARDIRQ_LEVEL)
		kunwind_interrupt_budget_return(walk->mem.left);
	else if (urgent)
		kunwind_burst_budget_spend(walk->budget - walk->mem.left);
	barrier();
	this_cpu_write(answering, interrupted);
	return reason;
}

static noinline notrace void count_found(const struct kunwind_walk *walk,
					 enum kunwind_consumer consumer)
{
	u32 i;

	for (i = 0; i < KUNWIND_NR_METHODS; i++)
		if (walk->found[i])
			this_cpu_add(counters.of[consumer].by_method[i], walk->found[i]);
}

/* After an incomplete walk: leaves a request for what the walk missed. */
static noinline notrace void ask(const struct kunwind_walk *walk, enum kunwind_reason reason)
{
	if (reason == KUNWIND_UNREADABLE)
		kunwind_fault_in(walk->unread[0], walk->unread[1]);
	else if (reason == KUNWIND_NOT_READY)
		kunwind_fault_in_part(walk->range,
				      walk->addresses[walk->count - 1] - (walk->count > 1));
	else if (walk->mem.breakpoint && kunwind_reason_without_rule(reason))
		kunwind_fault_in_breakpoint(walk->ranges->id, walk->mem.breakpoint);
}

/*
 * The registers come from @regs, or from @pt if @regs is NULL. Inline in both
 * callers, so that 150 bytes of registers are on the stack only once: it may be
 * the NMI stack.
 */
static __always_inline enum kunwind_reason
walk_space(struct kunwind_space *space, const struct pt_regs *pt, u32 valid,
	   const struct kunwind_regs *regs, struct kunwind_request *request)
{
	const struct task_struct *task = unlikely(request->other) ? request->other->task : current;
	u32 context = interrupt_context_level();
	enum kunwind_reason reason;
	struct kunwind_walk walk kunwind_unset;

	request->count = 0;
	preempt_disable_notrace();
	if (this_cpu_read(walking[context])) {
		reason = KUNWIND_NESTED;
		goto out_count;
	}
	this_cpu_write(walking[context], 1);
	barrier();

	walk.ranges = rcu_dereference_sched(space->ranges);
	walk.cache = this_cpu_ptr(caches);
	walk.replay = context ? NULL : request->replay ?: this_cpu_ptr(replays);
	kunwind_mem_init(&walk.mem, task);
	if (regs)
		walk.regs = *regs;
	else
		kunwind_regs_load_frame(&walk.regs, pt, valid);
	walk.entry = KUNWIND_ENTRY_UNKNOWN;
	walk.i386 = kunwind_regs_i386(pt);
	walk.addresses = request->store;
	walk.capacity = request->capacity;
	walk.others = false;
	if (READ_ONCE(space->fresh) || unlikely(!walk.ranges)) {
		/* After exec the program has not run: it is at its entry. */
		walk.addresses[0] = walk.regs.r[KUNWIND_RA];
		walk.count = 1;
		reason = READ_ONCE(space->fresh) ? KUNWIND_COMPLETE : KUNWIND_NOT_READY;
	} else if (walk.replay && !walk.i386 && kunwind_replay_walk(&walk)) {
		reason = KUNWIND_COMPLETE;
	} else {
		if (!regs) {
			regs_load(&walk.regs, pt, valid, task);
			walk.entry = (long)pt->orig_ax == -1 ? KUNWIND_ENTRY_OTHER : KUNWIND_ENTRY_SYSCALL;
		}
		walk.trust = request->trust;
		walk.guess = request->trust || READ_ONCE(guess);
		walk.unread[0] = walk.unread[1] = 0;
		reason = make_walk(&walk, context);
		if (unlikely(request->other))
			memcpy(request->other->unread, walk.unread, sizeof(walk.unread));
		else if (unlikely(reason != KUNWIND_COMPLETE))
			ask(&walk, reason);
	}
	request->count = walk.count;

	barrier();
	this_cpu_write(walking[context], 0);
	this_cpu_add(counters.of[request->consumer].frames, walk.count);
	if (unlikely(walk.others))
		count_found(&walk, request->consumer);
out_count:
	this_cpu_inc(counters.of[request->consumer].by_reason[reason]);
	preempt_enable_notrace();
	return reason;
}

enum kunwind_reason notrace
kunwind_callstack_walk_regs(struct kunwind_space *space, const struct kunwind_regs *regs,
			    struct kunwind_request *request)
{
	return walk_space(space, task_pt_regs(current), 0, regs, request);
}

enum kunwind_reason notrace
kunwind_callstack_walk(struct kunwind_space *space, const struct pt_regs *pt, u32 valid,
		       struct kunwind_request *request)
{
	return walk_space(space, pt, valid, NULL, request);
}

bool notrace kunwind_callstack_replay(struct kunwind_space *space, const struct pt_regs *pt,
				      u32 valid, struct kunwind_replay *replay,
				      enum kunwind_consumer consumer, unsigned long *store,
				      u32 *count)
{
	struct kunwind_walk walk kunwind_unset;
	bool ok;

	walk.ranges = rcu_dereference_sched(space->ranges);
	if (!walk.ranges || READ_ONCE(space->fresh) || kunwind_regs_i386(pt) ||
	    this_cpu_read(walking[0]))
		return false;
	this_cpu_write(walking[0], 1);
	barrier();
	walk.replay = replay;
	kunwind_mem_init(&walk.mem, current);
	kunwind_regs_load_frame(&walk.regs, pt, valid);
	walk.addresses = store;
	walk.capacity = KUNWIND_REPLAY_FRAMES;
	ok = kunwind_replay_walk(&walk);
	barrier();
	this_cpu_write(walking[0], 0);
	if (!ok)
		return false;
	*count = walk.count;
	this_cpu_add(counters.of[consumer].frames, walk.count);
	this_cpu_inc(counters.of[consumer].by_reason[KUNWIND_COMPLETE]);
	return true;
}

void kunwind_callstack_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tguess\t%c\n", READ_ONCE(guess) ? 'Y' : 'N');
}

/* Adds up the counters of all CPUs for the consumer @of. */
static void sum_up(u32 of, u64 *frames, u64 *by_reason, u64 *by_trust)
{
	u64 found = 0, first = 0;
	int cpu;
	u32 i;

	*frames = 0;
	memset(by_reason, 0, KUNWIND_NR_REASONS * sizeof(*by_reason));
	memset(by_trust, 0, KUNWIND_NR_TRUSTS * sizeof(*by_trust));
	for_each_possible_cpu(cpu) {
		const struct walk_counters *c = per_cpu_ptr(&counters, cpu);

		*frames += READ_ONCE(c->of[of].frames);
		for (i = 0; i < KUNWIND_NR_REASONS; i++)
			by_reason[i] += READ_ONCE(c->of[of].by_reason[i]);
		for (i = 0; i < KUNWIND_NR_METHODS; i++)
			by_trust[kunwind_method_trust(i)] += READ_ONCE(c->of[of].by_method[i]);
	}
	/*
	 * Each stack except a nested one has a first frame, found from
	 * registers; a method of that trust has found no frame. CFI found the
	 * frames that nothing else found.
	 */
	by_trust[KUNWIND_TRUST_REGISTERS] = 0;
	for (i = 0; i < KUNWIND_NR_TRUSTS; i++)
		found += by_trust[i];
	for (i = 0; i < KUNWIND_NR_REASONS; i++)
		first += i == KUNWIND_NESTED ? 0 : by_reason[i];
	by_trust[KUNWIND_TRUST_REGISTERS] = first;
	found += first;
	by_trust[KUNWIND_TRUST_CFI] = *frames > found ? *frames - found : 0;
}

static void show_method(struct seq_file *m, u32 method)
{
	u64 steps = 0;
	int cpu;
	u32 of;

	for_each_possible_cpu(cpu)
		for (of = 0; of < KUNWIND_NR_CONSUMERS; of++)
			steps += READ_ONCE(per_cpu_ptr(&counters, cpu)->of[of].by_method[method]);
	seq_printf(m, "method\t%s\t%llu\n", kunwind_method_name(method), steps);
}

void kunwind_callstack_show(struct seq_file *m)
{
	static const char *const consumers[KUNWIND_NR_CONSUMERS] = {
		"tracers", "event", "ioctl", "sampler", "blocked",
	};
	u64 frames, by_reason[KUNWIND_NR_REASONS], by_trust[KUNWIND_NR_TRUSTS];
	u32 of, i;

	for (of = 0; of < KUNWIND_NR_CONSUMERS; of++) {
		sum_up(of, &frames, by_reason, by_trust);
		for (i = 0; i < KUNWIND_NR_REASONS; i++)
			if (by_reason[i])
				seq_printf(m, "stacks\t%s\t%s\t%llu\n", consumers[of],
					   kunwind_reason_name(i), by_reason[i]);
		for (i = 0; i < KUNWIND_NR_TRUSTS; i++)
			if (by_trust[i])
				seq_printf(m, "frames\t%s\t%s\t%llu\n", consumers[of],
					   kunwind_trust_name(i), by_trust[i]);
	}
	for (i = KUNWIND_BY_CFI + 1; i < KUNWIND_NR_METHODS; i++)
		show_method(m, i);
}

void kunwind_callstack_stats(struct kunwind_stats *stats)
{
	u64 frames, by_reason[KUNWIND_NR_REASONS], by_trust[KUNWIND_NR_TRUSTS];
	u32 of, i;
	int cpu;

	BUILD_BUG_ON(KUNWIND_NR_REASONS > ARRAY_SIZE(stats->by_reason));
	for_each_possible_cpu(cpu)
		stats->passed_through += READ_ONCE(per_cpu_ptr(&counters, cpu)->passed_through);
	for (of = 0; of < KUNWIND_NR_CONSUMERS; of++) {
		sum_up(of, &frames, by_reason, by_trust);
		stats->frames += frames;
		for (i = 0; i < KUNWIND_NR_REASONS; i++) {
			stats->by_reason[i] += by_reason[i];
			stats->stacks += by_reason[i];
		}
	}
}

int kunwind_callstack_init(void)
{
	int cpu;

	caches = alloc_percpu(struct kunwind_rule_cache);
	replays = alloc_percpu(struct kunwind_replay);
	answers = alloc_percpu(struct kunwind_analysis_cache);
	jit_rules = alloc_percpu(struct kunwind_jit_rules);
	kunwind_original_init();
	if (!caches || !replays || !answers || !jit_rules) {
		kunwind_callstack_exit();
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		per_cpu_ptr(answers, cpu)->jit = per_cpu_ptr(jit_rules, cpu);
	return 0;
}

void kunwind_callstack_exit(void)
{
	free_percpu(caches);
	free_percpu(replays);
	free_percpu(answers);
	free_percpu(jit_rules);
}

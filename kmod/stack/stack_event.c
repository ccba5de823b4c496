// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_event.c - emit the trace event kunwind_callstack, with the whole stack
 *
 * While the event is on, the first request for a user stack in a kernel entry
 * (by LTTng's context, perf, BPF or ftrace) causes a walk of the whole stack:
 * up to 4,096 frames, with the trust of each, into memory of this CPU and
 * context. The event is emitted at once, so it precedes the event for which the
 * tracer requested the stack. The tracer gets the first addresses of the same
 * walk. If the module parameter callstack_syscalls is set, each system call of
 * a registered process emits the event, even without a request.
 *
 * A mark, which is a hash of the task and its user registers, distinguishes
 * kernel entries. A probe of sys_enter, the first of all probes there, clears
 * the task's mark when a system call begins. Other entries (interrupts, faults)
 * are distinguished by the registers alone: two of them in a row with the same
 * registers count as one, for example in an endless loop. Two tasks may share
 * one place for their marks. Then the event may come twice for one entry, but
 * is never missing for that reason. A walk in an interrupt or NMI has a smaller
 * budget, and knows fewer registers. If it ends early, the first request in task
 * context emits the event again.
 *
 * The probe also gives each system call a number (stack_context.c).
 *
 * kunwind_stack_event() runs in any context, NMI included; the probe runs when
 * a system call begins. Neither sleeps. emitter.c makes and frees the memory,
 * and registers the probe.
 */
#include <linux/bits.h>
#include <linux/jhash.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <asm/syscall.h>
#include <trace/events/syscalls.h>

#include "../base/param.h"
#include "callstack.h"
#include "stack_event.h"
#include "../trace/emitter.h"
#include "../trace/stack_ids.h"

static bool callstack_syscalls;
KUNWIND_PARAM_BOOL(callstack_syscalls, callstack_syscalls);
MODULE_PARM_DESC(callstack_syscalls,
		 "emit kunwind_callstack, when it is on, at every system call too (default N)");

static DEFINE_PER_CPU(u64, emitted);

/* A system call's number, never 0: a counter of its CPU above, the CPU below. */
static DEFINE_PER_CPU(u64, calls);
#define CALL_CPU_BITS	16

/* Bit of a mark: an interrupt or NMI emitted the event, and its stack ended early. */
#define MARK_EARLY	BIT_ULL(1)

/*
 * Returns a hash of the task and of all user registers except rax, which the
 * end of a system call changes. Never 0, and without MARK_EARLY.
 */
static u64 notrace mark_of(const struct pt_regs *regs)
{
	const u32 *words = (const u32 *)regs;
	const u32 ax = offsetof(struct pt_regs, ax) / sizeof(u32);
	const u32 rest = ax + sizeof(regs->ax) / sizeof(u32);
	u32 seed = (u32)current->start_time;
	u32 low = jhash2(words, ax, seed);

	return ((u64)jhash2(words + rest, sizeof(*regs) / sizeof(u32) - rest,
			    low ^ (u32)current->pid) << 32 | low | 1) & ~MARK_EARLY;
}

static u64 notrace *mark_place(struct kunwind_emitter *emitter)
{
	return &emitter->mark[kunwind_task_place()];
}

/* Has the event of the kernel entry @mark been emitted, as well as @context can? */
static bool notrace emitted_already(struct kunwind_emitter *emitter, u64 mark, u32 context)
{
	const u64 last = READ_ONCE(*mark_place(emitter));

	return last == mark || (context && last == (mark | MARK_EARLY));
}

void notrace kunwind_stack_event_walk(struct kunwind_scratch *scratch, struct kunwind_space *space,
				      const struct pt_regs *regs, u32 valid,
				      struct kunwind_replay *replay, struct kunwind_stack *stack)
{
	struct kunwind_request request = {
		.consumer = KUNWIND_FOR_EVENT, .store = scratch->addresses, .trust = scratch->trust,
		.capacity = replay ? KUNWIND_REPLAY_FRAMES : KUNWIND_MAX_FRAMES, .replay = replay,
	};

	stack->reason = kunwind_callstack_walk(space, regs, valid, &request);
	if (stack->reason == KUNWIND_BUFFER_FULL && replay) {
		request.capacity = KUNWIND_MAX_FRAMES;
		stack->reason = kunwind_callstack_walk(space, regs, valid, &request);
	}
	stack->count = request.count;
	stack->addresses = scratch->addresses;
	stack->trust = scratch->trust;
	stack->tgid = current->tgid;
	stack->tid = current->pid;
	stack->syscall = syscall_get_nr(current, (struct pt_regs *)regs);
	memcpy(stack->comm, current->comm, sizeof(stack->comm));
}

void notrace kunwind_stack_event_done(struct kunwind_scratch *scratch, const struct kunwind_stack *stack)
{
	/* The walk may also have set the byte after the last frame's. */
	memset(scratch->trust + 1, KUNWIND_TRUST_CFI,
	       min_t(u32, stack->count, KUNWIND_MAX_FRAMES - 1));
}

static notrace void emit(struct kunwind_emitter *emitter, struct kunwind_stack *stack)
{
	u32 first, nr;

	if (trace_kunwind_callstack_whole_enabled()) {
		kunwind_stack_ids_number(emitter->cpu[smp_processor_id()].ids, stack);
		trace_kunwind_callstack_whole(stack);
	}
	if (!trace_kunwind_callstack_enabled())
		return;
	for (first = 0; first < stack->count; first += nr) {
		nr = min_t(u32, stack->count - first, KUNWIND_STACK_PART);
		trace_kunwind_callstack(stack, first, nr);
	}
}

/*
 * Returns how many of the @count addresses a tracer gets: with the parameter
 * "guess", all; otherwise those before the first guessed frame.
 */
static notrace u32 proved(const struct kunwind_scratch *scratch, u32 count)
{
	u32 i;

	if (kunwind_callstack_guesses())
		return count;
	for (i = 0; i < count; i++)
		if (kunwind_trust_is_guess(scratch->trust[i]))
			break;
	return i;
}

bool notrace kunwind_stack_event(struct kunwind_space *space, const struct pt_regs *regs, u32 valid,
				 unsigned long *store, u32 size, u32 *count)
{
	const u32 context = interrupt_context_level();
	struct kunwind_stack stack;
	struct kunwind_scratch *scratch;
	struct kunwind_emitter *now;
	bool done = false;
	u64 mark;

	preempt_disable_notrace();
	now = rcu_dereference_sched(kunwind_emitter);
	if (!now)
		goto out;
	scratch = &now->cpu[smp_processor_id()].scratch[context];
	mark = mark_of(regs);
	/*
	 * Busy: a probe of this event, or of a page fault of the walk, requests
	 * a stack.
	 */
	if (READ_ONCE(scratch->busy) || emitted_already(now, mark, context))
		goto out;
	WRITE_ONCE(scratch->busy, true);
	barrier();
	kunwind_stack_event_walk(scratch, space, regs, valid, NULL, &stack);
	if (stack.count) {
		*count = min(proved(scratch, stack.count), size);
		memcpy(store, scratch->addresses, *count * sizeof(*store));
		if (context && stack.reason != KUNWIND_COMPLETE)
			mark |= MARK_EARLY;
		WRITE_ONCE(*mark_place(now), mark);
		this_cpu_inc(emitted);
		emit(now, &stack);
		kunwind_stack_event_done(scratch, &stack);
		done = true;
	}
	barrier();
	WRITE_ONCE(scratch->busy, false);
out:
	preempt_enable_notrace();
	return done;
}

static notrace void on_sys_enter(void *data, struct pt_regs *regs, long id)
{
	struct kunwind_space *space;
	struct kunwind_emitter *now;
	u32 count;

	preempt_disable_notrace();
	now = rcu_dereference_sched(kunwind_emitter);
	if (now) {
		WRITE_ONCE(*mark_place(now), 0);
		WRITE_ONCE(now->call[kunwind_task_place()],
			   this_cpu_inc_return(calls) << CALL_CPU_BITS | smp_processor_id());
	}
	if (now && READ_ONCE(callstack_syscalls) &&
	    kunwind_callstack_excluded(regs) == KUNWIND_COMPLETE) {
		space = kunwind_space_find(current->mm);
		if (space)
			kunwind_stack_event(space, regs, KUNWIND_ALL_REGS, NULL, 0, &count);
	}
	preempt_enable_notrace();
}

void kunwind_stack_event_show(struct seq_file *m)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&emitted, cpu));
	seq_printf(m, "param\tcallstack_syscalls\t%c\n", READ_ONCE(callstack_syscalls) ? 'Y' : 'N');
	seq_printf(m, "stat\temitted\t%llu\n", sum);
}

void kunwind_stack_event_init(void)
{
	check_trace_callback_type_sys_enter(on_sys_enter);
	BUILD_BUG_ON(NR_CPUS > 1 << CALL_CPU_BITS);
	kunwind_emitter_init(on_sys_enter);
}

void kunwind_stack_event_exit(void)
{
	kunwind_emitter_exit();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * emit.c - the trace event kunwind_callstack: whole stacks
 *
 * While the event is on, the first request for a user stack in a kernel entry
 * (by LTTng's context, perf, BPF or ftrace) causes a walk of the whole stack:
 * up to 4,096 frames, with the trust of each, into memory of this CPU and
 * context. The event is emitted at once, so it precedes the event that
 * requested the stack. The tracer that made the request gets the first
 * addresses of the same walk. If the module parameter callstack_syscalls is
 * set, each system call of a registered process emits the event, even without a
 * request.
 *
 * Kernel entries are distinguished by a mark, a hash of the task and its user
 * registers. A probe of sys_enter, the first of all probes there, clears the
 * task's mark when a system call begins. Other entries (interrupts, faults) are
 * distinguished by the registers alone: two of them in a row with the same
 * registers count as one, for example in an endless loop. Two tasks may share
 * one place for their marks. Then the event may come twice for one entry, but
 * is never missing for that reason.
 *
 * kunwind_emit() runs in any context, NMI included; the probe runs when a
 * system call begins. Neither sleeps. The functions that turn the event on and
 * off, the work item and kunwind_emit_exit() may sleep.
 *
 * Memory, while the event is on: 36 KB for each of four contexts of each CPU,
 * and 8 KB. The task that turns the event on allocates it, and gets -ENOMEM if
 * that fails. The probe cannot be registered there, because the lock of the
 * tracepoints is held; a work item registers it some milliseconds later. The
 * same work item removes the probe and frees the memory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <asm/syscall.h>
#include <trace/events/syscalls.h>

#include "callstack.h"
#include "emit.h"
#include "../base/hook.h"

#define CONTEXTS	4	/* interrupt_context_level(): task, softirq, hardirq, NMI */
#define MARK_BITS	10

static bool callstack_syscalls;
module_param(callstack_syscalls, bool, 0644);
MODULE_PARM_DESC(callstack_syscalls,
		 "emit kunwind_callstack, when it is on, at every system call too (default N)");

struct scratch {
	bool busy;
	u8 trust[KUNWIND_MAX_FRAMES];		/* between uses CFI, except trust[0] */
	unsigned long addresses[KUNWIND_MAX_FRAMES];
};

struct emitter {
	u64 mark[1 << MARK_BITS];
	struct scratch *scratch[];		/* CONTEXTS of each possible CPU */
};

static struct emitter __rcu *emitter;
static DEFINE_MUTEX(emit_lock);			/* taken inside the tracepoints' lock; protects */
static unsigned int users;			/* emitter, users and closed */
static bool closed;

static void settle(struct work_struct *work);
static DECLARE_WORK(settle_work, settle);
static struct tracepoint *sys_enter;		/* set by init; only the work uses it and probing */
static bool probing;

static DEFINE_PER_CPU(u64, emitted);

static void emitter_free(struct emitter *emitter)
{
	int cpu;

	if (!emitter)
		return;
	for_each_possible_cpu(cpu)
		kvfree(emitter->scratch[cpu]);
	kvfree(emitter);
}

static struct emitter *emitter_alloc(void)
{
	struct emitter *new = kvzalloc(struct_size(new, scratch, nr_cpu_ids), GFP_KERNEL);
	int cpu, i;

	if (!new)
		return NULL;
	for_each_possible_cpu(cpu) {
		new->scratch[cpu] = kvzalloc_node(CONTEXTS * sizeof(struct scratch), GFP_KERNEL,
						  cpu_to_node(cpu));
		if (!new->scratch[cpu]) {
			emitter_free(new);
			return NULL;
		}
		for (i = 0; i < CONTEXTS; i++) {
			memset(new->scratch[cpu][i].trust, KUNWIND_TRUST_CFI, KUNWIND_MAX_FRAMES);
			new->scratch[cpu][i].trust[0] = KUNWIND_TRUST_REGISTERS;
		}
	}
	return new;
}

/*
 * Returns a hash of the task and of all user registers except rax, which the
 * end of a system call changes. Never 0.
 */
static u64 notrace mark_of(const struct pt_regs *regs)
{
	const u32 *words = (const u32 *)regs;
	const u32 ax = offsetof(struct pt_regs, ax) / sizeof(u32);
	const u32 behind = ax + sizeof(regs->ax) / sizeof(u32);
	u32 seed = (u32)current->start_time;
	u32 low = jhash2(words, ax, seed);

	return (u64)jhash2(words + behind, sizeof(*regs) / sizeof(u32) - behind, low) << 32 |
	       (low ^ (u32)current->pid) | 1;
}

static u64 notrace *mark_place(struct emitter *emitter)
{
	return &emitter->mark[hash_ptr(current, MARK_BITS)];
}

static notrace void emit(const struct kunwind_stack *stack)
{
	u32 first, nr;

	trace_kunwind_callstack_whole(stack);
	if (!trace_kunwind_callstack_enabled())
		return;
	for (first = 0; first < stack->count; first += nr) {
		nr = min_t(u32, stack->count - first, KUNWIND_STACK_PART);
		trace_kunwind_callstack(stack, first, nr);
	}
}

/*
 * Returns how many of the @count addresses a tracer gets: without the parameter
 * "guess", those before the first guessed frame.
 */
static notrace u32 proved(const struct scratch *scratch, u32 count)
{
	u32 i;

	if (kunwind_callstack_guesses())
		return count;
	for (i = 0; i < count; i++)
		if (kunwind_trust_is_guess(scratch->trust[i]))
			break;
	return i;
}

bool notrace kunwind_emit(struct kunwind_space *space, const struct pt_regs *regs, u32 valid,
			  unsigned long *store, u32 size, u32 *count)
{
	struct kunwind_request request;
	struct kunwind_stack stack;
	struct scratch *scratch;
	struct emitter *now;
	bool done = false;
	u64 mark;

	preempt_disable_notrace();
	now = rcu_dereference_sched(emitter);
	if (!now)
		goto out;
	scratch = &now->scratch[smp_processor_id()][interrupt_context_level()];
	mark = mark_of(regs);
	/* Busy: a probe of the event, or of a page fault, requests a stack. */
	if (READ_ONCE(scratch->busy) || READ_ONCE(*mark_place(now)) == mark)
		goto out;
	WRITE_ONCE(scratch->busy, true);
	barrier();
	request = (struct kunwind_request){
		.consumer = KUNWIND_FOR_EVENT, .store = scratch->addresses,
		.trust = scratch->trust, .capacity = KUNWIND_MAX_FRAMES,
	};
	stack.reason = kunwind_callstack_walk(space, regs, valid, &request);
	stack.count = request.count;
	if (stack.count) {
		*count = min(proved(scratch, stack.count), size);
		memcpy(store, scratch->addresses, *count * sizeof(*store));
		stack.addresses = scratch->addresses;
		stack.trust = scratch->trust;
		stack.tgid = current->tgid;
		stack.tid = current->pid;
		stack.syscall = syscall_get_nr(current, (struct pt_regs *)regs);
		WRITE_ONCE(*mark_place(now), mark);
		this_cpu_inc(emitted);
		emit(&stack);
		/* One byte more than frames: the walk may have set it, too. */
		memset(scratch->trust + 1, KUNWIND_TRUST_CFI,
		       min_t(u32, stack.count, KUNWIND_MAX_FRAMES - 1));
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
	struct emitter *now;
	u32 count;

	preempt_disable_notrace();
	now = rcu_dereference_sched(emitter);
	if (now)
		WRITE_ONCE(*mark_place(now), 0);
	if (now && READ_ONCE(callstack_syscalls) &&
	    kunwind_callstack_excluded(regs) == KUNWIND_COMPLETE) {
		space = kunwind_space_find(current->mm);
		if (space)
			kunwind_emit(space, regs, KUNWIND_ALL_REGS, NULL, 0, &count);
	}
	preempt_enable_notrace();
}

/* Registers the probe, or removes it and frees the memory, as users says. */
static void settle(struct work_struct *work)
{
	struct emitter *old = NULL;
	bool wanted;
	int err;

	mutex_lock(&emit_lock);
	wanted = users && !closed;
	mutex_unlock(&emit_lock);
	check_trace_callback_type_sys_enter(on_sys_enter);
	if (wanted && !probing && sys_enter) {
		/* Runs first: other probes' requests are of the new entry. */
		err = tracepoint_probe_register_prio(sys_enter, on_sys_enter, NULL, INT_MAX);
		if (err)
			pr_notice("kunwind_callstack: no probe of system calls: error %d\n", err);
		probing = !err;
	} else if (!wanted && probing) {
		tracepoint_probe_unregister(sys_enter, on_sys_enter, NULL);
		probing = false;
	}
	if (wanted)
		return;
	mutex_lock(&emit_lock);
	if (!users || closed) {
		old = rcu_dereference_protected(emitter, lockdep_is_held(&emit_lock));
		RCU_INIT_POINTER(emitter, NULL);
	}
	mutex_unlock(&emit_lock);
	/* Wait for the event's callers (preemption off) and for the probe's. */
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	emitter_free(old);
}

/*
 * Called by both tracepoints, with their lock held, before the first probe is
 * registered. 0, -ENODEV (the module is being unloaded) or -ENOMEM. May sleep.
 */
int kunwind_emit_begin(void)
{
	struct emitter *new;
	int err = 0;

	mutex_lock(&emit_lock);
	if (closed) {
		err = -ENODEV;
	} else if (!rcu_access_pointer(emitter)) {
		new = emitter_alloc();
		rcu_assign_pointer(emitter, new);
		err = new ? 0 : -ENOMEM;
	}
	if (!err) {
		users++;
		schedule_work(&settle_work);
	}
	mutex_unlock(&emit_lock);
	return err;
}

void kunwind_emit_end(void)
{
	mutex_lock(&emit_lock);
	users--;
	/* A module's events are turned off after its exit function. */
	if (!users && !closed)
		schedule_work(&settle_work);
	mutex_unlock(&emit_lock);
}

void kunwind_emit_show(struct seq_file *m)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&emitted, cpu));
	seq_printf(m, "param\tcallstack_syscalls\t%c\n", READ_ONCE(callstack_syscalls) ? 'Y' : 'N');
	seq_printf(m, "stat\temitted\t%llu\n", sum);
}

void kunwind_emit_init(void)
{
	sys_enter = kunwind_tracepoint_find("sys_enter");
	mutex_lock(&emit_lock);
	/* The event can be on before: the work may have run without sys_enter. */
	if (users)
		schedule_work(&settle_work);
	mutex_unlock(&emit_lock);
}

void kunwind_emit_exit(void)
{
	mutex_lock(&emit_lock);
	closed = true;
	mutex_unlock(&emit_lock);
	schedule_work(&settle_work);
	flush_work(&settle_work);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_context.c - give events of LTTng the id of their user stack
 *
 * LTTng's context callstack-user copies the whole stack into each event. This file
 * makes an event 8 bytes longer instead: by the id that kunwind_callstack gives the
 * stack (trace/stack_ids.c). That event is emitted only when it defines an id.
 *
 * LTTng cannot be extended by contexts of other modules. But it has a context for
 * counters of perf: each event that is recorded reads a counter of its CPU. So this
 * file makes a PMU, named "kunwind", whose counter has as its value the id of the
 * current task's stack, and the thread's number. Events that a filter rejects do not
 * read it. The definition comes after the event in time, because LTTng reads the
 * counter while it writes the event. With config=1, the value is the id of the kernel
 * stack (kernel_context.c).
 *
 * Within one system call the stack is walked once. A probe of sys_enter gives each
 * call a number (stack_event.c). The id is used again if the call has the same number,
 * all user registers are the same (a signal, exec and ptrace change them), the walk was
 * complete, and this CPU's stream has the definition. Calls of tasks with seccomp,
 * system call tracing or user dispatch may end without sys_enter, so they have no
 * number. Otherwise, and in interrupts and faults, each event walks. Each CPU has
 * notes of 32 walks (core/walk/replay.c), found by a hash of rip and rsp. If a note's
 * inputs are unchanged, its stack has the id that it got last.
 *
 * There is no stack of a kernel thread, of a process that is not registered, and if
 * kunwind_callstack is off.
 *
 * Any context, NMI included. Only those who may use perf without limits can open
 * the counter.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/capability.h>
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/thread_info.h>
#include <linux/threads.h>
#include <asm/syscall.h>

#include "../arch/x86/regs.h"
#include "callstack.h"
#include "kernel_context.h"
#include "stack_context.h"
#include "stack_event.h"
#include "valid_regs.h"
#include "../trace/stack_ids.h"

/*
 * The value has the thread's number below. Above it are the lower bits of the id,
 * because the CPU, which the other bits are, is that of the event. Or, without a
 * stack, this bit and the process's number. Programs that read traces know it, too
 * (tools/own_events.h).
 */
#define TID_BITS	22
#define NO_STACK	BIT_ULL(63 - TID_BITS)

/* Value of config: the counter is that of the kernel stack, and not of the user stack. */
#define KERNEL_STACK	1

static bool registered;

/* Registers before rax in struct pt_regs. */
#define BEFORE_AX	(offsetof(struct pt_regs, ax) / sizeof(unsigned long))

/* Returns the registers of a system call that are the same at its end, except rax. */
static notrace bool same_regs(const unsigned long *kept, const struct pt_regs *regs)
{
	const unsigned long *now = (const unsigned long *)regs;
	unsigned long changed = 0;
	u32 i;

#pragma GCC unroll 10
	for (i = 0; i < BEFORE_AX; i++)
		changed |= kept[i] ^ now[i];
#pragma GCC unroll 10
	for (i = BEFORE_AX; i < KUNWIND_CALL_REGS; i++)
		changed |= kept[i] ^ now[i + 1];
	return !changed;
}

/* Returns whether the id is one of the current task, and needs no new definition. */
static notrace bool is_owner(const struct kunwind_stack_owner *owner,
			     const struct kunwind_stack_ids *ids)
{
	const u64 *name = (const u64 *)current->comm;

	return owner->tid == current->pid && owner->born == current->start_time &&
	       owner->comm[0] == name[0] && owner->comm[1] == name[1] &&
	       kunwind_stack_ids_defined(ids, owner->slot, owner->id);
}

/*
 * An interrupt of this CPU may do the same for the same task meanwhile, in the same
 * system call: what it writes is equal, or as good.
 */
static notrace void remember(struct kunwind_known_stack *known, u64 call,
			     const struct kunwind_stack_owner *owner, const struct pt_regs *regs)
{
	const unsigned long *now = (const unsigned long *)regs;
	u32 i;

	WRITE_ONCE(known->call, 0);
	barrier();
	known->owner = *owner;
#pragma GCC unroll 10
	for (i = 0; i < BEFORE_AX; i++)
		known->regs[i] = now[i];
#pragma GCC unroll 10
	for (i = BEFORE_AX; i < KUNWIND_CALL_REGS; i++)
		known->regs[i] = now[i + 1];
	barrier();
	WRITE_ONCE(known->call, call);
}

/* Returns the note of a walk that began at the same place, or one to use for this walk. */
static notrace struct kunwind_stack_note *find_note(struct kunwind_note_set *sets,
						    const struct pt_regs *regs)
{
	const u64 hash = (regs->ip ^ regs->sp << 20) * GOLDEN_RATIO_64;
	struct kunwind_note_set *set = &sets[hash >> (64 - KUNWIND_NOTE_BITS)];
	const u32 key = hash >> 24;
	u32 way;

	for (way = 0; way < KUNWIND_NOTE_WAYS; way++)
		if (set->key[way] == key)
			return &set->note[way];
	way = set->next++ % KUNWIND_NOTE_WAYS;
	set->key[way] = key;
	set->note[way].owner.slot = KUNWIND_NO_SLOT;
	set->note[way].deep = false;
	return &set->note[way];
}

/* Is the noted walk that of this stack? A walk may leave a note as it was. */
static notrace bool is_noted(const struct kunwind_replay *replay, const struct kunwind_stack *stack)
{
	return replay->id && replay->count == stack->count && replay->ip == stack->addresses[0] &&
	       !memcmp(replay->address + 1, stack->addresses + 1,
		       (stack->count - 1) * sizeof(*stack->addresses));
}

/*
 * Walks, gives the stack an id, and emits its definition if one is needed. Sets @owner,
 * and that of the @note of the walk, which may be NULL. Returns why the stack ended.
 */
static notrace enum kunwind_reason walk(struct kunwind_scratch *scratch,
					struct kunwind_stack_ids *ids, struct kunwind_space *space,
					const struct pt_regs *regs, struct kunwind_stack_note *note,
					struct kunwind_stack_owner *owner)
{
	struct kunwind_stack stack;

	kunwind_stack_event_walk(scratch, space, regs, kunwind_valid_regs(regs),
				 note && !note->deep ? &note->replay : NULL, &stack);
	owner->id = 0;
	if (!stack.count)
		return stack.reason;
	owner->slot = kunwind_stack_ids_define(ids, &stack);
	owner->id = stack.id;
	owner->born = current->start_time;
	owner->tid = stack.tid;
	memcpy(owner->comm, stack.comm, sizeof(owner->comm));
	if (note) {
		note->owner = *owner;
		note->syscall = stack.syscall;
		note->deep = stack.count > KUNWIND_REPLAY_FRAMES;
		if (!is_noted(&note->replay, &stack))
			note->owner.slot = KUNWIND_NO_SLOT;
	}
	if (stack.inner)
		trace_kunwind_callstack_whole(&stack);
	kunwind_stack_event_done(scratch, &stack);
	return stack.reason;
}

/* Returns whether the noted walk is also that of the current stack, and its id can be used. */
static notrace bool is_again(struct kunwind_scratch *scratch, struct kunwind_stack_ids *ids,
			     struct kunwind_space *space, const struct pt_regs *regs,
			     struct kunwind_stack_note *note)
{
	u32 count;

	return note->syscall == syscall_get_nr(current, (struct pt_regs *)regs) &&
	       is_owner(&note->owner, ids) &&
	       kunwind_callstack_replay(space, regs, kunwind_valid_regs(regs), &note->replay,
					KUNWIND_FOR_EVENT, scratch->addresses, &count);
}

/*
 * Returns the id of the current task's stack, which is not known yet, or 0. @call: as
 * call_of() returns it.
 */
static notrace u64 find_id(struct kunwind_emitter *now, u32 cpu, struct kunwind_space *space,
			   const struct pt_regs *regs, struct kunwind_known_stack *known, u64 call)
{
	const u32 context = interrupt_context_level();
	struct kunwind_scratch *scratch = &now->cpu[cpu].scratch[context];
	struct kunwind_stack_ids *ids = now->cpu[cpu].ids;
	struct kunwind_stack_owner owner, *found = &owner;
	struct kunwind_stack_note *note = NULL;

	/* Busy: a probe of kunwind_callstack, or of a page fault of the walk. */
	if (READ_ONCE(scratch->busy))
		return 0;
	WRITE_ONCE(scratch->busy, true);
	barrier();
	if (!context && !kunwind_regs_i386(regs))
		note = find_note(now->cpu[cpu].notes, regs);
	if (note && is_again(scratch, ids, space, regs, note))
		found = &note->owner;
	else if (walk(scratch, ids, space, regs, note, &owner) != KUNWIND_COMPLETE)
		call = 0;
	if (call)
		remember(known, call, found, regs);
	barrier();
	WRITE_ONCE(scratch->busy, false);
	return found->id;
}

/*
 * Returns the number of the system call that the current task is in; 0: none, or it is
 * not known, because the call may have passed by the probe of sys_enter. In interrupts
 * and faults, orig_ax is -1.
 */
static notrace u64 call_of(const struct kunwind_emitter *now, u32 place,
			   const struct pt_regs *regs)
{
	const unsigned long usual = SYSCALL_WORK_SYSCALL_TRACEPOINT | SYSCALL_WORK_SYSCALL_AUDIT;

	if ((long)regs->orig_ax == -1 || !READ_ONCE(now->probing) ||
	    READ_ONCE(current_thread_info()->syscall_work) & ~usual)
		return 0;
	return READ_ONCE(now->call[place]);
}

/* Returns the id of the current task's stack, or 0. Preemption is off. */
static notrace u64 stack_id(void)
{
	const u32 cpu = smp_processor_id(), place = kunwind_task_place();
	const struct pt_regs *regs = task_pt_regs(current);
	struct kunwind_emitter *now = rcu_dereference_sched(kunwind_emitter);
	struct kunwind_known_stack *known;
	struct kunwind_space *space;
	u64 call;

	if (!now || !trace_kunwind_callstack_whole_enabled() ||
	    kunwind_callstack_excluded(regs) != KUNWIND_COMPLETE)
		return 0;
	call = call_of(now, place, regs);
	known = &now->cpu[cpu].known[place >> (KUNWIND_MARK_BITS - KUNWIND_KNOWN_BITS)];
	if (call && known->call == call && is_owner(&known->owner, now->cpu[cpu].ids) &&
	    same_regs(known->regs, regs))
		return known->owner.id;
	space = kunwind_space_find(current->mm);
	return space ? find_id(now, cpu, space, regs, known, call) : 0;
}

static notrace u64 thread_and_stack(void)
{
	u64 id = stack_id() & KUNWIND_STACK_ID_MASK;

	if (!id)
		id = NO_STACK | (u32)current->tgid;
	return id << TID_BITS | (u32)current->pid;
}

static notrace void read_id(struct perf_event *event)
{
	preempt_disable_notrace();
	local64_set(&event->count, event->attr.config == KERNEL_STACK ? kunwind_kernel_context_id() :
									thread_and_stack());
	preempt_enable_notrace();
}

static void event_destroy(struct perf_event *event)
{
	kunwind_kernel_context_put();
}

static int event_init(struct perf_event *event)
{
	int err;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (!perfmon_capable())
		return -EACCES;
	if (event->cpu < 0 || event->attr.config > KERNEL_STACK || is_sampling_event(event))
		return -EINVAL;
	if (event->attr.config != KERNEL_STACK)
		return 0;
	err = kunwind_kernel_context_get();
	if (!err)
		event->destroy = event_destroy;
	return err;
}

/* A counter that is only read needs no work to begin and to end. */
static int event_add(struct perf_event *event, int flags)
{
	return 0;
}

static void event_del(struct perf_event *event, int flags)
{
}

static void event_start(struct perf_event *event, int flags)
{
}

static struct pmu pmu = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.capabilities = PERF_PMU_CAP_NO_EXCLUDE | PERF_PMU_CAP_NO_INTERRUPT,
	.event_init = event_init,
	.add = event_add,
	.del = event_del,
	.start = event_start,
	.stop = event_del,
	.read = read_id,
};

void kunwind_stack_context_init(void)
{
	int err;

	BUILD_BUG_ON(PID_MAX_LIMIT > 1 << TID_BITS);
	BUILD_BUG_ON(sizeof(struct pt_regs) != (KUNWIND_CALL_REGS + 1) * sizeof(unsigned long));
	err = perf_pmu_register(&pmu, "kunwind", -1);
	registered = !err;
	if (err)
		pr_notice("no counter of perf for ids of stacks: error %d\n", err);
}

void kunwind_stack_context_exit(void)
{
	if (registered)
		perf_pmu_unregister(&pmu);
	registered = false;
}

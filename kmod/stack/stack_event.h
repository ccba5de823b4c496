/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_event.h - emit the trace event kunwind_callstack, with the whole stack
 */
#ifndef _KUNWIND_STACK_EVENT_H
#define _KUNWIND_STACK_EVENT_H

#include <linux/hash.h>
#include <linux/sched.h>

#include "../space/space.h"
#include "../trace/emitter.h"
#include "../trace/kunwind_events.h"

struct kunwind_stack;
struct pt_regs;
struct seq_file;

void kunwind_stack_event_init(void);
/*
 * May sleep. Call it when the takeover's hooks are removed. On return no probe
 * of system calls is left, and the memory of the event is freed.
 */
void kunwind_stack_event_exit(void);

/*
 * Returns whether the event is on. Cost: one patched branch for each
 * tracepoint.
 */
static __always_inline bool kunwind_stack_event_wanted(void)
{
	return trace_kunwind_callstack_enabled() || trace_kunwind_callstack_whole_enabled();
}

/**
 * kunwind_stack_event() - emit the current task's stack, once for each kernel
 * entry
 * @space, @regs, @valid: as for kunwind_callstack_walk(), which it calls
 * @store: out: the addresses that such a walk finds for a tracer
 * @size: most addresses in @store; may be 0
 * @count: out: addresses in @store
 * Any context, NMI included. notrace.
 * Return: false: nothing was emitted, and @store and @count are unchanged.
 */
bool kunwind_stack_event(struct kunwind_space *space, const struct pt_regs *regs, u32 valid,
			 unsigned long *store, u32 size, u32 *count);

/* The current task's place in the arrays of the emitter. Several tasks may share it. */
static __always_inline u32 kunwind_task_place(void)
{
	return hash_ptr(current, KUNWIND_MARK_BITS);
}

/*
 * Walks the whole stack of the current task to @scratch, and sets the members of @stack
 * before ->id. @replay: as in struct kunwind_request; walks of more than
 * KUNWIND_REPLAY_FRAMES are made twice then. The caller has set ->busy. After
 * the last use of the stack, if it has frames, kunwind_stack_event_done() prepares
 * @scratch for the next one. notrace.
 */
void kunwind_stack_event_walk(struct kunwind_scratch *scratch, struct kunwind_space *space,
			      const struct pt_regs *regs, u32 valid,
			      struct kunwind_replay *replay, struct kunwind_stack *stack);
void kunwind_stack_event_done(struct kunwind_scratch *scratch, const struct kunwind_stack *stack);

void kunwind_stack_event_show(struct seq_file *m);

#endif /* _KUNWIND_STACK_EVENT_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_event.h - emit the trace event kunwind_callstack, with the whole stack
 */
#ifndef _KUNWIND_STACK_EVENT_H
#define _KUNWIND_STACK_EVENT_H

#include "../space/space.h"
#include "../trace/kunwind_events.h"

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

void kunwind_stack_event_show(struct seq_file *m);

#endif /* _KUNWIND_STACK_EVENT_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * events.c - defines the trace events of this module
 *
 * They are exported so that lttng-probe-kunwind.ko and other modules can
 * attach.
 */
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/perf_event.h>

#define CREATE_TRACE_POINTS
#include "trace/kunwind_events.h"
#include "trace/blocked.h"
#include "trace/kernel_stack.h"
#include "trace/sample.h"
#include "trace/events.h"

DEFINE_TRACE_FN(kunwind_callstack_whole, kunwind_emitter_begin, kunwind_emitter_end,
		TP_PROTO(const struct kunwind_stack *stack), TP_ARGS(stack));

DEFINE_TRACE(kunwind_kernel_callstack,
	     TP_PROTO(const struct kunwind_stack *stack), TP_ARGS(stack));

DEFINE_TRACE_FN(kunwind_sample, kunwind_sample_begin, kunwind_sample_end,
		TP_PROTO(const struct kunwind_sample *sample), TP_ARGS(sample));

DEFINE_TRACE(kunwind_blocked,
	     TP_PROTO(const struct kunwind_blocked *blocked), TP_ARGS(blocked));

EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_map);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_unmap);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_exec);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_fork);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_exit);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_callstack);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_callstack_whole);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_kernel_callstack);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_sample);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_blocked);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_slow_syscall);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_fatal_signal);

/*
 * perf lets each user count any trace event in tasks of their own, where
 * perf_event_paranoid allows it. That would turn the event on for the whole
 * system, with memory and probes for which no user is charged. An inherited
 * event has a parent, which has been checked.
 */
static int may_turn_on(struct trace_event_call *call, struct perf_event *event)
{
	return event->parent || perfmon_capable() ? 0 : -EPERM;
}

void __init kunwind_events_init(void)
{
	event_kunwind_map.perf_perm = may_turn_on;
	event_kunwind_unmap.perf_perm = may_turn_on;
	event_kunwind_exec.perf_perm = may_turn_on;
	event_kunwind_fork.perf_perm = may_turn_on;
	event_kunwind_exit.perf_perm = may_turn_on;
	event_kunwind_callstack.perf_perm = may_turn_on;
	event_kunwind_slow_syscall.perf_perm = may_turn_on;
	event_kunwind_fatal_signal.perf_perm = may_turn_on;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * events.c - defines the trace events of this module
 *
 * They are exported so that lttng-probe-kunwind.ko and other modules can
 * attach.
 */
#define CREATE_TRACE_POINTS
#include "trace/kunwind_events.h"
#include "trace/sample.h"

DEFINE_TRACE_FN(kunwind_callstack_whole, kunwind_emitter_begin, kunwind_emitter_end,
		TP_PROTO(const struct kunwind_stack *stack), TP_ARGS(stack));

DEFINE_TRACE_FN(kunwind_sample, kunwind_sample_begin, kunwind_sample_end,
		TP_PROTO(const struct kunwind_sample *sample), TP_ARGS(sample));

EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_map);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_unmap);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_exec);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_fork);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_exit);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_callstack);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_callstack_whole);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_sample);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_slow_syscall);
EXPORT_TRACEPOINT_SYMBOL_GPL(kunwind_fatal_signal);

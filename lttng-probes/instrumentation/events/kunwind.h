/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kunwind.h - kunwind's trace events as LTTng events
 *
 * kmod/trace/kunwind_events.h describes prototypes and fields. The build-id is
 * written in hex, as file(1) and debuginfod do. vtgid and vchild are the
 * numbers of tgid and child in the process's own pid namespace. LTTng's context
 * vpid has the same numbers, so events of processes in containers find their
 * mappings.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kunwind

#if !defined(_LTTNG_PROBE_KUNWIND_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LTTNG_PROBE_KUNWIND_H

#include <lttng/tracepoint-event.h>
#include <linux/kernel.h>
#include "vtgid.h"

/* SHA-1 takes 20 bytes, the longest in use 32. Longer build-ids are cut. */
#define KUNWIND_BUILD_ID_MAX	32

LTTNG_TRACEPOINT_EVENT_CODE(kunwind_map,
	TP_PROTO(pid_t tgid, u64 start, u64 end, u64 offset, u64 bias, u32 dev, u64 ino,
		 const u8 *build_id, u32 build_id_len, const char *path),
	TP_ARGS(tgid, start, end, offset, bias, dev, ino, build_id, build_id_len, path),
	TP_locvar(
		char hex[2 * KUNWIND_BUILD_ID_MAX + 1];
	),
	TP_code_pre(
		snprintf(tp_locvar->hex, sizeof(tp_locvar->hex), "%*phN",
			 (int)min_t(u32, build_id_len, KUNWIND_BUILD_ID_MAX), build_id);
	),
	TP_FIELDS(
		ctf_integer(pid_t, tgid, tgid)
		ctf_integer(pid_t, vtgid, kunwind_vtgid(tgid))
		ctf_integer_hex(u64, start, start)
		ctf_integer_hex(u64, end, end)
		ctf_integer_hex(u64, offset, offset)
		ctf_integer_hex(u64, bias, bias)
		ctf_integer(u32, dev, dev)
		ctf_integer(u64, ino, ino)
		ctf_string(build_id, tp_locvar->hex)
		ctf_string(path, path)
	),
	TP_code_post()
)

LTTNG_TRACEPOINT_EVENT(kunwind_unmap,
	TP_PROTO(pid_t tgid, u64 start, u64 end),
	TP_ARGS(tgid, start, end),
	TP_FIELDS(
		ctf_integer(pid_t, tgid, tgid)
		ctf_integer_hex(u64, start, start)
		ctf_integer_hex(u64, end, end)
	)
)

LTTNG_TRACEPOINT_EVENT(kunwind_exec,
	TP_PROTO(pid_t tgid, const char *comm),
	TP_ARGS(tgid, comm),
	TP_FIELDS(
		ctf_integer(pid_t, tgid, tgid)
		ctf_string(comm, comm)
	)
)

LTTNG_TRACEPOINT_EVENT(kunwind_fork,
	TP_PROTO(pid_t parent, pid_t child),
	TP_ARGS(parent, child),
	TP_FIELDS(
		ctf_integer(pid_t, parent, parent)
		ctf_integer(pid_t, child, child)
		ctf_integer(pid_t, vchild, kunwind_vtgid(child))
	)
)

LTTNG_TRACEPOINT_EVENT(kunwind_exit,
	TP_PROTO(pid_t tgid),
	TP_ARGS(tgid),
	TP_FIELDS(
		ctf_integer(pid_t, tgid, tgid)
	)
)

#undef kunwind_reason_value
#define kunwind_reason_value(reason, name)	ctf_enum_value(name, KUNWIND_##reason)

LTTNG_TRACEPOINT_ENUM(kunwind_reason,
	TP_ENUM_VALUES(
		KUNWIND_REASON_NAMES(kunwind_reason_value)
	)
)

/*
 * The id of a stack, and its definition (trace/stack.h): the innermost frames,
 * and the base, which has the shared outermost frames. These fields take at
 * most 37 KB. LTTng's sub-buffers must have room for them.
 */
#undef KUNWIND_STACK_FIELDS
#define KUNWIND_STACK_FIELDS(of)							\
		ctf_integer(u64, stack, (of)->id)				\
		ctf_integer(s32, base, (of)->base)				\
		ctf_integer(u16, shared, (of)->shared)				\
		ctf_sequence_hex(unsigned long, addresses, (of)->addresses,	\
				 u16, (of)->inner)				\
		ctf_sequence(u8, trust, (of)->trust, u16, (of)->trusts)

LTTNG_TRACEPOINT_EVENT_MAP(kunwind_callstack_whole, kunwind_callstack,
	TP_PROTO(const struct kunwind_stack *stack),
	TP_ARGS(stack),
	TP_FIELDS(
		ctf_integer(pid_t, tgid, stack->tgid)
		ctf_integer(pid_t, tid, stack->tid)
		ctf_integer(pid_t, vtid, task_pid_vnr(current))
		ctf_integer(int, syscall, stack->syscall)
		ctf_enum(kunwind_reason, u8, reason, stack->reason)
		KUNWIND_STACK_FIELDS(stack)
		ctf_sequence_text(char, comm, (const char *)stack->comm, u8,
				  stack->inner ? strnlen((const char *)stack->comm,
							 sizeof(stack->comm)) : 0)
	)
)

/*
 * A kernel stack, for LTTng's context of its id (stack/kernel_context.c). The fields are
 * as in kunwind_callstack. Frames have no trust, because the kernel's unwinder finds them.
 */
LTTNG_TRACEPOINT_EVENT(kunwind_kernel_callstack,
	TP_PROTO(const struct kunwind_stack *stack),
	TP_ARGS(stack),
	TP_FIELDS(
		ctf_integer(u64, stack, stack->id)
		ctf_integer(s32, base, stack->base)
		ctf_integer(u16, shared, stack->shared)
		ctf_sequence_hex(unsigned long, addresses, stack->addresses, u16, stack->inner)
	)
)

#undef kunwind_clock_value
#define kunwind_clock_value(clock, name)	ctf_enum_value(name, KUNWIND_CLOCK_##clock)

LTTNG_TRACEPOINT_ENUM(kunwind_clock,
	TP_ENUM_VALUES(
		KUNWIND_CLOCK_NAMES(kunwind_clock_value)
	)
)

/*
 * The user part is as in kunwind_callstack; stack is 0 if there is none. The
 * kernel part has the name of LTTng's context.
 */
LTTNG_TRACEPOINT_EVENT(kunwind_sample,
	TP_PROTO(const struct kunwind_sample *sample),
	TP_ARGS(sample),
	TP_FIELDS(
		ctf_integer(pid_t, tgid, sample->stack.tgid)
		ctf_integer(pid_t, tid, sample->stack.tid)
		ctf_integer(pid_t, vtid, task_pid_vnr(current))
		ctf_array_text(char, comm, current->comm, TASK_COMM_LEN)
		ctf_integer(u64, period, sample->period)
		ctf_enum(kunwind_clock, u8, clock, sample->clock)
		ctf_integer(int, syscall, sample->stack.syscall)
		ctf_enum(kunwind_reason, u8, reason, sample->stack.reason)
		KUNWIND_STACK_FIELDS(&sample->stack)
		ctf_sequence_hex(unsigned long, callstack_kernel, sample->kernel, u32,
				 sample->kernel_count)
	)
)

#undef kunwind_thread_state_value
#define kunwind_thread_state_value(state, name)	ctf_enum_value(name, KUNWIND_STATE_##state)

LTTNG_TRACEPOINT_ENUM(kunwind_thread_state,
	TP_ENUM_VALUES(
		KUNWIND_STATE_NAMES(kunwind_thread_state_value)
	)
)

/* The thread is not the current one, which is a kernel thread. */
LTTNG_TRACEPOINT_EVENT(kunwind_blocked,
	TP_PROTO(const struct kunwind_blocked *blocked),
	TP_ARGS(blocked),
	TP_FIELDS(
		ctf_integer(pid_t, tgid, blocked->stack.tgid)
		ctf_integer(pid_t, tid, blocked->stack.tid)
		ctf_integer(pid_t, vtid, blocked->vtid)
		ctf_array_text(char, comm, blocked->comm, TASK_COMM_LEN)
		ctf_enum(kunwind_thread_state, u8, state, blocked->state)
		ctf_integer(u64, duration, blocked->duration)
		ctf_integer(int, syscall, blocked->stack.syscall)
		ctf_integer(u8, compat, blocked->compat)
		ctf_array_hex(unsigned long, args, blocked->args, KUNWIND_SYSCALL_ARGS)
		ctf_integer(pid_t, holder, blocked->holder)
		ctf_enum(kunwind_reason, u8, reason, blocked->stack.reason)
		KUNWIND_STACK_FIELDS(&blocked->stack)
	)
)

LTTNG_TRACEPOINT_EVENT(kunwind_slow_syscall,
	TP_PROTO(pid_t tgid, pid_t tid, int syscall, bool compat, long ret, u64 duration),
	TP_ARGS(tgid, tid, syscall, compat, ret, duration),
	TP_FIELDS(
		ctf_integer(pid_t, tgid, tgid)
		ctf_integer(pid_t, tid, tid)
		ctf_integer(int, syscall, syscall)
		ctf_integer(u8, compat, compat)
		ctf_integer(long, ret, ret)
		ctf_integer(u64, duration, duration)
	)
)

LTTNG_TRACEPOINT_EVENT(kunwind_fatal_signal,
	TP_PROTO(pid_t tgid, pid_t tid, int signal, int code, u64 address, pid_t sender, bool group),
	TP_ARGS(tgid, tid, signal, code, address, sender, group),
	TP_FIELDS(
		ctf_integer(pid_t, tgid, tgid)
		ctf_integer(pid_t, tid, tid)
		ctf_integer(int, signal, signal)
		ctf_integer(int, code, code)
		ctf_integer_hex(u64, address, address)
		ctf_integer(pid_t, sender, sender)
		ctf_integer(u8, group, group)
	)
)

#endif /* _LTTNG_PROBE_KUNWIND_H */

#include <lttng/define_trace.h>

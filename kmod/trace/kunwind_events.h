/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kunwind_events.h - trace events about registered processes
 *
 * These events let a reader of call stacks name addresses later, on another
 * machine: they say which ELF object was mapped where, in which process, and
 * from when on. They are ordinary kernel trace events
 * (/sys/kernel/tracing/events/kunwind, perf -e 'kunwind:*', BPF); lttng-probes/
 * makes LTTng events of them.
 *
 * A reader replays the events in order of time:
 *   kunwind_map	replaces all that the process had in [start, end)
 *   kunwind_unmap	the process has no known code in [start, end) any more
 *   kunwind_exec	all mappings of the process have gone
 *   kunwind_fork	the child has the parent's mappings
 *   kunwind_exit	the process has ended, or is not registered any more
 * kunwind_callstack does not take part in the replay: it is a stack. Neither do
 * kunwind_slow_syscall and kunwind_fatal_signal, which are about all processes.
 * Process numbers are thread group ids of the initial pid namespace.
 *
 * Callers include this file with the directory kmod/ in the include path,
 * because the stages of trace events include it again as
 * "trace/kunwind_events.h". An event may be emitted in any context in which its
 * arguments can be computed. Cost while an event is off: one branch.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kunwind

#if !defined(_KUNWIND_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KUNWIND_EVENTS_H

#include <linux/tracepoint.h>
#include <linux/types.h>
#include "compat/trace.h"
#include "core/names.h"
#include "trace/on_demand.h"
#include "trace/stack.h"
#include "uapi/kunwind.h"

#define KUNWIND_SLOW_SYSCALL_NS	1000000		/* shorter calls have no kunwind_slow_syscall */

/**
 * kunwind_map - an executable mapping of a registered process
 * Emitted again if a mapping near it, of the same file, changes its bias.
 * @tgid: process
 * @start: first address
 * @end: first address after the mapping
 * @offset: of @start in the file, bytes
 * @bias: address minus ELF virtual address
 * @dev: device of the file, as new_encode_dev() returns it (st_dev of stat(2));
 *	0 for the vDSO
 * @ino: inode, 0 for the vDSO
 * @build_id: bytes of NT_GNU_BUILD_ID; may be NULL if @build_id_len is 0
 * @build_id_len: bytes; 0 if the object has no build-id, or it is not known
 * @path: by which the process mapped the file, from the root of the process at
 *	that time, or of the process that registered it. Other processes may
 *	know the file by another path. "[vdso]" for the vDSO; "?" if the path is
 *	too long, or there was no memory for it; never NULL
 */
TRACE_EVENT(kunwind_map,

	TP_PROTO(pid_t tgid, u64 start, u64 end, u64 offset, u64 bias, u32 dev, u64 ino,
		 const u8 *build_id, u32 build_id_len, const char *path),

	TP_ARGS(tgid, start, end, offset, bias, dev, ino, build_id, build_id_len, path),

	TP_STRUCT__entry(
		__field(pid_t, tgid)
		__field(u32, dev)
		__field(u64, start)
		__field(u64, end)
		__field(u64, offset)
		__field(u64, bias)
		__field(u64, ino)
		__dynamic_array(u8, build_id, build_id_len)
		__string(path, path)
	),

	TP_fast_assign(
		__entry->tgid = tgid;
		__entry->dev = dev;
		__entry->start = start;
		__entry->end = end;
		__entry->offset = offset;
		__entry->bias = bias;
		__entry->ino = ino;
		if (build_id_len)
			memcpy(__get_dynamic_array(build_id), build_id, build_id_len);
		kunwind_assign_str(path, path);
	),

	TP_printk("tgid=%d start=0x%llx end=0x%llx offset=0x%llx bias=0x%llx dev=%u:%u ino=%llu "
		  "build_id=%s path=%s",
		  __entry->tgid, __entry->start, __entry->end, __entry->offset, __entry->bias,
		  (__entry->dev >> 8) & 0xfff,
		  (__entry->dev & 0xff) | ((__entry->dev >> 12) & 0xfff00),
		  __entry->ino,
		  __print_hex_str(__get_dynamic_array(build_id),
				  __get_dynamic_array_len(build_id)),
		  __get_str(path))
);

/**
 * kunwind_unmap - known code of a process may have been replaced
 * Emitted when something is mapped over known code, or its protection changes.
 * munmap() alone emits no event, because an address gets other code only by a
 * new mapping. If the new mapping is code of a file, kunwind_map follows. A
 * change of the process's memory by another task emits no event.
 * @tgid: process
 * @start: first address
 * @end: first address after the range
 */
TRACE_EVENT(kunwind_unmap,

	TP_PROTO(pid_t tgid, u64 start, u64 end),

	TP_ARGS(tgid, start, end),

	TP_STRUCT__entry(
		__field(pid_t, tgid)
		__field(u64, start)
		__field(u64, end)
	),

	TP_fast_assign(
		__entry->tgid = tgid;
		__entry->start = start;
		__entry->end = end;
	),

	TP_printk("tgid=%d start=0x%llx end=0x%llx", __entry->tgid, __entry->start, __entry->end)
);

/**
 * kunwind_exec - a registered process runs another program from now on
 * @tgid: process
 * @comm: its new name
 */
TRACE_EVENT(kunwind_exec,

	TP_PROTO(pid_t tgid, const char *comm),

	TP_ARGS(tgid, comm),

	TP_STRUCT__entry(
		__field(pid_t, tgid)
		__string(comm, comm)
	),

	TP_fast_assign(
		__entry->tgid = tgid;
		kunwind_assign_str(comm, comm);
	),

	TP_printk("tgid=%d comm=%s", __entry->tgid, __get_str(comm))
);

/**
 * kunwind_fork - a new process is registered at its fork
 * @parent: process; under system_wide, it may be one that is not registered
 * @child: new process, with a copy of the parent's mappings
 */
TRACE_EVENT(kunwind_fork,

	TP_PROTO(pid_t parent, pid_t child),

	TP_ARGS(parent, child),

	TP_STRUCT__entry(
		__field(pid_t, parent)
		__field(pid_t, child)
	),

	TP_fast_assign(
		__entry->parent = parent;
		__entry->child = child;
	),

	TP_printk("parent=%d child=%d", __entry->parent, __entry->child)
);

/**
 * kunwind_exit - a registered process has ended, or was unregistered
 * @tgid: process
 */
TRACE_EVENT(kunwind_exit,

	TP_PROTO(pid_t tgid),

	TP_ARGS(tgid),

	TP_STRUCT__entry(
		__field(pid_t, tgid)
	),

	TP_fast_assign(
		__entry->tgid = tgid;
	),

	TP_printk("tgid=%d", __entry->tgid)
);

/* The event's format file gets the numbers, not their names in C. */
#define KUNWIND_DEFINE_REASON(reason, name)	TRACE_DEFINE_ENUM(KUNWIND_##reason);
KUNWIND_REASON_NAMES(KUNWIND_DEFINE_REASON)
#undef KUNWIND_DEFINE_REASON
#undef KUNWIND_SHOW_REASON
#define KUNWIND_SHOW_REASON(reason, name)	, { KUNWIND_##reason, name }

/**
 * kunwind_callstack - the user's whole call stack, or a part of it
 * @stack: see trace/stack.h; each part has the whole of it
 * @first: number of the first frame of this part
 * @nr: frames of this part, at most KUNWIND_STACK_PART
 *
 * Emitted once for each kernel entry; kunwind(4) says when, and when twice. The parts
 * of a stack follow each other on one CPU, from the innermost. In the last
 * part, first plus its number of frames equals count.
 */
TRACE_EVENT_FN(kunwind_callstack,

	TP_PROTO(const struct kunwind_stack *stack, u32 first, u32 nr),

	TP_ARGS(stack, first, nr),

	TP_STRUCT__entry(
		__field(pid_t, tgid)
		__field(int, syscall)
		__field(u32, reason)
		__field(u32, first)
		__field(u32, count)
		__field(u32, nr)
		__dynamic_array(u64, addresses, nr)
		__dynamic_array(u8, trust, nr)
	),

	TP_fast_assign(
		__entry->tgid = stack->tgid;
		__entry->syscall = stack->syscall;
		__entry->reason = stack->reason;
		__entry->first = first;
		__entry->count = stack->count;
		__entry->nr = nr;
		memcpy(__get_dynamic_array(addresses), stack->addresses + first, nr * sizeof(u64));
		memcpy(__get_dynamic_array(trust), stack->trust + first, nr);
	),

	TP_printk("tgid=%d syscall=%d reason=%s first=%u count=%u addresses=%s trust=%s",
		  __entry->tgid, __entry->syscall,
		  __print_symbolic(__entry->reason, { 255, "?" }
				   KUNWIND_REASON_NAMES(KUNWIND_SHOW_REASON)),
		  __entry->first, __entry->count,
		  /* perf accepts only numbers and fields here */
		  __print_array(__get_dynamic_array(addresses), __entry->nr, 8),
		  __print_hex_str(__get_dynamic_array(trust), __entry->nr)),

	kunwind_emitter_begin, kunwind_emitter_end
);

/**
 * kunwind_slow_syscall - a system call of any task has taken a millisecond or more
 * @tgid: process
 * @tid: thread
 * @syscall: number of the call
 * @compat: it is a number of the 32-bit table
 * @ret: value that the call returns
 * @duration: nanoseconds from entry to exit
 *
 * Emitted at the end of the call, in the task. The event is computed only while
 * it is on (trace/slow_syscall.c).
 */
TRACE_EVENT_FN(kunwind_slow_syscall,

	TP_PROTO(pid_t tgid, pid_t tid, int syscall, bool compat, long ret, u64 duration),

	TP_ARGS(tgid, tid, syscall, compat, ret, duration),

	TP_STRUCT__entry(
		__field(pid_t, tgid)
		__field(pid_t, tid)
		__field(int, syscall)
		__field(u8, compat)
		__field(long, ret)
		__field(u64, duration)
	),

	TP_fast_assign(
		__entry->tgid = tgid;
		__entry->tid = tid;
		__entry->syscall = syscall;
		__entry->compat = compat;
		__entry->ret = ret;
		__entry->duration = duration;
	),

	TP_printk("tgid=%d tid=%d syscall=%d compat=%u ret=%ld duration=%llu", __entry->tgid,
		  __entry->tid, __entry->syscall, __entry->compat, __entry->ret, __entry->duration),

	kunwind_slow_syscall_begin, kunwind_slow_syscall_end
);

/**
 * kunwind_fatal_signal - a signal kills a process, registered or not
 * @tgid: process
 * @tid: thread whose stack this is
 * @signal: its number
 * @code: si_code; 0 (SI_USER) if the kernel kept no information, as of SIGKILL
 * @address: si_addr of a fault; otherwise 0
 * @sender: process that sent it, in the initial pid namespace; 0: a fault, the
 *	kernel, or not known
 * @group: the signal was sent to the process. Only the first thread has this
 *	event; if it had ended before, one of the others
 *
 * Emitted after the thread has taken the signal, before a core dump. If the
 * process is registered, kunwind_map of its mappings precedes the event, at most
 * 64 KB, so that a trace that holds the event can name its stack. The event is
 * computed only while it is on (process/fatal_signal.c).
 */
TRACE_EVENT_FN(kunwind_fatal_signal,

	TP_PROTO(pid_t tgid, pid_t tid, int signal, int code, u64 address, pid_t sender, bool group),

	TP_ARGS(tgid, tid, signal, code, address, sender, group),

	TP_STRUCT__entry(
		__field(pid_t, tgid)
		__field(pid_t, tid)
		__field(int, signal)
		__field(int, code)
		__field(u64, address)
		__field(pid_t, sender)
		__field(u8, group)
	),

	TP_fast_assign(
		__entry->tgid = tgid;
		__entry->tid = tid;
		__entry->signal = signal;
		__entry->code = code;
		__entry->address = address;
		__entry->sender = sender;
		__entry->group = group;
	),

	TP_printk("tgid=%d tid=%d signal=%d code=%d address=0x%llx sender=%d group=%u",
		  __entry->tgid, __entry->tid, __entry->signal, __entry->code, __entry->address,
		  __entry->sender, __entry->group),

	kunwind_fatal_signal_begin, kunwind_fatal_signal_end
);

#endif /* _KUNWIND_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH trace
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE kunwind_events
#include <trace/define_trace.h>

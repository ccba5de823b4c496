/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack.h - a whole call stack, as the probes of kunwind_callstack get it
 *
 * The trace event kunwind_callstack (kunwind_events.h) comes in parts, because
 * the ring buffers of ftrace and perf have no room for 4,096 frames in one
 * record: ftrace's records end with a page, perf's have at most 8 KB. A tracer
 * that has room, like LTTng, attaches to the tracepoint kunwind_callstack_whole
 * instead, which is called once, before the parts.
 */
#ifndef _KUNWIND_STACK_H
#define _KUNWIND_STACK_H

#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <linux/types.h>
#include "compat/trace.h"

/**
 * struct kunwind_stack - valid during the call only
 * @addresses: @count addresses, innermost first: the program counter, then
 *	return addresses
 * @trust: enum kunwind_trust of each
 * @count: at most KUNWIND_MAX_FRAMES
 * @reason: enum kunwind_reason: why the stack ended
 * @tgid: process, in the initial pid namespace
 * @tid: thread, in the initial pid namespace
 * @syscall: number of the system call that the thread is in; -1: an interrupt
 *	or a fault
 * @comm: name of the thread, as in its task_struct; or zeros
 * @id: a number of this stack; never 0. Stacks of one CPU with the same id are
 *	equal in all members above
 * @inner: number of the innermost frames whose addresses the event has to hold,
 *	because it defines @id. 0: an earlier event of this CPU defines @id
 * @trusts: how many trusts the event has to hold: @inner, or 0 if the innermost
 *	frame of the stack has REGISTERS, and the other @inner - 1 have CFI
 * @shared: number of the other frames, which are further out. Their addresses
 *	and trust are those of the outermost frames of another stack, the base
 * @base: id of the base minus @id; 0: no base. The base has the same @tgid,
 *	@tid, @syscall and @reason. Its last definition is earlier in the stream
 *	of this CPU
 *
 * An event needs the definition of its stack, that of the base, that of the
 * base's base, and so on. All are less than a second older than the event, and
 * less than 64 KB of such events lie in between.
 */
struct kunwind_stack {
	const unsigned long *addresses;
	const u8 *trust;
	u32 count;
	u32 reason;
	pid_t tgid, tid;
	int syscall;
	u64 comm[TASK_COMM_LEN / sizeof(u64)];
	/* only for kunwind_callstack_whole */
	u64 id;
	u16 inner, trusts, shared;
	s32 base;
};

/* One record of 160 frames, and its text, are shorter than a page. */
#define KUNWIND_STACK_PART	160

/* Called by both tracepoints when they are turned on and off (emitter.c). */
int kunwind_emitter_begin(void);
void kunwind_emitter_end(void);

/*
 * For a tracer that begins to record: the next event of each stack defines its
 * id. Any context.
 */
void kunwind_stack_restart(void);

KUNWIND_DECLARE_TRACE(kunwind_callstack_whole,
	TP_PROTO(const struct kunwind_stack *stack),
	TP_ARGS(stack));

#endif /* _KUNWIND_STACK_H */

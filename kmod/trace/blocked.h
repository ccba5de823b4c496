/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blocked.h - a blocked thread, as the probes of kunwind_blocked get it
 */
#ifndef _KUNWIND_BLOCKED_H
#define _KUNWIND_BLOCKED_H

#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <linux/types.h>
#include "compat/trace.h"
#include "stack.h"

/* The states of a thread: a list for enum and names. */
#define KUNWIND_STATE_NAMES(X)							\
	X(SLEEPING, "sleeping")		/* a signal wakes it */			\
	X(UNINTERRUPTIBLE, "uninterruptible")	/* no signal wakes it, or only a fatal one */	\
	X(STOPPED, "stopped")		/* by a signal, as SIGSTOP */		\
	X(TRACED, "traced")		/* by a debugger */			\
	X(FROZEN, "frozen")		/* by the freezer, or that of a control group */

enum kunwind_thread_state {
#define KUNWIND_STATE_VALUE(state, name)	KUNWIND_STATE_##state,
	KUNWIND_STATE_NAMES(KUNWIND_STATE_VALUE)
#undef KUNWIND_STATE_VALUE
	KUNWIND_NR_STATES
};

#define KUNWIND_SYSCALL_ARGS	6

/**
 * struct kunwind_blocked - a thread that does not run; valid during the call only
 * @stack: of user code. ->id is not that of any other stack, and the event has all
 *	frames. ->count is 0 if there is none. ->syscall is -1 if an interrupt or a fault
 *	stopped user code
 * @vtid: the thread, in its own pid namespace
 * @comm: its name
 * @state: when the stack was read
 * @compat: ->syscall is a number of the 32-bit table
 * @args: of the system call; they have no meaning if ->syscall is -1
 * @holder: thread of the same process, in the initial pid namespace, that holds the
 *	lock for which a futex(2) call waits; 0: not known
 * @duration: nanoseconds since the thread last began to run; it has been blocked at
 *	most that long. 0: not known
 */
struct kunwind_blocked {
	struct kunwind_stack stack;
	pid_t vtid;
	char comm[TASK_COMM_LEN];
	enum kunwind_thread_state state;
	bool compat;
	unsigned long args[KUNWIND_SYSCALL_ARGS];
	pid_t holder;
	u64 duration;
};

/*
 * Emitted by a kernel thread, in the dump of a tracer that begins to record
 * (dump.h). Nothing else emits it.
 */
KUNWIND_DECLARE_TRACE(kunwind_blocked,
	TP_PROTO(const struct kunwind_blocked *blocked),
	TP_ARGS(blocked));

#endif /* _KUNWIND_BLOCKED_H */

/* SPDX-License-Identifier: MIT */
/*
 * report.h - the report that is being written, for report.c and threads.c
 *
 * It is in a mapping of its own, which the process that stops the other threads shares.
 */
#ifndef _CRASH_REPORT_H
#define _CRASH_REPORT_H

#include "internal.h"
#include "line.h"

#define WAIT_ALL	0x40000000	/* __WALL of linux/wait.h, which musl-gcc does not find */
#define CRASH_THREADS	4096		/* most threads besides the one that has crashed */

struct crash_report {
	const struct crash_event *event;
	struct crash_output output;
	struct crash_line line;
	struct kunwind_stack_walk walk;
	u32 nr_threads, nr_frames;
	bool open;			/* the last line of the present thread is to be written */
	/* receiver.c */
	pid_t receiver;			/* or 0 */
	int input;			/* its end of the pipe */
	bool no_receiver;		/* execve() has failed */
	/* threads.c */
	const char *why;		/* some threads are missing; NULL: none */
	int tasks;			/* /proc/self/task */
	u32 nr, at;			/* of other[]: number, the present one */
	u32 begin;			/* futex: the process may begin */
	bool done;			/* it has written all */
	u64 patience;			/* until when threads may take to stop */
	struct crash_other {
		pid_t tid;
		s32 error;		/* of PTRACE_SEIZE */
	} other[CRASH_THREADS];
};

/* report.c: the lines of a thread: its name, then its frames with registers, or why there are none. */
void crash_report_thread(struct crash_report *report, pid_t tid, const char *name);
void crash_report_frames(struct crash_report *report, const struct kunwind_registers *regs);
void crash_report_no_frames(struct crash_report *report, const char *why);

/*
 * clone_on.S: starts a process that calls @function on the stack that ends at @top, and ends when it
 * returns. Returns its id, or a negative errno value.
 */
long crash_clone_on(unsigned long flags, void *top, void (*function)(void *data), void *data);

/* receiver.c: sets the output. False: there is no receiver, or it cannot be started. */
bool crash_receiver_start(struct crash_report *report);
/* After the output was closed: waits until the receiver has ended, or for the deadline. */
void crash_receiver_wait(const struct crash_report *report);

/* threads.c: writes the threads besides the one that has crashed. */
void crash_threads_write(struct crash_report *report);

#endif /* _CRASH_REPORT_H */

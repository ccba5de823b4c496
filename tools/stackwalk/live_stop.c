// SPDX-License-Identifier: MIT
/*
 * live_stop.c - stop a thread for a moment by ptrace(2), and read it
 *
 * One thread after the other is stopped, read, and let go. PTRACE_INTERRUPT sends no signal. Most
 * system calls that it interrupts go on by themselves. Some return EINTR, although no signal
 * handler has run (signal(7)); such a call is made anew, by the registers: it is as if the thread
 * had come to the call later. live_why_not_stop() names those for which this would be wrong.
 *
 * A tracer can let go only of a thread that has stopped. A thread that does not stop in time is
 * let go of when its tracer ends, so the tracer is a thread of its own.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "kunwind_user_regs.h"
#include "live.h"
#include "tool.h"

#define DEADLINE_MS	1000		/* for one thread */
#define MOST_LATE	3		/* threads that did not stop in time */
#define SHORT_WAITS	200		/* before longer ones */
#define TOO_LATE	"it did not stop in time"
#define CS_32		0x23		/* the code segment of 32-bit code */

static const uint16_t made_anew[] = {
	232, 281, 441,			/* epoll_wait, epoll_pwait, epoll_pwait2 */
	65, 220, 69, 70,		/* semop, semtimedop, msgsnd, msgrcv */
	128, 208, 333, 426,		/* rt_sigtimedwait, io_getevents, io_pgetevents, io_uring_enter */
	0, 19, 45, 47,			/* read (inotify), readv, recvfrom, recvmsg (SO_RCVTIMEO) */
	43, 288,			/* accept, accept4 */
}, made_anew_32[] = {
	256, 319, 441,
	117, 420, 400, 401,		/* ipc: its other calls do not return EINTR */
	177, 421, 247, 385, 416, 426,
	3, 145, 371, 372,
	364,
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Waits until the thread has stopped. Returns its status; -1: it has not, or has ended. */
static int wait_stop(pid_t tid, const char **why)
{
	const uint64_t end = now_ms() + DEADLINE_MS;
	struct timespec pause = { 0, 20000 };
	uint32_t waits = 0;
	int status;
	pid_t got;

	for (;;) {
		got = waitpid(tid, &status, __WALL | WNOHANG);
		if (got == tid && WIFSTOPPED(status))
			return status;
		if (got) {
			*why = "it has ended";
			return -1;
		}
		if (now_ms() >= end) {
			*why = TOO_LATE;
			return -1;
		}
		if (++waits > SHORT_WAITS)
			pause.tv_nsec = 1000000;
		nanosleep(&pause, NULL);
	}
}

static void set_registers(const struct user_regs_struct *from, struct kunwind_registers *regs)
{
	const bool i386 = from->cs == CS_32;

	memset(regs, 0, sizeof(*regs));
	kunwind_regs_of_user(regs->r, from);
	/* 32-bit code has eight registers */
	regs->valid = (i386 ? 0xffu : 0xffffu) | 1u << 16;
	regs->flags = i386 ? KUNWIND_REGISTERS_I386 : 0;
	regs->fs_base = i386 ? 0 : from->fs_base;
}

/* If the stop has ended a call with EINTR, makes the thread call again. */
static void call_again(pid_t tid, struct user_regs_struct *regs)
{
	const bool i386 = regs->cs == CS_32;
	const uint16_t *calls = i386 ? made_anew_32 : made_anew;
	const size_t nr = i386 ? sizeof(made_anew_32) / sizeof(*calls) : sizeof(made_anew) / sizeof(*calls);
	size_t i;

	if ((int64_t)regs->orig_rax < 0 || (int64_t)regs->rax != -EINTR)
		return;
	for (i = 0; i < nr; i++) {
		if (regs->orig_rax != calls[i])
			continue;
		regs->rax = regs->orig_rax;
		regs->rip -= 2;
		ptrace(PTRACE_SETREGS, tid, 0, regs);
		return;
	}
}

static const char *refused(const struct live_process *live, pid_t tid)
{
	char text[4096];
	const char *tracer;
	ssize_t len;

	if (errno == ESRCH)
		return "it has ended";
	len = live_read_file(live, tid, "status", text, sizeof(text));
	tracer = len > 0 ? strstr(text, "\nTracerPid:") : NULL;
	if (tracer && strtol(tracer + 11, NULL, 10))
		return "another tracer has it";
	return "ptrace(2) of it is not permitted";
}

struct stop_work {
	struct live_process *live;
	uint32_t late;
	bool (*wanted)(const struct live_thread *thread);
};

static void stop_thread(struct stop_work *work, struct live_thread *thread)
{
	struct live_process *live = work->live;
	const pid_t tid = thread->tid;
	struct user_regs_struct regs;
	struct live_stack stack;
	int status, signal;

	thread->why = work->late < MOST_LATE ? live_why_not_stop(live, tid) :
					       "not tried: others did not stop in time";
	if (thread->why)
		return;
	if (ptrace(PTRACE_SEIZE, tid, 0, 0)) {
		thread->why = refused(live, tid);
		return;
	}
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		thread->why = "it has ended";
	status = thread->why ? -1 : wait_stop(tid, &thread->why);
	if (status < 0) {
		work->late += !strcmp(thread->why, TOO_LATE);
		return;
	}
	/* a signal that came first is delivered when the thread goes on */
	signal = status >> 16 ? 0 : WSTOPSIG(status);
	if (!ptrace(PTRACE_GETREGS, tid, 0, &regs)) {
		set_registers(&regs, &stack.regs);
		if (live_copy_stack(live, thread, &stack))
			live_keep_stack(live, thread, &stack, LIVE_STOPPED);
		if (!signal)
			call_again(tid, &regs);
	}
	ptrace(PTRACE_DETACH, tid, 0, signal);
}

static void *trace(void *data)
{
	struct stop_work *work = data;
	size_t i;

	for (i = 0; i < work->live->nr_threads; i++)
		if (work->wanted(&work->live->thread[i]))
			stop_thread(work, &work->live->thread[i]);
	return NULL;
}

void live_stop(struct live_process *live, bool (*wanted)(const struct live_thread *thread))
{
	struct stop_work work = { .live = live, .wanted = wanted };
	pthread_t tracer;
	size_t i;

	for (i = 0; i < live->nr_threads && !wanted(&live->thread[i]); i++)
		;
	if (i == live->nr_threads)
		return;
	if (pthread_create(&tracer, NULL, trace, &work))
		kunwind_tool_error("cannot start a thread: %s", strerror(errno));
	else
		pthread_join(tracer, NULL);
}

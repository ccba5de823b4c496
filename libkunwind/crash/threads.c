// SPDX-License-Identifier: MIT
/*
 * threads.c - the stacks of the threads besides the one that has crashed
 *
 * A signal to each thread would not reach those that block it, which many programs do in all threads
 * but one, and would interrupt system calls of a program that recovers. So a process stops the
 * threads by ptrace(2). It is made for this, as a clone(2) of the thread that has crashed, and shares
 * its memory: it walks the stacks without copying them, and writes the lines. All threads are told to
 * stop first, then each is waited for, walked and written. They go on when the process ends.
 *
 * The thread that has crashed waits until the deadline, and then ends the process by SIGKILL. If it
 * may not be made, or may not trace (seccomp, a debugger, prctl(PR_SET_DUMPABLE)), the threads have
 * their names only.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "kunwind_user_regs.h"
#include "report.h"
#include "../unwind/syscall.h"

/* linux/futex.h and others, which musl-gcc does not find */
#define FUTEX_WAIT	0
#define FUTEX_WAKE	1
#define SEIZE		0x4206		/* PTRACE_SEIZE */
#define INTERRUPT	0x4207		/* PTRACE_INTERRUPT */
#define SET_PTRACER	0x59616d61	/* PR_SET_PTRACER */
#define MS		1000000ULL

struct task_entry {				/* of getdents64(2) */
	u64 inode, offset;
	u16 len;
	u8 type;
	char name[];
};

static long sys(long number, long a, long b, long c, long d)
{
	return unwind_syscall(number, a, b, c, d, 0, 0);
}

static pid_t number_of(const char *text)
{
	pid_t value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (*text++ - '0');
	return *text ? 0 : value;
}

/* ------------------------------------------------------------ the list */

/* /proc may be that of another PID namespace. */
static void take_entry(struct crash_report *report, const char *name)
{
	const struct crash_event *event = report->event;
	const pid_t tid = number_of(name);

	if (!tid || tid == event->tid || sys(SYS_tgkill, event->pid, tid, 0, 0))
		return;
	if (report->nr == CRASH_THREADS)
		report->why = "more threads";
	else
		report->other[report->nr++] = (struct crash_other){ .tid = tid };
}

static void list(void *data)
{
	struct crash_report *report = data;
	char bytes[4096] __attribute__((__aligned__(8)));
	long nr, at;

	report->nr = 0;
	report->tasks = (int)sys(SYS_openat, AT_FDCWD, (long)"/proc/self/task",
				 O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (report->tasks < 0)
		report->why = "no list of threads";
	while (report->tasks >= 0 &&
	       (nr = sys(SYS_getdents64, report->tasks, (long)bytes, sizeof(bytes), 0)) > 0)
		for (at = 0; at < nr; at += ((struct task_entry *)(bytes + at))->len)
			take_entry(report, ((struct task_entry *)(bytes + at))->name);
}

/* @name: 17 bytes */
static void read_name(const struct crash_report *report, pid_t tid, char *name)
{
	char path[CRASH_DIGITS + 5], *at;
	long fd, len = 0;

	at = crash_digits(path + CRASH_DIGITS, (u64)tid);
	memcpy(path + CRASH_DIGITS - 1, "/comm", sizeof("/comm"));
	fd = sys(SYS_openat, report->tasks, (long)at, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		len = sys(SYS_read, fd, (long)name, 16, 0);
		sys(SYS_close, fd, 0, 0, 0);
	}
	len = max(len, 0L);
	name[len && name[len - 1] == '\n' ? len - 1 : len] = 0;
}

/* ------------------------------------------------------------ one thread */

static bool registers_of(pid_t tid, struct kunwind_registers *regs)
{
	struct user_regs_struct of;

	if (sys(SYS_ptrace, PTRACE_GETREGS, tid, 0, (long)&of))
		return false;
	*regs = (struct kunwind_registers){
		.valid = (1U << KUNWIND_NR_REGISTERS) - 1,
		.fs_base = of.fs_base,
	};
	kunwind_regs_of_user(regs->r, &of);
	return true;
}

/* Waits until it has stopped. All were told so at the same time, and have the same time for it. */
static bool is_stopped(const struct crash_report *report, pid_t tid)
{
	long got;

	while (!(got = sys(SYS_wait4, tid, 0, WAIT_ALL | WNOHANG, 0)) && crash_clock() < report->patience)
		crash_sleep(50000);
	return got == tid;
}

static void write_other(void *data)
{
	struct crash_report *report = data;
	const struct crash_other *other = &report->other[report->at];
	struct kunwind_registers regs;
	char name[17];

	read_name(report, other->tid, name);
	crash_report_thread(report, other->tid, name);
	if (other->error)
		crash_report_no_frames(report, other->error == -EPERM ? "not permitted" : "not stopped");
	else if (!is_stopped(report, other->tid) || !registers_of(other->tid, &regs))
		crash_report_no_frames(report, "not stopped");
	else {
		kunwind_walk_begin_regs(&report->walk, crash_state.unwinder, &regs, NULL, NULL);
		crash_report_frames(report, &regs);
	}
}

static void write_others(struct crash_report *report)
{
	for (report->at = 0; report->at < report->nr && !report->output.broken; report->at++)
		if (report->other[report->at].error != -ESRCH && !crash_guard(write_other, report))
			crash_report_no_frames(report, "crashed");
}

/* ------------------------------------------------------------ the process */

/* In the process: its memory is that of the program. */
static void stop_and_write(void *data)
{
	struct crash_report *report = data;
	struct crash_other *other = report->other;

	crash_state.helper = (pid_t)sys(SYS_getpid, 0, 0, 0, 0);
	while (!__atomic_load_n(&report->begin, __ATOMIC_ACQUIRE))
		sys(SYS_futex, (long)&report->begin, FUTEX_WAIT, 0, 0);
	for (; other < report->other + report->nr; other++) {
		other->error = (s32)sys(SYS_ptrace, SEIZE, other->tid, 0, 0);
		if (!other->error)
			sys(SYS_ptrace, INTERRUPT, other->tid, 0, 0);
	}
	report->patience = crash_clock() + crash_state.deadline_ms * MS / 4;
	write_others(report);
	__atomic_store_n(&report->done, true, __ATOMIC_RELEASE);
}

/* Ends it after the deadline. */
static void wait_for_end(struct crash_report *report, pid_t helper)
{
	const u64 end = report->output.end + 100 * MS;
	long got;

	do {
		got = sys(SYS_wait4, helper, 0, WAIT_ALL | WNOHANG, 0);
		if (got == helper || got == -ECHILD)
			return;
		crash_sleep(200000);
		if (crash_clock() > end) {
			sys(SYS_kill, helper, SIGKILL, 0, 0);
			report->why = "deadline";
			sys(SYS_wait4, helper, 0, WAIT_ALL, 0);
			return;
		}
	} while (!got || !__atomic_load_n(&report->done, __ATOMIC_ACQUIRE));
}

static void write_all(struct crash_report *report)
{
	const long helper = crash_clone_on(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED,
					   crash_state.helper_top, stop_and_write, report);
	u32 i;

	if (helper < 0) {
		for (i = 0; i < report->nr; i++)
			report->other[i].error = (s32)helper;
		write_others(report);
		return;
	}
	/* Yama lets only ancestors trace. */
	sys(SYS_prctl, SET_PTRACER, helper, 0, 0);
	__atomic_store_n(&report->begin, 1, __ATOMIC_RELEASE);
	sys(SYS_futex, (long)&report->begin, FUTEX_WAKE, 1, 0);
	wait_for_end(report, (pid_t)helper);
	crash_state.helper = 0;
	if (report->open)
		crash_report_no_frames(report, "deadline");
}

void crash_threads_write(struct crash_report *report)
{
	report->begin = 0;
	report->done = false;
	report->why = NULL;
	report->tasks = -1;
	if (crash_guard(list, report) && report->nr)
		write_all(report);
	if (report->tasks >= 0)
		sys(SYS_close, report->tasks, 0, 0, 0);
}

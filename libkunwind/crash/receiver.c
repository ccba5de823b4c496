// SPDX-License-Identifier: MIT
/*
 * receiver.c - start the program that receives the report on its standard input
 *
 * The process that becomes it shares the memory of this one until its execve(2), as by vfork(2). Its
 * environment is empty but for PATH: with the same LD_PRELOAD, a receiver that crashes would start
 * another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "report.h"
#include "../unwind/syscall.h"

static void become(void *data)
{
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	struct crash_report *report = data;
	char digits[CRASH_DIGITS];
	char *pid = crash_digits(digits + sizeof(digits), (u64)report->event->pid);
	char *arguments[] = { crash_state.receiver, pid, NULL }, *environment[] = { path, NULL };
	const u64 mask = 0;

	if (unwind_syscall(SYS_dup2, report->input, 0, 0, 0, 0, 0) < 0)
		return;
	unwind_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
	unwind_syscall(SYS_execve, (long)crash_state.receiver, (long)arguments, (long)environment, 0, 0, 0);
	report->no_receiver = true;
}

bool crash_receiver_start(struct crash_report *report)
{
	int ends[2];
	long child;

	report->receiver = 0;
	if (!*crash_state.receiver || unwind_syscall(SYS_pipe2, (long)ends, O_CLOEXEC, 0, 0, 0, 0))
		return false;
	report->input = ends[0];
	report->no_receiver = false;
	child = crash_clone_on(CLONE_VM | CLONE_VFORK, crash_state.helper_top, become, report);
	unwind_syscall(SYS_close, ends[0], 0, 0, 0, 0, 0);
	if (child < 0 || report->no_receiver) {
		unwind_syscall(SYS_close, ends[1], 0, 0, 0, 0, 0);
		if (child > 0)
			unwind_syscall(SYS_wait4, child, 0, WAIT_ALL, 0, 0, 0);
		return false;
	}
	report->receiver = (pid_t)child;
	report->output.fd = ends[1];
	return true;
}

void crash_receiver_wait(const struct crash_report *report)
{
	u32 tries = crash_state.deadline_ms;

	while (report->receiver && tries-- && crash_clock() < report->output.end &&
	       !unwind_syscall(SYS_wait4, report->receiver, 0, WAIT_ALL | WNOHANG, 0, 0, 0))
		crash_sleep(1000000);
}

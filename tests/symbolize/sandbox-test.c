// SPDX-License-Identifier: MIT
/*
 * sandbox-test.c - test which system calls the helper's filter allows
 *
 * Each case runs in a child process, which enters the sandbox first.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper.h"

static int count, failed;

static void check(bool good, const char *name)
{
	printf("%sok %d - sandbox: %s\n", good ? "" : "not ", ++count, name);
	failed += !good;
}

/* Returns the status of a child that runs @body in the sandbox. */
static int run(int (*body)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(kunwind_sandbox_enter(4096) ? 99 : body());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	return status;
}

static bool refused(long ret)
{
	return ret == -1 && errno == EPERM;
}

static int signal_self(void)
{
	return syscall(SYS_tgkill, getpid(), gettid(), 0) ? 1 : 0;
}

static int parent;

static int signal_parent(void)
{
	return !refused(syscall(SYS_tgkill, parent, parent, 0));
}

static int call_abort(void)
{
	abort();
}

static int used_commands(void)
{
	return fcntl(0, F_GETFD) < 0 || fcntl(0, F_GETFL) < 0 || fcntl(0, F_DUPFD_CLOEXEC, 0) < 0;
}

static int other_commands(void)
{
	static const int command[] = { F_SETFL, F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ,
				       F_SETLK, F_ADD_SEALS };
	size_t i;

	for (i = 0; i < sizeof(command) / sizeof(*command); i++)
		if (!refused(syscall(SYS_fcntl, 0, command[i], 0)))
			return (int)i + 1;
	return 0;
}

static int open_file(void)
{
	return !refused(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0)) ||
	       !refused(syscall(SYS_socket, 1, 1, 0)) || !refused(syscall(SYS_kill, getpid(), 0));
}

int main(void)
{
	int status;

	parent = getpid();
	check(!run(open_file), "no file, no socket, no kill()");
	check(!run(used_commands), "fcntl: a descriptor can be copied, and its flags read");
	check(!run(other_commands), "fcntl: other commands are refused");
	check(!run(signal_self), "tgkill: the own process is allowed");
	check(!run(signal_parent), "tgkill: another process is refused");
	status = run(call_abort);
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "abort() ends the process by SIGABRT");
	printf("1..%d\n", count);
	return failed != 0;
}

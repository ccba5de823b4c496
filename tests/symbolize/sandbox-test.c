// SPDX-License-Identifier: MIT
/*
 * sandbox-test.c - test which system calls the helper's filter allows
 *
 * Each case runs in a child process, which enters the sandbox first.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
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

static int ask_path(void)
{
	struct stat st;

	/* with AT_EMPTY_PATH, the call takes paths that are not empty, too */
	return !refused(syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, 0)) ||
	       !refused(syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, AT_EMPTY_PATH)) ||
	       !refused(syscall(SYS_stat, "/etc/passwd", &st)) ||
	       !refused(syscall(SYS_statx, AT_FDCWD, "/etc/passwd", 0, 0, &st)) ||
	       !refused(syscall(SYS_access, "/etc/passwd", 0)) ||
	       !refused(syscall(SYS_readlink, "/proc/self/exe", &st, 1));
}

/* The fstat() of the program, as the libraries call it. */
static int ask_descriptor(void)
{
	struct stat st = { .st_mode = 0 };

	return fstat(0, &st) || !st.st_mode || fstat(99, &st) != -1 || errno != EBADF;
}

static int make_executable(void)
{
	const int rw = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *data = mmap(NULL, 4096, rw, flags, -1, 0);

	return data == MAP_FAILED || mprotect(data, 4096, PROT_READ) ||
	       !refused(mprotect(data, 4096, PROT_READ | PROT_EXEC)) ||
	       !refused(mprotect(data, 4096, PROT_EXEC)) ||
	       !refused((long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, flags, -1, 0)) ||
	       !refused((long)mmap(NULL, 4096, rw | PROT_EXEC, flags, -1, 0)) ||
	       !refused(syscall(SYS_pkey_mprotect, data, 4096, PROT_EXEC, -1));
}

/* What the parent reads of a child in the sandbox; the filter forbids the child to. */
static char child_status[4096];
static struct stat child_stat;

static bool has(const char *line)
{
	return strstr(child_status, line);
}

static void read_status(void)
{
	int ready[2], end[2], fd;
	char path[64], byte = 0;
	ssize_t len = -1;
	pid_t pid;

	if (pipe(ready) || pipe(end))
		abort();
	pid = fork();
	if (!pid) {
		const char *bad;

		close(end[1]);
		bad = kunwind_sandbox_enter(4096);
		close(ready[1]);
		_exit(bad || read(end[0], &byte, 1) < 0);
	}
	close(ready[1]);
	close(end[0]);
	if (read(ready[0], &byte, 1) < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY);
	if (fd >= 0)
		len = read(fd, child_status, sizeof(child_status) - 1);
	child_status[len > 0 ? len : 0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	if (stat(path, &child_stat))
		abort();
	close(fd);
	close(end[1]);
	waitpid(pid, NULL, 0);
}

/* A kernel or a container that has no filters: the calls that install one fail. */
static const char *enter_without_filters(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(*code), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return NULL;
	return kunwind_sandbox_enter(4096);
}

static bool fails_closed(void)
{
	const char *bad;
	int status;
	pid_t pid = fork();

	if (!pid) {
		bad = enter_without_filters();
		_exit(bad && !strcmp(bad, "filter of system calls") ? 0 : 1);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return ok;
}

/* Becomes root of a user namespace that has no other user. */
static bool become_only_user(void)
{
	char users[32], groups[32];

	snprintf(users, sizeof(users), "0 %u 1", geteuid());
	snprintf(groups, sizeof(groups), "0 %u 1", getegid());
	return !unshare(CLONE_NEWUSER) && write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups) &&
	       !geteuid();
}

static bool enters_as_only_user(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(!become_only_user() ? 77 : kunwind_sandbox_enter(4096) || open_file() ? 1 : 0);
	if (waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		printf("# no user namespaces here\n");
	return WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == 77);
}

int main(void)
{
	const gid_t group = 5;
	int status;

	if (!geteuid() && setgroups(1, &group))
		return 1;
	parent = getpid();
	check(!run(open_file), "no file, no socket, no kill()");
	check(!run(used_commands), "fcntl: a descriptor can be copied, and its flags read");
	check(!run(other_commands), "fcntl: other commands are refused");
	check(!run(signal_self), "tgkill: the own process is allowed");
	check(!run(signal_parent), "tgkill: another process is refused");
	status = run(call_abort);
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "abort() ends the process by SIGABRT");
	check(!run(ask_path), "no question about a path");
	check(!run(ask_descriptor), "fstat() of a descriptor works");
	check(!run(make_executable), "memory cannot be made executable");
	read_status();
	check(has("\nNoNewPrivs:\t1\n") && has("\nSeccomp:\t2\n"), "filter, and no new privileges");
	check(has("\nCapPrm:\t0000000000000000\n") && has("\nCapEff:\t0000000000000000\n") &&
	      has("\nCapInh:\t0000000000000000\n"), "no capabilities");
	check(!child_stat.st_uid, "other processes of its user cannot look into it");
	if (!geteuid()) {
		check(has("\nUid:\t65534\t65534\t65534\t65534\n"), "started by root: user nobody");
		check(has("\nGid:\t65534\t65534\t65534\t65534\n"), "started by root: group nobody");
		check(has("\nGroups:\t \n"), "started by root: no other groups");
	}
	check(fails_closed(), "without filters, it is not entered");
	check(enters_as_only_user(), "in a user namespace without nobody, it is entered");
	printf("1..%d\n", count);
	return failed != 0;
}

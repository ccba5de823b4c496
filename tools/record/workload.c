// SPDX-License-Identifier: MIT
/*
 * workload.c - hold the recorded command at its first instruction until tracing runs
 *
 * The child registers itself and executes the command before tracing starts.
 * ptrace(2) stops it inside that execve(2), when the old program is gone. So the
 * trace has nothing of kunwind: its first event of the process is the exit of
 * execve(2). A command that cannot be executed ends the recording before there
 * is a session or a directory.
 *
 * If this program is killed before the command runs, the kernel kills the
 * command, too (PTRACE_O_EXITKILL). After workload_run() nothing traces it.
 *
 * The filter selects events by a cgroup namespace that only the child and its
 * descendants are in. For a program in that namespace, nothing changes except
 * the root that /proc/PID/cgroup shows. The child needs CAP_SYS_ADMIN to make
 * the namespace; without it, the recording has no filter.
 */
#include <errno.h>
#include <kunwind.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tool.h"
#include "ust_environment.h"
#include "workload.h"

/* The child sends this if it fails to become the command. One is not 0. */
struct news {
	int registering;	/* negative errno of libkunwind */
	int executing;		/* errno of execvp() */
	bool told;		/* after a message */
};

static void child(int channel, char **argv, const sigset_t *mask, const struct owner *owner,
		  bool module, bool ust)
{
	struct news news = { 0 };
	char isolated = !unshare(CLONE_NEWCGROUP), go;
	ssize_t n;

	if (write(channel, &isolated, 1) != 1 || read(channel, &go, 1) != 1)
		_exit(TOOL_RUN_FAILED);		/* workload_abandon() */
	if (module)
		news.registering = kunwind_register_self(KUNWIND_REGISTER_CHILDREN);
	news.told = !news.registering && ust && !kunwind_ust_environment();
	if (!news.registering && !news.told) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		if (owner_become(owner))
			execvp(argv[0], argv);
		news.executing = errno;
	}
	n = write(channel, &news, sizeof(news));
	_exit(n < 0 ? TOOL_RUN_FAILED : TOOL_RUN_CANNOT);
}

/* Returns the inode of a process's cgroup namespace; 0: not known. */
static unsigned long cgroup_name_space(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/cgroup", (int)pid);
	return stat(path, &st) ? 0 : (unsigned long)st.st_ino;
}

/*
 * Returns whether the file of the stopped process should have got more
 * privilege. It gets none if its tracer has none.
 */
static bool lost_privilege(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return geteuid() && !stat(path, &st) &&
	       (st.st_mode & S_ISUID || (st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) ||
		getxattr(path, "security.capability", NULL, 0) > 0);
}

/*
 * Waits until the child has stopped in execve(2). Passes signals on to it until
 * then. Returns false if it has ended instead; then it is reaped.
 */
static bool wait_for_exec(struct workload *workload)
{
	int status, sig;

	for (;;) {
		if (waitpid(workload->pid, &status, __WALL) != workload->pid) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (!WIFSTOPPED(status))
			break;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			return true;
		sig = status >> 16 ? 0 : WSTOPSIG(status);
		ptrace(PTRACE_CONT, workload->pid, NULL, (void *)(long)sig);
	}
	workload->pid = 0;
	return false;
}

/* Returns the exit status, after a message that says why the command does not run. */
static int not_run(const struct workload *workload)
{
	struct news news;

	if (recv(workload->channel, &news, sizeof(news), MSG_DONTWAIT) != sizeof(news)) {
		kunwind_tool_error("%s: it was killed before it ran", workload->name);
		return TOOL_RUN_FAILED;
	}
	if (news.registering)
		kunwind_tool_failure(NULL, news.registering);
	if (news.registering || news.told)
		return TOOL_RUN_FAILED;
	kunwind_tool_error("%s: %s", workload->name, strerror(news.executing));
	return news.executing == ENOENT ? TOOL_RUN_NOT_FOUND : TOOL_RUN_CANNOT;
}

int workload_prepare(struct workload *workload, char **argv, const sigset_t *mask,
		     const struct owner *owner, bool module, bool ust)
{
	int channel[2];
	char isolated, go = 1;

	*workload = (struct workload){ .channel = -1, .name = argv[0] };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel)) {
		kunwind_tool_error("socketpair: %s", strerror(errno));
		return TOOL_RUN_FAILED;
	}
	workload->pid = fork();
	if (!workload->pid) {
		close(channel[0]);
		child(channel[1], argv, mask, owner, module, ust);
	}
	close(channel[1]);
	workload->channel = channel[0];
	if (workload->pid < 0 || read(workload->channel, &isolated, 1) != 1) {
		kunwind_tool_error("fork: %s", strerror(errno));
		return TOOL_RUN_FAILED;
	}
	if (ptrace(PTRACE_SEIZE, workload->pid, NULL, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) {
		kunwind_tool_error("cannot stop %s before it runs: ptrace: %s (does "
				   "/proc/sys/kernel/yama/ptrace_scope forbid it? start the command "
				   "with kunwind run, and record it with --all)",
				   argv[0], strerror(errno));
		return TOOL_RUN_FAILED;
	}
	if (write(workload->channel, &go, 1) != 1 || !wait_for_exec(workload))
		return not_run(workload);
	workload->stopped = true;
	if (lost_privilege(workload->pid)) {
		kunwind_tool_error("%s: gains privilege when it is executed, so only root can "
				   "record it: sudo kunwind record", argv[0]);
		return TOOL_RUN_FAILED;
	}
	if (isolated)
		workload->cgroup_ns = cgroup_name_space(workload->pid);
	return 0;
}

void workload_run(struct workload *workload)
{
	/* fails only if the process was killed, which waitpid(2) reports later */
	ptrace(PTRACE_DETACH, workload->pid, NULL, NULL);
	workload->stopped = false;
}

void workload_abandon(struct workload *workload)
{
	if (workload->channel >= 0)
		close(workload->channel);
	if (workload->pid > 0 && workload->stopped) {
		kill(workload->pid, SIGKILL);
		waitpid(workload->pid, NULL, __WALL);
	}
	workload->pid = 0;
	workload->channel = -1;
}

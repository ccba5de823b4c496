// SPDX-License-Identifier: MIT
/*
 * workload.c - start the recorded command only after tracing has started
 *
 * The child is forked first, because the filter of the events needs its cgroup
 * namespace. After tracing has started, the child registers itself and executes
 * the command, so the trace has even the command's first mapping.
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.h"
#include "workload.h"

/* The child sends this if it fails to become the command. One is not 0. */
struct news {
	int registering;	/* negative errno of libkunwind */
	int executing;		/* errno of execvp() */
};

static void child(int channel, char **argv, const sigset_t *mask)
{
	struct news news = { 0 };
	char isolated = !unshare(CLONE_NEWCGROUP), go;
	ssize_t n;

	/* events from here on carry the command's name */
	prctl(PR_SET_NAME, basename(argv[0]));
	if (write(channel, &isolated, 1) != 1 || read(channel, &go, 1) != 1)
		_exit(TOOL_RUN_FAILED);		/* workload_abandon() */
	news.registering = kunwind_register_self(KUNWIND_REGISTER_CHILDREN);
	if (!news.registering) {
		sigprocmask(SIG_SETMASK, mask, NULL);
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

bool workload_prepare(struct workload *workload, char **argv, const sigset_t *mask)
{
	int channel[2];
	char isolated;

	*workload = (struct workload){ .channel = -1, .name = argv[0] };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel)) {
		kunwind_tool_error("socketpair: %s", strerror(errno));
		return false;
	}
	workload->pid = fork();
	if (!workload->pid) {
		close(channel[0]);
		child(channel[1], argv, mask);
	}
	close(channel[1]);
	workload->channel = channel[0];
	if (workload->pid < 0 || read(workload->channel, &isolated, 1) != 1) {
		kunwind_tool_error("fork: %s", strerror(errno));
		return false;
	}
	if (isolated)
		workload->cgroup_ns = cgroup_name_space(workload->pid);
	return true;
}

int workload_run(struct workload *workload)
{
	struct news news;
	char go = 1;
	ssize_t n;

	if (write(workload->channel, &go, 1) != 1) {
		kunwind_tool_error("%s: %s", workload->name, strerror(errno));
		return TOOL_RUN_FAILED;
	}
	/* If execve(2) succeeds, it closes the child's end: n is 0. */
	do {
		n = read(workload->channel, &news, sizeof(news));
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(news))
		return 0;
	if (news.registering) {
		kunwind_tool_failure(NULL, news.registering);
		return TOOL_RUN_FAILED;
	}
	kunwind_tool_error("%s: %s", workload->name, strerror(news.executing));
	return news.executing == ENOENT ? TOOL_RUN_NOT_FOUND : TOOL_RUN_CANNOT;
}

void workload_abandon(struct workload *workload)
{
	if (workload->channel >= 0)
		close(workload->channel);
	if (workload->pid > 0)
		waitpid(workload->pid, NULL, 0);
	workload->pid = 0;
	workload->channel = -1;
}

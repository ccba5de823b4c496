// SPDX-License-Identifier: MIT
/*
 * workload.c - the command that is recorded: ready before, running after the start
 *
 * A child is made first, so that what tells its events from others' is known
 * when they are enabled; tracing starts; then it registers itself and becomes
 * the command. That way its very first mapping is in the trace.
 *
 * What tells its events apart is a cgroup name space of its own: its children
 * inherit it, LTTng can filter by it, and all that changes for a program in it
 * is what /proc/PID/cgroup calls its root. To make one takes CAP_SYS_ADMIN.
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

/* From the child when it cannot become the command; of the two, one is set. */
struct news {
	int registering;	/* as libkunwind's */
	int executing;		/* errno */
};

static void child(int channel, char **argv, const sigset_t *mask)
{
	struct news news = { 0 };
	char isolated = !unshare(CLONE_NEWCGROUP), go;
	ssize_t n;

	/* what it does from here on is told as the command's */
	prctl(PR_SET_NAME, basename(argv[0]));
	if (write(channel, &isolated, 1) != 1 || read(channel, &go, 1) != 1)
		_exit(TOOL_RUN_FAILED);		/* abandoned */
	news.registering = kunwind_register_self(KUNWIND_REGISTER_CHILDREN);
	if (!news.registering) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvp(argv[0], argv);
		news.executing = errno;
	}
	n = write(channel, &news, sizeof(news));
	_exit(n < 0 ? TOOL_RUN_FAILED : TOOL_RUN_CANNOT);
}

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
	/* execve(2) closes the child's end */
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

// SPDX-License-Identifier: MIT
/*
 * live_refused.c - say why a process cannot be read, and what to change
 *
 * The kernel only says that it is not permitted. The cause is in the process's state, its user,
 * and in a setting of the Yama security module (kernel.yama.ptrace_scope).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live.h"
#include "tool.h"

/* Returns the value of the setting; 0: no limit, or not known. */
static int yama(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (file && fscanf(file, "%d", &scope) != 1)
		scope = 0;
	if (file)
		fclose(file);
	return scope;
}

/* Returns the state of the process; 0: there is none. */
static char state_of(pid_t pid)
{
	char path[64], line[512];
	const char *name = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file))
		name = strrchr(line, ')');
	if (file)
		fclose(file);
	return name && name[1] ? name[2] : 0;
}

static const char *why_not_permitted(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (stat(path, &st))
		return "no such process";
	switch (yama()) {
	case 3:
		return "not permitted: kernel.yama.ptrace_scope is 3, until the next boot";
	case 2:
		return "not permitted: kernel.yama.ptrace_scope is 2, so CAP_SYS_PTRACE is needed (sudo)";
	case 1:
		if (st.st_uid == geteuid())
			return "not permitted: kernel.yama.ptrace_scope is 1, so only its ancestors may, and "
			       "CAP_SYS_PTRACE (sudo; or sysctl kernel.yama.ptrace_scope=0)";
	}
	if (st.st_uid != geteuid())
		return "not permitted: it belongs to another user, so CAP_SYS_PTRACE is needed (sudo)";
	return "not permitted: it has more rights, or does not want it (prctl(PR_SET_DUMPABLE)), so "
	       "CAP_SYS_PTRACE in its user namespace is needed";
}

void live_refused(pid_t pid)
{
	const int error = errno;
	const char *why = strerror(error);
	const char state = state_of(pid);

	if (!state)
		why = "no such process";
	else if (state == 'Z' || state == 'X')
		why = "it has ended";
	else if (error == EACCES || error == EPERM)
		why = why_not_permitted(pid);
	else if (error == ESRCH || error == ENOENT)
		why = "it has no memory of its own: a kernel thread, or it ends now";
	kunwind_tool_error("%d: %s", pid, why);
}

// SPDX-License-Identifier: MIT
/*
 * owner.c - the user as whom COMMAND runs, and who gets the trace
 *
 * "sudo kunwind record COMMAND" needs root to record, but COMMAND does not need root to run: as
 * root, it would leave files of root, and may do harm. So it runs as the user who called sudo, and
 * the trace belongs to that user.
 *
 * The user may change the directories above the trace at any time. So all is done by descriptors.
 * Nothing is given if others can change the directory itself: the user could move a file of root
 * into it, from another directory of the user, and would get it. Else only this process's user
 * has put files there. What is given is a directory or a regular file with one name, on the
 * file system of the trace. A hard link to another file of root has two.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dir.h"
#include "last.h"
#include "owner.h"
#include "tool.h"

enum { LEVELS = 8 };	/* of directories below that of the trace */

bool owner_find(struct owner *owner, const char *user)
{
	const char *caller = getenv("SUDO_UID");
	const struct passwd *entry;
	uint64_t uid;

	*owner = (struct owner){ 0 };
	if (user) {
		entry = getpwnam(user);
		if (!entry && kunwind_tool_number(user, UINT32_MAX - 1, &uid))
			entry = getpwuid((uid_t)uid);
	} else if (!geteuid() && caller && kunwind_tool_number(caller, UINT32_MAX - 1, &uid) && uid) {
		user = caller;
		entry = getpwuid((uid_t)uid);
	} else {
		return true;
	}
	if (!entry) {
		kunwind_tool_error("%s: no user %s", user == caller ? "SUDO_UID" : "--user", user);
		return false;
	}
	if (entry->pw_uid == geteuid())
		return true;
	if (geteuid()) {
		kunwind_tool_error("--user: only root can run COMMAND as another user: "
				   "sudo kunwind record -u %s", entry->pw_name);
		return false;
	}
	owner->uid = entry->pw_uid;
	owner->gid = entry->pw_gid;
	owner->name = strdup(entry->pw_name);
	owner->home = strdup(entry->pw_dir);
	owner->shell = strdup(*entry->pw_shell ? entry->pw_shell : "/bin/sh");
	if (owner->name && owner->home && owner->shell)
		return true;
	kunwind_tool_error("out of memory");
	return false;
}

bool owner_become(const struct owner *owner)
{
	if (!owner->name)
		return true;
	return !initgroups(owner->name, owner->gid) && !setresgid(owner->gid, owner->gid, owner->gid) &&
	       !setresuid(owner->uid, owner->uid, owner->uid) && !setenv("HOME", owner->home, 1) &&
	       !setenv("USER", owner->name, 1) && !setenv("LOGNAME", owner->name, 1) &&
	       !setenv("SHELL", owner->shell, 1);
}

/* What kunwind_dir_each() passes on. */
struct giving {
	const struct owner *owner;
	dev_t device;
	int levels;
};

/* Gives one file, or one directory with all that is in it: the directory last. */
static bool give(int dir, const char *name, void *data)
{
	struct giving *giving = data;
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return true;
	if (!fstat(fd, &st) && st.st_dev == giving->device && st.st_uid == geteuid()) {
		if (S_ISDIR(st.st_mode) && giving->levels) {
			giving->levels--;
			kunwind_dir_each(fd, give, giving);
			giving->levels++;
		}
		if ((S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_nlink == 1)) &&
		    fchown(fd, giving->owner->uid, giving->owner->gid))
			kunwind_tool_error("%s: cannot give it to %s: %s", name, giving->owner->name,
					   strerror(errno));
	}
	close(fd);
	return true;
}

void owner_give(const struct owner *owner, int dir, const char *path)
{
	struct giving giving = { owner, 0, LEVELS };
	struct stat st;
	pid_t pid;

	if (!owner->name || dir < 0 || fstat(dir, &st))
		return;
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)) {
		kunwind_tool_error("%s: it stays root's, because others can change the directory; let "
				   "kunwind make a new one to get the trace", path);
		return;
	}
	giving.device = st.st_dev;
	kunwind_dir_each(dir, give, &giving);
	if (fchown(dir, owner->uid, owner->gid))
		kunwind_tool_error("%s: cannot give it to %s: %s", path, owner->name, strerror(errno));
	pid = fork();
	if (!pid) {
		/* the state is below a directory that the user may change */
		unsetenv("XDG_STATE_HOME");
		if (owner_become(owner))
			kunwind_last_set(path);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

// SPDX-License-Identifier: MIT
/*
 * last.c - remember the last recording, so that the commands that read traces need no name
 *
 * The state is a symbolic link, kunwind/last in $XDG_STATE_HOME (default ~/.local/state), because
 * rename(2) replaces a link as a whole. A directory that another user owns is not used: root would
 * write below the home of a user who may change it meanwhile ("sudo -E").
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "last.h"

/* Opens a directory below @dir, which is closed. @make: make it if needed. */
static int below(int dir, const char *name, bool make)
{
	struct stat st;
	int fd;

	if (make)
		mkdirat(dir, name, 0700);
	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(dir);
	if (fd < 0 || (!fstat(fd, &st) && st.st_uid == geteuid()))
		return fd;
	close(fd);
	return -1;
}

/* Returns the directory of the state; -1: there is none. */
static int state_dir(bool make)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int dir = -1;

	if (state && *state == '/') {
		dir = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);
	} else if (home && *home == '/') {
		dir = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir >= 0)
			dir = below(dir, ".local", make);
		if (dir >= 0)
			dir = below(dir, "state", make);
	}
	return dir < 0 ? dir : below(dir, "kunwind", make);
}

void kunwind_last_set(const char *path)
{
	int dir = state_dir(true);
	char name[32];

	if (dir < 0)
		return;
	snprintf(name, sizeof(name), "last.%d", (int)getpid());
	unlinkat(dir, name, 0);
	if (!symlinkat(path, dir, name) && renameat(dir, name, dir, "last"))
		unlinkat(dir, name, 0);
	close(dir);
}

bool kunwind_last_get(char *path, size_t size)
{
	int dir = state_dir(false);
	ssize_t n = -1;

	if (dir >= 0) {
		n = readlinkat(dir, "last", path, size);
		close(dir);
	}
	if (n <= 0 || (size_t)n >= size)
		return false;
	path[n] = '\0';
	return true;
}

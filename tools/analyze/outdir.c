// SPDX-License-Identifier: MIT
/*
 * outdir.c - the directory that "kunwind export --ctf" writes
 *
 * All is written to a directory inside, and moved up when it is complete. So the
 * named directory holds a whole trace or nothing, and keeps its owner and mode.
 * If the program ends before outdir_close(), also by a signal (trace/at_end.c), what
 * was written is removed. What SIGKILL leaves is removed by the next export to this
 * directory; the directory is locked, so this does not hit an export that still runs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "outdir.h"
#include "tool.h"
#include "trace/at_end.h"

#define INSIDE	".kunwind-export"

static struct outdir *open_one;		/* removed at the end; NULL: none */

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static bool remove_all(int parent, const char *name);

/* Removes the entries of @dir that one read finds. False: none. */
static bool remove_entries(int dir)
{
	_Alignas(struct dirent64) char buffer[2048];
	long size = syscall(SYS_getdents64, dir, buffer, sizeof(buffer)), at;
	const struct dirent64 *entry;
	bool removed = false;

	for (at = 0; at < size; at += entry->d_reclen) {
		entry = (const struct dirent64 *)(buffer + at);
		if (!is_dot(entry->d_name))
			removed |= !unlinkat(dir, entry->d_name, 0) || remove_all(dir, entry->d_name);
	}
	return removed;
}

/* Removes a directory with all that is in it. Only async-signal-safe functions. */
static bool remove_all(int parent, const char *name)
{
	int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return false;
	/* from the beginning again, because entries moved up */
	while (remove_entries(dir))
		lseek(dir, 0, SEEK_SET);
	close(dir);
	return !unlinkat(parent, name, AT_REMOVEDIR);
}

/* Returns an errno; 0: the directory is empty, except for what a killed export left. */
static int check_empty(const char *path, bool *left)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int error = 0;

	if (!dir)
		return errno;
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, INSIDE))
			*left = true;
		else if (!is_dot(entry->d_name))
			error = ENOTEMPTY;
	}
	closedir(dir);
	return error;
}

/* Opens and locks the directory, and removes what a killed export left. Returns an errno. */
static int take(struct outdir *out)
{
	bool left = false, locked;
	int error = check_empty(out->path, &left);

	if (error)
		return error;
	if (access(out->path, W_OK | X_OK))
		return errno;
	out->dir = open(out->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out->dir < 0)
		return errno;
	/* some file systems have no locks */
	locked = !flock(out->dir, LOCK_EX | LOCK_NB);
	if (!locked && errno == EWOULDBLOCK)
		error = EBUSY;
	else if (left && !(locked && remove_all(out->dir, INSIDE)))
		error = ENOTEMPTY;
	if (error)
		close(out->dir);
	return error;
}

/* Also called by a signal handler. */
static void remove_open(void)
{
	if (!open_one)
		return;
	remove_all(open_one->dir, INSIDE);
	if (open_one->made)
		rmdir(open_one->path);	/* succeeds only if nothing is in it */
	open_one = NULL;
}

static void report(const char *path, int error)
{
	switch (error) {
	case ENOTEMPTY:
	case ENOTDIR:
		kunwind_tool_error("%s: is there already and not an empty directory: name another (-o)",
				   path);
		break;
	case EBUSY:
		kunwind_tool_error("%s: another kunwind export writes there: name another directory (-o)",
				   path);
		break;
	default:
		kunwind_tool_error("%s: %s", path, strerror(error));
	}
}

bool outdir_open(struct outdir *out, const char *path)
{
	sigset_t old;
	int error;

	out->path = path;
	if (kunwind_tool_is_empty(path))
		return false;
	if (snprintf(out->inside, sizeof(out->inside), "%s/" INSIDE, path) >= (int)sizeof(out->inside)) {
		report(path, ENAMETOOLONG);
		return false;
	}
	kunwind_block_signals(&old);
	out->made = !mkdir(path, 0777);
	error = out->made || errno == EEXIST ? take(out) : errno;
	if (!error) {
		open_one = out;
		kunwind_at_end(remove_open);
	} else if (out->made) {
		rmdir(path);
	}
	kunwind_unblock_signals(&old);
	if (error)
		report(path, error);
	return !error;
}

/* Returns an errno. */
static int move_up(const struct outdir *out)
{
	DIR *dir = opendir(out->inside);
	struct dirent *entry;
	int error = dir ? 0 : errno;

	while (!error && (entry = readdir(dir))) {
		if (!is_dot(entry->d_name) &&
		    renameat(dirfd(dir), entry->d_name, out->dir, entry->d_name))
			error = errno;
	}
	if (dir)
		closedir(dir);
	return error ? error : unlinkat(out->dir, INSIDE, AT_REMOVEDIR) ? errno : 0;
}

bool outdir_close(struct outdir *out, bool ok)
{
	sigset_t old;
	int error;

	kunwind_block_signals(&old);
	error = ok ? move_up(out) : 0;
	if (ok && !error)
		open_one = NULL;
	remove_open();
	close(out->dir);
	kunwind_unblock_signals(&old);
	if (error)
		kunwind_tool_error("%s: %s", out->path, strerror(error));
	return ok && !error;
}

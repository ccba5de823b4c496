// SPDX-License-Identifier: MIT
/*
 * outdir.c - the directory that "kunwind export --ctf" writes
 *
 * All is written to a directory inside, and moved up when it is complete. So the
 * named directory holds a whole trace or nothing, and keeps its owner and mode.
 * If the program exits before outdir_close(), what was written is removed, too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outdir.h"
#include "tool.h"

static struct outdir *open_one;		/* removed at exit; NULL: none */

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Returns an errno; 0: the directory is empty. */
static int check_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int error = 0;

	if (!dir)
		return errno;
	while ((entry = readdir(dir))) {
		if (!is_dot(entry->d_name))
			error = ENOTEMPTY;
	}
	closedir(dir);
	return error;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info, (void)type, (void)where;
	return remove(path);
}

static void remove_open(void)
{
	if (!open_one)
		return;
	nftw(open_one->inside, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	if (open_one->made)
		rmdir(open_one->path);	/* succeeds only if nothing is in it */
	open_one = NULL;
}

bool outdir_open(struct outdir *out, const char *path)
{
	int error;

	out->path = path;
	out->made = !mkdir(path, 0777);
	error = out->made ? 0 : errno == EEXIST ? check_empty(path) : errno;
	if (!error && !out->made && access(path, W_OK | X_OK))
		error = errno;
	if (!error && snprintf(out->inside, sizeof(out->inside), "%s/.kunwind-export", path) >=
		      (int)sizeof(out->inside))
		error = ENAMETOOLONG;
	if (!error) {
		open_one = out;
		atexit(remove_open);
		return true;
	}
	if (error == ENOTEMPTY || error == ENOTDIR)
		kunwind_tool_error("%s: is there already and not an empty directory: name another (-o)",
				   path);
	else
		kunwind_tool_error("%s: %s", path, strerror(error));
	if (out->made)
		rmdir(path);
	return false;
}

/* Returns an errno. */
static int move_up(const struct outdir *out)
{
	int to = open(out->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
	DIR *dir = opendir(out->inside);
	struct dirent *entry;

	if (to < 0 || !dir)
		error = errno;
	while (!error && (entry = readdir(dir))) {
		if (!is_dot(entry->d_name) &&
		    renameat(dirfd(dir), entry->d_name, to, entry->d_name))
			error = errno;
	}
	if (dir)
		closedir(dir);
	if (to >= 0)
		close(to);
	return error ? error : rmdir(out->inside) ? errno : 0;
}

bool outdir_close(struct outdir *out, bool ok)
{
	int error = ok ? move_up(out) : 0;

	if (error)
		kunwind_tool_error("%s: %s", out->path, strerror(error));
	if (ok && !error)
		open_one = NULL;
	remove_open();
	return ok && !error;
}

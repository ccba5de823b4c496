// SPDX-License-Identifier: MIT
/*
 * directory.c - make and lock the directory of a recording
 *
 * Two recordings must not write to one directory: LTTng would give their files the
 * same names. It is not enough that the directory is empty, because it stays empty
 * while a recording starts. So a recording locks the directory until the recording
 * ends. Recordings without a name that start in the same second get different names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "directory.h"
#include "dir.h"
#include "tool.h"

/* Opens the directory above directory->name, and sets directory->base. Returns 0 or an errno. */
static int find(struct directory *directory)
{
	char name[PATH_MAX];
	size_t size = strlen(directory->name);

	while (size > 1 && directory->name[size - 1] == '/')
		size--;
	if (size >= sizeof(name))
		return ENAMETOOLONG;
	snprintf(name, sizeof(name), "%.*s", (int)size, directory->name);
	directory->above = kunwind_dir_find(name, directory->base, sizeof(directory->base));
	return directory->above < 0 ? errno : 0;
}

/*
 * Makes and locks directory->name. @existing: it may exist, if it is empty.
 * Returns 0 or an errno.
 */
static int take(struct directory *directory, bool existing)
{
	int error = find(directory);

	if (error)
		return error;
	directory->made = !mkdirat(directory->above, directory->base, 0777);
	if (!directory->made && (errno != EEXIST || !existing))
		return errno;
	directory->lock = openat(directory->above, directory->base,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory->lock < 0)
		return errno;
	/* some file systems have no locks */
	if (flock(directory->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return EBUSY;
	if (!kunwind_dir_is_empty(directory->lock, NULL))
		return ENOTEMPTY;
	/* LTTng writes with the rights of this user, and would not say what it cannot write */
	if (faccessat(directory->lock, ".", W_OK | X_OK, AT_EACCESS))
		return errno;
	return kunwind_dir_path(directory->lock, directory->path, sizeof(directory->path)) ? 0 : errno;
}

static void close_all(struct directory *directory)
{
	if (directory->lock >= 0)
		close(directory->lock);
	if (directory->above >= 0)
		close(directory->above);
	directory->lock = directory->above = -1;
}

/* Removes the directory if this recording made it, and nothing is in it. */
static void remove_made(struct directory *directory)
{
	if (directory->made)
		unlinkat(directory->above, directory->base, AT_REMOVEDIR);
	directory->made = false;
}

/* As take(), with a name made from the time; a number follows it if it exists. */
static int take_new(struct directory *directory)
{
	static char name[64];
	time_t now = time(NULL);
	struct tm tm;
	size_t length;
	int i, error;

	localtime_r(&now, &tm);
	length = strftime(name, sizeof(name), "kunwind-%Y%m%d-%H%M%S", &tm);
	directory->name = name;
	for (i = 2; (error = take(directory, false)) == EEXIST; i++) {
		close_all(directory);
		snprintf(name + length, sizeof(name) - length, "-%d", i);
	}
	return error;
}

bool directory_take(struct directory *directory, const char *name)
{
	int error;

	*directory = (struct directory){ .name = name, .lock = -1, .above = -1 };
	error = name ? take(directory, true) : take_new(directory);
	if (!error)
		return true;
	if (error == EBUSY)
		kunwind_tool_error("%s: another recording writes there: name another directory (-o)",
				   directory->name);
	else if (error == ENOTEMPTY || error == ENOTDIR)
		kunwind_tool_error("%s: is there already and not an empty directory: name another (-o)",
				   directory->name);
	else
		kunwind_tool_error("%s: %s%s", directory->name, strerror(error),
				   error == EACCES && !geteuid() ?
				   ": root follows no link of another user" : "");
	remove_made(directory);
	close_all(directory);
	return false;
}

void directory_release(struct directory *directory)
{
	remove_made(directory);
	close_all(directory);
}

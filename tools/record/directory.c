// SPDX-License-Identifier: MIT
/*
 * directory.c - make and lock the directory of a recording
 *
 * Two recordings must not write to one directory: LTTng would give their files the
 * same names. It is not enough that the directory is empty, because it stays empty
 * while a recording starts. So a recording locks the directory until the recording
 * ends. Recordings without a name that start in the same second get different names.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "directory.h"
#include "tool.h"

bool directory_is_empty(const char *path, const char *except)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = dir != NULL;

	while (dir && (entry = readdir(dir)))
		empty = empty && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
				  !strcmp(entry->d_name, except));
	if (dir)
		closedir(dir);
	return empty;
}

/*
 * Makes and locks directory->name. @existing: it may exist, if it is empty.
 * Returns 0 or an errno.
 */
static int take(struct directory *directory, bool existing)
{
	directory->made = !mkdir(directory->name, 0777);
	if (!directory->made && (errno != EEXIST || !existing))
		return errno;
	directory->lock = open(directory->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* some file systems have no locks */
	if (directory->lock >= 0 && flock(directory->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return EBUSY;
	if (!directory->made && !directory_is_empty(directory->name, ""))
		return ENOTEMPTY;
	/* LTTng writes with the rights of this user, and would not say what it cannot write */
	if (faccessat(AT_FDCWD, directory->name, W_OK | X_OK, AT_EACCESS))
		return errno;
	return realpath(directory->name, directory->path) ? 0 : errno;
}

static void unlock(struct directory *directory)
{
	if (directory->lock >= 0)
		close(directory->lock);
	directory->lock = -1;
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
	for (i = 2; (error = take(directory, false)) == EEXIST; i++)
		snprintf(name + length, sizeof(name) - length, "-%d", i);
	return error;
}

bool directory_take(struct directory *directory, const char *name)
{
	int error;

	*directory = (struct directory){ .name = name, .lock = -1 };
	error = name ? take(directory, true) : take_new(directory);
	if (!error)
		return true;
	unlock(directory);
	if (error == EBUSY)
		kunwind_tool_error("%s: another recording writes there: name another directory (-o)",
				   directory->name);
	else if (error == ENOTEMPTY)
		kunwind_tool_error("%s: is there already and not an empty directory: name another (-o)",
				   directory->name);
	else
		kunwind_tool_error("%s: %s", directory->name, strerror(error));
	if (directory->made)
		rmdir(directory->name);
	directory->made = false;
	return false;
}

void directory_release(struct directory *directory)
{
	if (directory->made)
		rmdir(directory->path);		/* succeeds only if nothing was written */
	unlock(directory);
}

// SPDX-License-Identifier: MIT
/*
 * open.c - open a file only if it is a regular file
 *
 * Paths come from traces and from ELF files, which may be hostile. open(2) of a
 * device or of a FIFO has side effects: a watchdog starts, a tape rewinds, a
 * writer of the FIFO continues. Therefore the path is first opened by O_PATH,
 * which has no side effects. A regular file is then opened again by that
 * descriptor, so nobody can replace the file in between. Without /proc, no file
 * is opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "open.h"

int kunwind_open_handle(const char *path, int flags, struct stat *st)
{
	int handle = open(path, O_PATH | O_CLOEXEC | flags), error;

	if (handle < 0)
		return -1;
	error = fstat(handle, st) ? errno : S_ISREG(st->st_mode) ? 0 : EINVAL;
	if (!error)
		return handle;
	close(handle);
	errno = error;
	return -1;
}

int kunwind_open_again(int handle)
{
	char link[32];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", handle);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* ENOENT means that there is no /proc: the file exists */
	if (fd < 0 && errno == ENOENT)
		errno = EACCES;
	return fd;
}

int kunwind_open_regular(const char *path, int flags)
{
	struct stat st;
	int handle = kunwind_open_handle(path, flags, &st), fd, error;

	if (handle < 0)
		return -1;
	fd = kunwind_open_again(handle);
	error = errno;
	close(handle);
	errno = error;
	return fd;
}

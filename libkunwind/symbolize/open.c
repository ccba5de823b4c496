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
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

int kunwind_open_regular(const char *path, int flags)
{
	int handle = open(path, O_PATH | O_CLOEXEC | flags), fd = -1, error = EINVAL;
	char link[32];
	struct stat st;

	if (handle < 0)
		return -1;
	if (!fstat(handle, &st) && S_ISREG(st.st_mode)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", handle);
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		/* ENOENT means that there is no /proc: the file exists */
		error = fd < 0 && errno != ENOENT ? errno : EACCES;
	}
	close(handle);
	if (fd < 0)
		errno = error;
	return fd;
}

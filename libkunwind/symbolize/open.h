/* SPDX-License-Identifier: MIT */
/*
 * open.h - open a file only if it is a regular file
 */
#ifndef KUNWIND_OPEN_H
#define KUNWIND_OPEN_H

#include <sys/stat.h>

/*
 * Opens @path for reading if it is a regular file. Otherwise returns -1 (errno)
 * without side effects on a device or FIFO. @flags: 0 or O_NOFOLLOW.
 */
int kunwind_open_regular(const char *path, int flags);

/*
 * The two halves of it: first a handle (O_PATH) of a regular file, which does not
 * open the file; then the file of the handle, which stays open.
 */
int kunwind_open_handle(const char *path, int flags, struct stat *st);
int kunwind_open_again(int handle);

#endif /* KUNWIND_OPEN_H */

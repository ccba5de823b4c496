/* SPDX-License-Identifier: MIT */
/*
 * disk.h - find out whether a recorded trace is cut off, because the disk was full
 */
#ifndef KUNWIND_RECORD_DISK_H
#define KUNWIND_RECORD_DISK_H

#include <stddef.h>

enum disk {
	DISK_ENOUGH,
	DISK_FULL,		/* the trace ends early */
	DISK_FULL_EMPTY,	/* the trace has no packet, and so no event */
	DISK_REMOVED,		/* files were removed; set by the caller of disk_files() */
	DISK_REMOVED_ALL,
};

/*
 * Returns whether the disk was full while the trace in the directory @dir, a descriptor, was
 * written. Cuts stream files to their whole packets, so that every reader opens
 * the trace. Files that belong to another user, or have several names, are neither
 * read nor cut.
 */
enum disk disk_check(int dir);

/* Returns the number of files of the trace in the directory @dir: metadata and streams. */
size_t disk_files(int dir);

#endif /* KUNWIND_RECORD_DISK_H */

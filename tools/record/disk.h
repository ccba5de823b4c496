/* SPDX-License-Identifier: MIT */
/*
 * disk.h - find out whether a recorded trace is cut off, because the disk was full
 */
#ifndef KUNWIND_RECORD_DISK_H
#define KUNWIND_RECORD_DISK_H

enum disk {
	DISK_ENOUGH,
	DISK_FULL,		/* the trace ends early */
	DISK_FULL_EMPTY,	/* the trace has no packet, and so no event */
};

/*
 * Returns whether the disk was full while the trace in @dir was written. Cuts
 * stream files to their whole packets, so that every reader opens the trace.
 */
enum disk disk_check(const char *dir);

#endif /* KUNWIND_RECORD_DISK_H */

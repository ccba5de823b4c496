/* SPDX-License-Identifier: MIT */
/*
 * disk.h - find out whether a recorded trace is cut off, because the disk was full
 */
#ifndef KUNWIND_RECORD_DISK_H
#define KUNWIND_RECORD_DISK_H

#include <stdbool.h>

/*
 * Returns whether the disk was full while the trace in @dir was written. Cuts
 * stream files to their whole packets, so that every reader opens the trace.
 */
bool disk_was_full(const char *dir);

#endif /* KUNWIND_RECORD_DISK_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filesystem.h - file systems with known objects, by device number
 *
 * @dev is an encoded device number (new_encode_dev()); 0: no file system.
 */
#ifndef _KUNWIND_FILESYSTEM_H
#define _KUNWIND_FILESYSTEM_H

#include <linux/types.h>

/* Call it before all other functions. */
void kunwind_filesystems_init(void);

/*
 * How many file systems with this device number have ended while it had known
 * objects. Any context.
 */
u32 kunwind_filesystem_epoch(u32 dev);

/*
 * Count one more object of the device number, or one less. @epoch was read
 * while the caller had the object's file, which the caller still has. False: no
 * memory. No sleep.
 */
bool __must_check kunwind_filesystem_get(u32 dev, u32 epoch);
void kunwind_filesystem_put(u32 dev);

/*
 * Whether no task is to wait for the file system any more, because too many
 * waits have timed out. stalled(): one more wait has timed out; answered(): a
 * read has returned, so the count is 0 again. Any context.
 */
bool kunwind_filesystem_hangs(u32 dev);
void kunwind_filesystem_stalled(u32 dev);
void kunwind_filesystem_answered(u32 dev);

/* The file system with this device number ends. Process context; no sleep. */
void kunwind_filesystem_ends(u32 dev);

#endif /* _KUNWIND_FILESYSTEM_H */

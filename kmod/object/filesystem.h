/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filesystem.h - file systems of which objects are known, by device number
 */
#ifndef _KUNWIND_FILESYSTEM_H
#define _KUNWIND_FILESYSTEM_H

#include <linux/types.h>

/* How many file systems had the number, and ended, while objects of it were known. Any context. */
u32 kunwind_filesystem_epoch(u32 dev);

/*
 * One more object of it, or one less. @epoch: as read with the object's file in hand,
 * which the caller still has. False: no memory. No sleep.
 */
bool __must_check kunwind_filesystem_get(u32 dev, u32 epoch);
void kunwind_filesystem_put(u32 dev);

/*
 * Whether so many tasks waited for it in vain that no task is to wait any more.
 * stalled(): one more did; answered(): a read came back. An object of it is known. Any context.
 */
bool kunwind_filesystem_hangs(u32 dev);
void kunwind_filesystem_stalled(u32 dev);
void kunwind_filesystem_answered(u32 dev);

/* The one with this number ends. Process context; no sleep. */
void kunwind_filesystem_ends(u32 dev);

#endif /* _KUNWIND_FILESYSTEM_H */

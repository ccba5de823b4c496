/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * original.h - the bytes of code that breakpoints hide
 */
#ifndef _KUNWIND_ORIGINAL_H
#define _KUNWIND_ORIGINAL_H

#include <linux/types.h>

void kunwind_original_init(void);

/*
 * Sets *@byte to the file's byte at @addr, in ranges with this @id. False: the
 * byte is not known, and *@byte is undefined. Any context. notrace.
 */
bool kunwind_original_find(u64 id, u64 addr, u8 *byte);

/* Keeps the byte at @addr for ranges with this @id. Any context. */
void kunwind_original_keep(u64 id, u64 addr, u8 byte);

#endif /* _KUNWIND_ORIGINAL_H */

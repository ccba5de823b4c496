/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * original.h - the bytes of code over which breakpoints were put
 */
#ifndef _KUNWIND_ORIGINAL_H
#define _KUNWIND_ORIGINAL_H

#include <linux/types.h>

struct mm_struct;

void kunwind_original_init(void);

/* What the file has at @addr, in ranges with this @id. False: not known. Any context. notrace. */
bool kunwind_original_find(u64 id, u64 addr, u8 *byte);

/**
 * kunwind_original_learn() - find out what stands under the breakpoint at @addr, and near it
 * @mm: the current task's, with mmap_lock held
 * @id: of the ranges that were walked
 * Reads no file: only pages that are in memory. May sleep. False: it is not known.
 */
bool kunwind_original_learn(struct mm_struct *mm, u64 id, u64 addr);

#endif /* _KUNWIND_ORIGINAL_H */

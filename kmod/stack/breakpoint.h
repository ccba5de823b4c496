/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * breakpoint.h - find the bytes of code that breakpoints hide
 */
#ifndef _KUNWIND_BREAKPOINT_H
#define _KUNWIND_BREAKPOINT_H

#include <linux/types.h>

struct mm_struct;

/**
 * kunwind_breakpoint_learn() - find the bytes under the breakpoints of a page
 * @mm: the current task's, with mmap_lock held
 * @id: of the ranges that were walked
 * @addr: of a breakpoint that a walk has met, in that page
 * Reads no file, only pages in memory. Task context.
 * Return: true: kunwind_original_find() has the byte at @addr now. False: a
 * page is not in memory, @addr is not in code of a file, or the code around it
 * is not the file's. The same request would probably fail again.
 */
bool kunwind_breakpoint_learn(struct mm_struct *mm, u64 id, u64 addr);

#endif /* _KUNWIND_BREAKPOINT_H */

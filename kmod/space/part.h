/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * part.h - parts of tables that a walk has missed
 */
#ifndef _KUNWIND_PART_H
#define _KUNWIND_PART_H

#include "../core/kunwind_core.h"

struct mm_struct;

/*
 * Returns whether the code at @addr in @range (or NULL) has no rule only
 * because a part of its table is not built, and marks this part as wanted. Any
 * context, with preemption off or inside rcu_read_lock(). notrace.
 */
bool kunwind_part_missing(const struct kunwind_range *range, u64 addr);

/**
 * kunwind_part_wait() - wait for the missing table part of the code at @addr
 * @mm: of the current task
 * @timeout: jiffies
 * Sleeps, killably. Return: 0: no part is missing; -ENOENT: the mapping or its
 * table has gone; -ETIME: a timeout, a fatal signal, or (at once) a wait for a
 * part of the same object has timed out in the last second.
 */
int kunwind_part_wait(const struct mm_struct *mm, u64 addr, unsigned long timeout);

#endif /* _KUNWIND_PART_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory_limit.h - limit the memory of tables and mappings, in all and for each
 * user
 */
#ifndef _KUNWIND_MEMORY_LIMIT_H
#define _KUNWIND_MEMORY_LIMIT_H

#include <linux/types.h>

#include "quota.h"

struct seq_file;

/*
 * Returns @size bytes of zeroed memory, charged to @quota (may be NULL) and to
 * the sum of all users. NULL: no memory, or over a limit, which is counted.
 * *@charged: the bytes that the allocator gave, which are charged: up to twice
 * @size. Any context that allows @gfp (GFP_KERNEL or GFP_ATOMIC).
 */
void *kunwind_memory_alloc(struct kunwind_quota *quota, size_t size, gfp_t gfp, size_t *charged);
/* Frees @p and uncharges it. May sleep. */
void kunwind_memory_free(struct kunwind_quota *quota, void *p, size_t charged);

/*
 * Charges @bytes to the sum of all users, and to @quota unless it is NULL.
 * Returns 0; or, with nothing charged, -EDQUOT: the user would exceed
 * max_user_table_mb; otherwise -ENOSPC: the sum would exceed max_table_mb. Any
 * context except NMI, both functions.
 */
int __must_check kunwind_memory_charge(struct kunwind_quota *quota, size_t bytes);
void kunwind_memory_uncharge(struct kunwind_quota *quota, size_t bytes);

/*
 * Like kunwind_memory_charge(), but first frees idle objects if there is no
 * room: only those of the user of @quota if that user's share is used up. The
 * errors are the same. May sleep.
 */
int __must_check kunwind_memory_make_room(struct kunwind_quota *quota, size_t bytes);

/*
 * Sets the function that makes room: @reclaim frees idle objects until
 * kunwind_memory_charge() succeeds or none is left, and returns its last
 * result. Only for the module's init, before anything is charged. It is never
 * cleared, because everything that charges memory ends before idle objects do.
 */
void kunwind_memory_set_reclaim(int (*reclaim)(struct kunwind_quota *quota, size_t bytes));

/* Counts a table, snapshot, name or object for which there was no room. */
void kunwind_memory_refused(void);

void kunwind_memory_show(struct seq_file *m);
void kunwind_memory_show_params(struct seq_file *m);

#endif /* _KUNWIND_MEMORY_LIMIT_H */

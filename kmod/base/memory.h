/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - limit the memory of tables and mappings, in all and for each user
 */
#ifndef _KUNWIND_MEMORY_H
#define _KUNWIND_MEMORY_H

#include <linux/types.h>

#include "payer.h"

struct seq_file;

/*
 * Charges @bytes to the sum of all, and to @payer unless it is NULL. Returns 0;
 * or, with nothing charged, -ENOSPC: over max_table_mb, or -EDQUOT: over
 * max_user_table_mb. Any context except NMI, both functions.
 */
int __must_check kunwind_memory_charge(struct kunwind_payer *payer, size_t bytes);
void kunwind_memory_uncharge(struct kunwind_payer *payer, size_t bytes);

/* Counts a table, snapshot, name or object for which there was no room. */
void kunwind_memory_refused(void);

void kunwind_memory_show(struct seq_file *m);
void kunwind_memory_show_params(struct seq_file *m);

#endif /* _KUNWIND_MEMORY_H */

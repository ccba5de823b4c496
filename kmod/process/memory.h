/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - how much memory tables and lists of mappings take, and for whom
 */
#ifndef _KUNWIND_MEMORY_H
#define _KUNWIND_MEMORY_H

#include <linux/types.h>

#include "payer.h"

struct seq_file;

/*
 * 0, or (nothing was charged) -ENOSPC: over the limit of all, -EDQUOT: over
 * this user's share. Any context but NMI.
 */
int __must_check kunwind_memory_charge(struct kunwind_payer *payer, size_t bytes);
void kunwind_memory_uncharge(struct kunwind_payer *payer, size_t bytes);

/* Something was not built, or not listed, for want of room. */
void kunwind_memory_refused(void);

void kunwind_memory_show(struct seq_file *m);
void kunwind_memory_show_params(struct seq_file *m);

#endif /* _KUNWIND_MEMORY_H */

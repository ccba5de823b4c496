/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - how much memory tables and lists of mappings take, and for whom
 */
#ifndef _KUNWIND_MEMORY_H
#define _KUNWIND_MEMORY_H

#include <linux/types.h>

struct kunwind_payer;
struct mm_struct;
struct seq_file;

/*
 * The user to whom is charged what @mm's process has built, with a reference.
 * NULL: nobody, it has CAP_SYS_ADMIN in the initial user namespace. No sleep.
 */
struct kunwind_payer *kunwind_payer_of(struct mm_struct *mm);

/* @payer may be NULL in all of these. No sleep. */
struct kunwind_payer *kunwind_payer_get(struct kunwind_payer *payer);
void kunwind_payer_put(struct kunwind_payer *payer);

/*
 * 0, or (nothing was charged) -ENOSPC: over the limit of all, -EDQUOT: over
 * this user's share. Any context but NMI.
 */
int __must_check kunwind_memory_charge(struct kunwind_payer *payer, size_t bytes);
void kunwind_memory_uncharge(struct kunwind_payer *payer, size_t bytes);

/* One more object, or one less. False: the user's share of them is used up. */
bool __must_check kunwind_payer_add_object(struct kunwind_payer *payer, unsigned int limit);
void kunwind_payer_remove_object(struct kunwind_payer *payer);

/* Something was not built, or not listed, for want of room. */
void kunwind_memory_refused(void);

void kunwind_memory_show(struct seq_file *m);
void kunwind_memory_show_params(struct seq_file *m);

#endif /* _KUNWIND_MEMORY_H */

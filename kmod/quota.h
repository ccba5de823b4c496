/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quota.h - how many processes one user may have registered
 */
#ifndef _KUNWIND_QUOTA_H
#define _KUNWIND_QUOTA_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct kunwind_quota;
struct seq_file;

/*
 * One more registration of @uid. @unlimited: counted, not refused. No sleep.
 * Returns what to uncharge, or ERR_PTR(-ENOSPC), ERR_PTR(-ENOMEM).
 */
struct kunwind_quota *kunwind_quota_charge(kuid_t uid, bool unlimited);

/* One less. NULL: none. No sleep. */
void kunwind_quota_uncharge(struct kunwind_quota *quota);

void kunwind_quota_show_params(struct seq_file *m);

#endif /* _KUNWIND_QUOTA_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * quota.c - how many processes one user may have registered
 *
 * A count for each user who has any, in a small hash. The user is the real one
 * of whoever registers, in the initial namespace: a user namespace gives no
 * second quota.
 *
 * Lock: quotas_lock, inside processes_lock. Memory: 32 bytes a user.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "quota.h"

#define USER_BITS	6

static unsigned int max_user_processes = 1024;
module_param(max_user_processes, uint, 0644);
MODULE_PARM_DESC(max_user_processes,
		 "most processes registered at a time by one user without CAP_SYS_ADMIN (default 1024)");

struct kunwind_quota {
	struct hlist_node node;
	kuid_t uid;
	unsigned int nr;
};

static struct hlist_head quotas[1 << USER_BITS];
static DEFINE_SPINLOCK(quotas_lock);	/* the hash and the counts */

static struct kunwind_quota *quota_get(kuid_t uid)
{
	struct hlist_head *head = &quotas[hash_32(__kuid_val(uid), USER_BITS)];
	struct kunwind_quota *quota;

	lockdep_assert_held(&quotas_lock);
	hlist_for_each_entry(quota, head, node)
		if (uid_eq(quota->uid, uid))
			return quota;
	quota = kzalloc(sizeof(*quota), GFP_ATOMIC | __GFP_NOWARN);
	if (!quota)
		return NULL;
	quota->uid = uid;
	hlist_add_head(&quota->node, head);
	return quota;
}

static void free_unused(struct kunwind_quota *quota)
{
	lockdep_assert_held(&quotas_lock);
	if (quota->nr)
		return;
	hlist_del(&quota->node);
	kfree(quota);
}

struct kunwind_quota *kunwind_quota_charge(kuid_t uid, bool unlimited)
{
	struct kunwind_quota *quota;

	spin_lock(&quotas_lock);
	quota = quota_get(uid);
	if (!quota) {
		quota = ERR_PTR(-ENOMEM);
	} else if (!unlimited && quota->nr >= READ_ONCE(max_user_processes)) {
		free_unused(quota);
		quota = ERR_PTR(-ENOSPC);
	} else {
		quota->nr++;
	}
	spin_unlock(&quotas_lock);
	return quota;
}

void kunwind_quota_uncharge(struct kunwind_quota *quota)
{
	if (!quota)
		return;
	spin_lock(&quotas_lock);
	quota->nr--;
	free_unused(quota);
	spin_unlock(&quotas_lock);
}

void kunwind_quota_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_user_processes\t%u\n", READ_ONCE(max_user_processes));
}

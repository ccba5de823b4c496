// SPDX-License-Identifier: GPL-2.0-only
/*
 * payer.c - what each user has: processes, objects, bytes
 *
 * One record for each user who has anything, in a small hash. Two questions find
 * one. Whose is a table: the owner's of the process that mapped the file first,
 * as long as it is kept, whoever shares it then; so nobody pays twice, and one
 * user cannot use up what others need. Inside a user namespace it is the owner
 * of the outermost one who pays: its users are his. Whose is a registration:
 * the real user's of whoever registers, in the initial namespace.
 *
 * Lock: payers_lock, innermost. Memory: 64 bytes a user.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>

#include "payer.h"

#define BITS	6

static unsigned int max_user_processes = 1024;
module_param(max_user_processes, uint, 0644);
MODULE_PARM_DESC(max_user_processes,
		 "most processes registered at a time by one user without CAP_SYS_ADMIN (default 1024)");

struct kunwind_payer {
	struct hlist_node node;
	kuid_t uid;
	unsigned int refs;	/* under payers_lock, as the next two */
	unsigned int processes;
	unsigned int objects;
	atomic64_t bytes;
};

static struct hlist_head payers[1 << BITS];
static DEFINE_SPINLOCK(payers_lock);
/* For tables, where there was no memory for a record of their own; never freed. */
static struct kunwind_payer anyone = { .uid = KUIDT_INIT(-1), .refs = 1 };

/* Who pays for what runs with @cred; false: nobody. */
static bool payer_uid(const struct cred *cred, kuid_t *uid)
{
	const struct user_namespace *ns = cred->user_ns;

	*uid = cred->uid;
	if (ns == &init_user_ns)
		return !cap_raised(cred->cap_effective, CAP_SYS_ADMIN);
	for (; ns != &init_user_ns; ns = ns->parent)
		*uid = ns->owner;
	return true;
}

/* The record of @uid, with a reference; NULL: no memory for one. */
static struct kunwind_payer *payer_find(kuid_t uid)
{
	struct hlist_head *head = &payers[hash_32(__kuid_val(uid), BITS)];
	struct kunwind_payer *payer;

	lockdep_assert_held(&payers_lock);
	hlist_for_each_entry(payer, head, node) {
		if (uid_eq(payer->uid, uid)) {
			payer->refs++;
			return payer;
		}
	}
	payer = kzalloc(sizeof(*payer), GFP_ATOMIC | __GFP_NOWARN);
	if (!payer)
		return NULL;
	payer->uid = uid;
	payer->refs = 1;
	hlist_add_head(&payer->node, head);
	return payer;
}

/* One reference less. Returns what is to be freed, outside the lock. */
static struct kunwind_payer *payer_drop(struct kunwind_payer *payer)
{
	lockdep_assert_held(&payers_lock);
	if (--payer->refs)
		return NULL;
	hlist_del(&payer->node);
	return payer;
}

/* The task whose mm it is: the current one, or who the kernel says has it. */
static const struct task_struct *owner_of(const struct mm_struct *mm)
{
	const struct task_struct *owner = NULL;

	if (current->mm == mm)
		return current;
#ifdef CONFIG_MEMCG
	owner = rcu_dereference(mm->owner);
#endif
	return owner ? owner : current;
}

struct kunwind_payer *kunwind_payer_of(struct mm_struct *mm)
{
	struct kunwind_payer *payer;
	bool pays;
	kuid_t uid;

	rcu_read_lock();
	pays = payer_uid(__task_cred(owner_of(mm)), &uid);
	rcu_read_unlock();
	if (!pays)
		return NULL;
	spin_lock(&payers_lock);
	payer = payer_find(uid);
	if (!payer) {
		payer = &anyone;
		payer->refs++;
	}
	spin_unlock(&payers_lock);
	return payer;
}

struct kunwind_payer *kunwind_payer_get(struct kunwind_payer *payer)
{
	if (payer) {
		spin_lock(&payers_lock);
		payer->refs++;
		spin_unlock(&payers_lock);
	}
	return payer;
}

void kunwind_payer_put(struct kunwind_payer *payer)
{
	if (!payer)
		return;
	spin_lock(&payers_lock);
	payer = payer_drop(payer);
	spin_unlock(&payers_lock);
	kfree(payer);
}

struct kunwind_payer *kunwind_payer_add_process(kuid_t uid, bool unlimited)
{
	struct kunwind_payer *payer, *unused = NULL;

	spin_lock(&payers_lock);
	payer = payer_find(uid);
	if (!payer) {
		payer = ERR_PTR(-ENOMEM);
	} else if (!unlimited && payer->processes >= READ_ONCE(max_user_processes)) {
		unused = payer_drop(payer);
		payer = ERR_PTR(-ENOSPC);
	} else {
		payer->processes++;
	}
	spin_unlock(&payers_lock);
	kfree(unused);
	return payer;
}

void kunwind_payer_remove_process(struct kunwind_payer *payer)
{
	if (!payer)
		return;
	spin_lock(&payers_lock);
	payer->processes--;
	payer = payer_drop(payer);
	spin_unlock(&payers_lock);
	kfree(payer);
}

bool kunwind_payer_add_object(struct kunwind_payer *payer, unsigned int limit)
{
	bool fits = true;

	if (payer) {
		spin_lock(&payers_lock);
		fits = payer->objects < limit;
		payer->objects += fits;
		spin_unlock(&payers_lock);
	}
	return fits;
}

void kunwind_payer_remove_object(struct kunwind_payer *payer)
{
	if (payer) {
		spin_lock(&payers_lock);
		payer->objects--;
		spin_unlock(&payers_lock);
	}
}

u64 kunwind_payer_add_bytes(struct kunwind_payer *payer, size_t bytes)
{
	return payer ? atomic64_add_return(bytes, &payer->bytes) : 0;
}

void kunwind_payer_remove_bytes(struct kunwind_payer *payer, size_t bytes)
{
	if (payer)
		atomic64_sub(bytes, &payer->bytes);
}

void kunwind_payer_show(struct seq_file *m)
{
	const struct kunwind_payer *payer;
	unsigned int i;

	spin_lock(&payers_lock);
	for (i = 0; i < ARRAY_SIZE(payers); i++)
		hlist_for_each_entry(payer, &payers[i], node)
			seq_printf(m, "user\t%u\t%llu\t%u\t%u\n",
				   from_kuid_munged(&init_user_ns, payer->uid),
				   atomic64_read(&payer->bytes), payer->objects, payer->processes);
	spin_unlock(&payers_lock);
}

void kunwind_payer_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_user_processes\t%u\n", READ_ONCE(max_user_processes));
}

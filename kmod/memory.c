// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - how much memory tables and lists of mappings take, and for whom
 *
 * One sum is kept under max_table_mb: the tables; what builds that run now may
 * take, estimated from the size of the section before they begin; and the lists
 * of mappings. What is not counted is small: some 300 bytes a process and 600
 * an object, whose numbers have limits of their own.
 *
 * Of that sum a user without CAP_SYS_ADMIN may have max_user_table_mb. A table
 * is charged to whom it was built for, that is the owner of the process that
 * mapped the file first, as long as it is kept, whoever shares it then; so
 * nobody pays twice, and one user cannot use up what others need. Inside a user
 * namespace it is the owner of the outermost one who pays: its users are his.
 *
 * Memory: 64 bytes for each user who has something charged.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>

#include "memory.h"

#define BITS	6

static unsigned int max_table_mb = 512;
module_param(max_table_mb, uint, 0644);
MODULE_PARM_DESC(max_table_mb,
		 "most memory for all unwind tables and lists of mappings, MiB (default 512)");

static unsigned int max_user_table_mb = 128;
module_param(max_user_table_mb, uint, 0644);
MODULE_PARM_DESC(max_user_table_mb,
		 "of this, most for one user without CAP_SYS_ADMIN, MiB (default 128)");

struct kunwind_payer {
	struct hlist_node node;
	kuid_t uid;
	unsigned int refs;	/* under payers_lock */
	unsigned int objects;	/* under payers_lock */
	atomic64_t bytes;
};

static struct hlist_head payers[1 << BITS];
static DEFINE_SPINLOCK(payers_lock);
/* For those for whom there was no memory to have one of their own; never freed. */
static struct kunwind_payer anyone = { .uid = KUIDT_INIT(-1), .refs = 1 };

static atomic64_t used;
static atomic64_t refusals;

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

static struct kunwind_payer *payer_find(kuid_t uid)
{
	struct hlist_head *head = &payers[hash_32(__kuid_val(uid), BITS)];
	struct kunwind_payer *payer;

	spin_lock(&payers_lock);
	hlist_for_each_entry(payer, head, node)
		if (uid_eq(payer->uid, uid))
			goto found;
	payer = kzalloc(sizeof(*payer), GFP_ATOMIC | __GFP_NOWARN);
	if (payer) {
		payer->uid = uid;
		hlist_add_head(&payer->node, head);
	} else {
		payer = &anyone;
	}
found:
	payer->refs++;
	spin_unlock(&payers_lock);
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
	bool pays;
	kuid_t uid;

	rcu_read_lock();
	pays = payer_uid(__task_cred(owner_of(mm)), &uid);
	rcu_read_unlock();
	return pays ? payer_find(uid) : NULL;
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
	if (--payer->refs)
		payer = NULL;
	else
		hlist_del(&payer->node);
	spin_unlock(&payers_lock);
	kfree(payer);
}

int kunwind_memory_charge(struct kunwind_payer *payer, size_t bytes)
{
	u64 limit = (u64)READ_ONCE(max_table_mb) << 20;
	u64 share = (u64)READ_ONCE(max_user_table_mb) << 20;

	/* Added first: of two at a time not both can pass the last byte. */
	if (atomic64_add_return(bytes, &used) > limit) {
		atomic64_sub(bytes, &used);
		return -ENOSPC;
	}
	if (payer && atomic64_add_return(bytes, &payer->bytes) > share) {
		kunwind_memory_uncharge(payer, bytes);
		return -EDQUOT;
	}
	return 0;
}

void kunwind_memory_uncharge(struct kunwind_payer *payer, size_t bytes)
{
	atomic64_sub(bytes, &used);
	if (payer)
		atomic64_sub(bytes, &payer->bytes);
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

void kunwind_memory_refused(void)
{
	atomic64_inc(&refusals);
}

void kunwind_memory_show(struct seq_file *m)
{
	const struct kunwind_payer *payer;
	unsigned int i;

	seq_printf(m, "stat\tmemory_bytes\t%llu\n", atomic64_read(&used));
	seq_printf(m, "stat\tmemory_refused\t%llu\n", atomic64_read(&refusals));
	spin_lock(&payers_lock);
	for (i = 0; i < ARRAY_SIZE(payers); i++)
		hlist_for_each_entry(payer, &payers[i], node)
			seq_printf(m, "user\t%u\t%llu\t%u\n",
				   from_kuid_munged(&init_user_ns, payer->uid),
				   atomic64_read(&payer->bytes), payer->objects);
	spin_unlock(&payers_lock);
}

void kunwind_memory_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_table_mb\t%u\n", READ_ONCE(max_table_mb));
	seq_printf(m, "param\tmax_user_table_mb\t%u\n", READ_ONCE(max_user_table_mb));
}

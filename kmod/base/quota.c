// SPDX-License-Identifier: GPL-2.0-only
/*
 * quota.c - count what each user has: processes, objects, bytes, processor time
 *
 * A hash table has one quota for each user who has registered processes,
 * objects, memory or a debt of processor time. While several users map a file
 * whose table is built, object.c chooses the user to whom the table is charged.
 * The table stays charged to that user while it exists. Users who share the
 * table later are not charged for it.
 *
 * A process inside a user namespace is charged to the owner of the outermost
 * one. A registration by hand is charged to the real user who registers, in the
 * initial namespace; a system-wide registration, to the real user of the
 * process.
 *
 * User 0 without CAP_SYS_ADMIN is root of a container without a user namespace.
 * There may be many such containers, so each has a quota of its own. Its PID
 * namespace identifies the container: the nearest one that the initial user
 * namespace owns. CAP_SYS_ADMIN is needed to create this namespace. PID
 * namespaces that another user namespace owns give no second quota.
 *
 * Processor time is counted as a debt, which shrinks by max_user_build_ms each
 * second. A user whose debt reaches BURST times as much is over the budget
 * (job.c). A quota with a debt stays when its user has nothing else, so no user
 * gets a new budget by ending all processes. The debt is at most twice the
 * burst, so a user who stops is within the budget again after BURST seconds.
 *
 * Lock: quotas_lock, innermost (docs/locking.md); quota.h has the context.
 * Memory: 8 KB, and 128 bytes a user.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>
#include <linux/wait.h>

#include "param.h"
#include "quota.h"
#include "show.h"

#define QUOTA_BUCKETS	1024
#define BURST	10	/* time that may be used at once: this many seconds' budget */

static unsigned int max_user_processes = 1024;
KUNWIND_PARAM_UINT(max_user_processes, max_user_processes);
MODULE_PARM_DESC(max_user_processes,
		 "most processes registered at a time by one user without CAP_SYS_ADMIN (default 1024)");

static unsigned int max_user_build_ms = 100;
KUNWIND_PARAM_UINT(max_user_build_ms, max_user_build_ms);
MODULE_PARM_DESC(max_user_build_ms,
		 "processor time a second in which tables are built at normal priority for one "
		 "user without CAP_SYS_ADMIN, ms; beyond it at the lowest priority (default 100)");

struct quota_key {
	kuid_t uid;
	u32 container;		/* for user 0: number of the PID namespace; otherwise 0 */
};

struct kunwind_quota {
	struct hlist_node node;
	struct quota_key key;
	unsigned int refs;	/* under quotas_lock, as all fields up to dumped */
	unsigned int processes;	/* registered by hand */
	unsigned int shares[KUNWIND_NR_SHARES];
	unsigned int objects;
	u64 debt;		/* processor time, ns */
	u64 paid_at;		/* when the debt was last reduced, ns */
	u64 time;		/* all processor time so far, ns */
	u32 dump, dumped;	/* last dump that had mappings of the user, and how many */
	unsigned long turns;	/* bits: enum kunwind_turn */
	atomic64_t bytes;
	struct kunwind_idle idle;	/* under kunwind_objects_lock */
};

static struct hlist_head quotas[QUOTA_BUCKETS];
/*
 * Root of a container can take any user id. Without a seed, it could choose ids
 * whose quotas are all in one bucket.
 */
static u32 quota_seed;
static DEFINE_SPINLOCK(quotas_lock);
/*
 * Charged for processes whose user is not known any more, and for those of a
 * user for whom no quota can be allocated. Not in the hash, never freed.
 */
static struct kunwind_quota anyone = {
	.key.uid = KUIDT_INIT(-1),
	.refs = 1,
	.idle.objects = LIST_HEAD_INIT(anyone.idle.objects),
};

/*
 * Returns the number of the PID namespace that stands for the task's container;
 * 0: the initial one, or the task has ended. Inside rcu_read_lock().
 */
static u32 container_of_task(const struct task_struct *task)
{
	/* NULL: the task has ended. */
	const struct pid_namespace *ns = task_active_pid_ns((struct task_struct *)task);

	while (ns && ns->user_ns != &init_user_ns)
		ns = ns->parent;
	return ns && ns != &init_pid_ns ? ns->ns.inum : 0;
}

static struct quota_key key_of(kuid_t uid, const struct task_struct *task)
{
	return (struct quota_key){
		.uid = uid,
		.container = uid_eq(uid, GLOBAL_ROOT_UID) ? container_of_task(task) : 0,
	};
}

/*
 * Finds the user to whom @task is charged. False: nobody is charged. Inside
 * rcu_read_lock().
 */
static bool find_key(const struct task_struct *task, struct quota_key *key)
{
	const struct cred *cred = __task_cred(task);
	const struct user_namespace *ns = cred->user_ns;
	kuid_t uid = cred->uid;

	if (ns == &init_user_ns && cap_raised(cred->cap_effective, CAP_SYS_ADMIN))
		return false;
	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	*key = key_of(uid, task);
	return true;
}

/*
 * Finds the user to whom system_wide charges @task. False: nobody is charged. A
 * set-user-ID program of root has CAP_SYS_ADMIN; it is charged to its real
 * user, who started it. Inside rcu_read_lock().
 */
static bool find_share_key(const struct task_struct *task, struct quota_key *key)
{
	kuid_t uid = __task_cred(task)->uid;

	if (find_key(task, key))
		return true;
	if (uid_eq(uid, GLOBAL_ROOT_UID))
		return false;
	*key = key_of(uid, task);
	return true;
}

static bool same_key(struct quota_key a, struct quota_key b)
{
	return uid_eq(a.uid, b.uid) && a.container == b.container;
}

/* Returns the budget of a second, in us: at most a second. */
static u64 budget_us(void)
{
	return (u64)min(READ_ONCE(max_user_build_ms), 1000U) * USEC_PER_MSEC;
}

static u64 burst_ns(void)
{
	return BURST * budget_us() * NSEC_PER_USEC;
}

/* Reduces the debt for the time since the last call, and limits it. */
static void pay_off(struct kunwind_quota *quota)
{
	u64 ms = div_u64(ktime_get_ns() - quota->paid_at, NSEC_PER_MSEC);

	lockdep_assert_held(&quotas_lock);
	quota->paid_at += ms * NSEC_PER_MSEC;
	/* Microseconds per second are nanoseconds per millisecond. */
	quota->debt -= min(quota->debt, ms * budget_us());
	quota->debt = min(quota->debt, 2 * burst_ns());
}

/* Returns whether the quota can be freed: no references and no debt. */
static bool unused(struct kunwind_quota *quota)
{
	if (quota->refs)
		return false;
	pay_off(quota);
	return !quota->debt;
}

static struct hlist_head *quota_bucket(struct quota_key key)
{
	return &quotas[jhash_2words(__kuid_val(key.uid), key.container, quota_seed) % QUOTA_BUCKETS];
}

/* Returns the quota of @key, with a reference; NULL: no memory to make one. */
static struct kunwind_quota *quota_find(struct quota_key key)
{
	struct hlist_head *head = quota_bucket(key);
	struct kunwind_quota *quota;
	struct hlist_node *next;

	lockdep_assert_held(&quotas_lock);
	hlist_for_each_entry_safe(quota, next, head, node) {
		if (same_key(quota->key, key)) {
			quota->refs++;
			return quota;
		}
		if (unused(quota)) {
			hlist_del(&quota->node);
			kfree(quota);
		}
	}
	quota = kzalloc(sizeof(*quota), GFP_ATOMIC | __GFP_NOWARN);
	if (!quota)
		return NULL;
	quota->key = key;
	quota->refs = 1;
	quota->paid_at = ktime_get_ns();
	INIT_LIST_HEAD(&quota->idle.objects);
	hlist_add_head(&quota->node, head);
	return quota;
}

/* Drops a reference. The caller frees the result (or NULL) outside the lock. */
static struct kunwind_quota *quota_drop(struct kunwind_quota *quota)
{
	lockdep_assert_held(&quotas_lock);
	WARN_ON_ONCE(!quota->refs || (quota == &anyone && quota->refs == 1));
	quota->refs--;
	if (!unused(quota))
		return NULL;
	hlist_del(&quota->node);
	return quota;
}

/*
 * Returns the task that owns @mm: the current one, or mm->owner. NULL: that
 * task is ending. A kernel without CONFIG_MEMCG has no mm->owner; there, the
 * task that reads the mappings counts as the owner. Inside rcu_read_lock().
 */
static const struct task_struct *owner_of(const struct mm_struct *mm)
{
#ifdef CONFIG_MEMCG
	if (current->mm != mm)
		return rcu_dereference(mm->owner);
#endif
	return current;
}

struct kunwind_quota *kunwind_quota_of(struct mm_struct *mm)
{
	const struct task_struct *owner;
	struct kunwind_quota *quota;
	struct quota_key key;
	bool known, pays;

	rcu_read_lock();
	owner = owner_of(mm);
	known = owner;
	pays = known && find_key(owner, &key);
	rcu_read_unlock();
	/* An unknown owner does not count as having CAP_SYS_ADMIN. */
	if (known && !pays)
		return NULL;
	spin_lock(&quotas_lock);
	quota = pays ? quota_find(key) : NULL;
	if (!quota) {
		quota = &anyone;
		quota->refs++;
	}
	spin_unlock(&quotas_lock);
	return quota;
}

struct kunwind_quota *kunwind_quota_get(struct kunwind_quota *quota)
{
	if (quota) {
		spin_lock(&quotas_lock);
		quota->refs++;
		spin_unlock(&quotas_lock);
	}
	return quota;
}

void kunwind_quota_put(struct kunwind_quota *quota)
{
	if (!quota)
		return;
	spin_lock(&quotas_lock);
	quota = quota_drop(quota);
	spin_unlock(&quotas_lock);
	kfree(quota);
}

struct kunwind_quota *kunwind_quota_add_process(kuid_t uid, bool unlimited)
{
	struct kunwind_quota *quota, *over = NULL;
	struct quota_key key;

	rcu_read_lock();
	key = key_of(uid, current);
	rcu_read_unlock();
	spin_lock(&quotas_lock);
	quota = quota_find(key);
	if (!quota) {
		quota = ERR_PTR(-ENOMEM);
	} else if (!unlimited && quota->processes >= READ_ONCE(max_user_processes)) {
		over = quota_drop(quota);
		quota = ERR_PTR(-ENOSPC);
	} else {
		quota->processes++;
	}
	spin_unlock(&quotas_lock);
	kfree(over);
	return quota;
}

void kunwind_quota_remove_process(struct kunwind_quota *quota)
{
	if (!quota)
		return;
	spin_lock(&quotas_lock);
	WARN_ON_ONCE(!quota->processes);
	quota->processes--;
	quota = quota_drop(quota);
	spin_unlock(&quotas_lock);
	kfree(quota);
}

struct kunwind_quota *kunwind_quota_add_share(const struct task_struct *task,
					      enum kunwind_share share, unsigned int free)
{
	struct kunwind_quota *quota, *over = NULL;
	struct quota_key key;

	if (!find_share_key(task, &key))
		return NULL;
	spin_lock(&quotas_lock);
	quota = quota_find(key);
	if (!quota) {
		quota = ERR_PTR(-ENOMEM);
	} else if (quota->shares[share] >= free) {
		over = quota_drop(quota);
		quota = ERR_PTR(-ENOSPC);
	} else {
		quota->shares[share]++;
	}
	spin_unlock(&quotas_lock);
	kfree(over);
	return quota;
}

bool kunwind_quota_shares(const struct kunwind_quota *quota, const struct task_struct *task)
{
	struct quota_key key;

	if (!find_share_key(task, &key))
		return !quota;
	return quota && same_key(quota->key, key);
}

void kunwind_quota_remove_share(struct kunwind_quota *quota, enum kunwind_share share)
{
	if (!quota)
		return;
	spin_lock(&quotas_lock);
	WARN_ON_ONCE(!quota->shares[share]);
	quota->shares[share]--;
	quota = quota_drop(quota);
	spin_unlock(&quotas_lock);
	kfree(quota);
}

bool kunwind_quota_add_object(struct kunwind_quota *quota, unsigned int limit)
{
	bool fits = true;

	if (quota) {
		spin_lock(&quotas_lock);
		fits = quota->objects < limit;
		quota->objects += fits;
		spin_unlock(&quotas_lock);
	}
	return fits;
}

void kunwind_quota_remove_object(struct kunwind_quota *quota)
{
	if (quota) {
		spin_lock(&quotas_lock);
		WARN_ON_ONCE(!quota->objects);
		quota->objects--;
		spin_unlock(&quotas_lock);
	}
}

static struct kunwind_idle nobodys_idle = {
	.objects = LIST_HEAD_INIT(nobodys_idle.objects),
};

struct kunwind_idle *kunwind_quota_idle(struct kunwind_quota *quota)
{
	return quota ? &quota->idle : &nobodys_idle;
}

u64 kunwind_quota_add_bytes(struct kunwind_quota *quota, size_t bytes)
{
	return quota ? atomic64_add_return(bytes, &quota->bytes) : 0;
}

void kunwind_quota_remove_bytes(struct kunwind_quota *quota, size_t bytes)
{
	if (quota)
		WARN_ON_ONCE(atomic64_sub_return(bytes, &quota->bytes) < 0);
}

u32 kunwind_quota_dump(struct kunwind_quota *quota, u32 dump, u32 nr, u32 limit)
{
	u32 left = U32_MAX;

	if (quota) {
		spin_lock(&quotas_lock);
		if (quota->dump != dump)
			quota->dumped = 0;
		quota->dump = dump;
		quota->dumped += nr;
		left = limit - min(quota->dumped, limit);
		spin_unlock(&quotas_lock);
	}
	return left;
}

void kunwind_quota_add_time(struct kunwind_quota *quota, u64 ns)
{
	if (!quota)
		return;
	spin_lock(&quotas_lock);
	pay_off(quota);
	quota->debt = min(quota->debt + ns, 2 * burst_ns());
	quota->time += ns;
	spin_unlock(&quotas_lock);
}

bool kunwind_quota_over_budget(struct kunwind_quota *quota)
{
	bool over = false;

	if (quota) {
		spin_lock(&quotas_lock);
		pay_off(quota);
		over = quota->debt >= burst_ns();
		spin_unlock(&quotas_lock);
	}
	return over;
}

/* Only the turn to build parts: without a quota, compiling needs no turn. */
static unsigned long nobodys_turns;
DECLARE_WAIT_QUEUE_HEAD(kunwind_quota_turns);

bool kunwind_quota_take_turn(struct kunwind_quota *quota, enum kunwind_turn turn)
{
	if (!quota && turn == KUNWIND_TURN_COMPILE)
		return true;
	return !test_and_set_bit(turn, quota ? &quota->turns : &nobodys_turns);
}

void kunwind_quota_give_turn(struct kunwind_quota *quota, enum kunwind_turn turn)
{
	clear_bit_unlock(turn, quota ? &quota->turns : &nobodys_turns);
	kunwind_quota_wake_turns();
}

void kunwind_quota_wake_turns(void)
{
	wake_up_all(&kunwind_quota_turns);
}

void kunwind_quota_init(void)
{
	quota_seed = get_random_u32();
}

void kunwind_quota_exit(void)
{
	struct kunwind_quota *quota;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(quotas); i++)
		hlist_for_each_entry_safe(quota, next, &quotas[i], node) {
			WARN_ON_ONCE(quota->refs || atomic64_read(&quota->bytes) || quota->objects);
			kfree(quota);
		}
}

void kunwind_quota_show(struct seq_file *m)
{
	const struct kunwind_quota *quota;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(quotas) && !kunwind_show_ends(m); i++) {
		spin_lock(&quotas_lock);
		hlist_for_each_entry(quota, &quotas[i], node)
			if (quota->refs)
				seq_printf(m, "user\t%u\t%llu\t%u\t%u\t%llu\n",
					   from_kuid_munged(&init_user_ns, quota->key.uid),
					   atomic64_read(&quota->bytes), quota->objects,
					   quota->processes, div_u64(quota->time, NSEC_PER_MSEC));
		spin_unlock(&quotas_lock);
	}
}

void kunwind_quota_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_user_processes\t%u\n", READ_ONCE(max_user_processes));
	seq_printf(m, "param\tmax_user_build_ms\t%u\n", READ_ONCE(max_user_build_ms));
}

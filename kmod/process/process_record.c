// SPDX-License-Identifier: GPL-2.0-only
/*
 * process_record.c - the records of registered processes
 *
 * A hash table finds the record of a process by its struct pid. The record has
 * a reference to the struct pid, so the kernel does not use this address for
 * another process. A record says why the process is registered: a user has
 * registered it (by hand), the whole system is registered (by system_wide), or
 * both. The record is freed when no registration is left, or when the process
 * ends. It refers to the space in which the process runs (space.c). A
 * registration by hand is charged to the user who made it. A system-wide
 * registration is charged to the real user of the process (quota.c) at the time
 * of the registration or of the last exec.
 *
 * Lock: kunwind_processes_lock, a spinlock; docs/locking.md has its order. The
 * status reads records under RCU alone, so they are freed after a grace period.
 *
 * Callers: hooks and registrations (process.c), system_wide.c, dumps and the
 * status; all in process context. Hooks may run with preemption off.
 *
 * Under the lock, nothing is allocated, and no event is emitted: a tracer may
 * walk a stack there. What is dropped under the lock is kept in a list, whose
 * events follow after the unlock.
 *
 * Bounds: max_processes records. Memory: 88 bytes a process (96 from the
 * allocator).
 */
#include <linux/hash.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "../base/param.h"
#include "../base/quota.h"
#include "../base/show.h"
#include "process.h"
#include "process_record.h"
#include "../space/space.h"
#include "../trace/emit.h"
#include "../trace/kunwind_events.h"

#define HASH_BITS	10

static unsigned int max_processes = 32768;
KUNWIND_PARAM_UINT(max_processes, max_processes);
MODULE_PARM_DESC(max_processes,
		 "most processes registered at a time, of which \"system_wide\" registers at most half "
		 "for one user, except root with CAP_SYS_ADMIN (default 32768)");

static struct hlist_head processes[1 << HASH_BITS];
static unsigned int nr_processes;	/* also read without the lock */
static u64 missed_limit, missed_memory;
static bool closed;			/* no new records: the module is being unloaded */
static struct kunwind_process_record *dropped;	/* under the lock that is held */
DEFINE_SPINLOCK(kunwind_processes_lock);	/* protects all of the above and the records */

static struct hlist_head *bucket(const struct pid *pid)
{
	return &processes[hash_ptr(pid, HASH_BITS)];
}

struct kunwind_process_record *kunwind_process_find(const struct pid *pid)
{
	struct kunwind_process_record *process;

	hlist_for_each_entry_rcu(process, bucket(pid), node,
				 lockdep_is_held(&kunwind_processes_lock))
		if (process->pid == pid)
			return process;
	return NULL;
}

/* -------------------------------------------------------- make and change */

static void free_rcu(struct rcu_head *rcu)
{
	struct kunwind_process_record *process = container_of(rcu, struct kunwind_process_record, rcu);

	put_pid(process->pid);
	kfree(process);
}

void kunwind_process_lock(void)
{
	spin_lock(&kunwind_processes_lock);
	WARN_ON_ONCE(dropped);
}

/* Unlocks, and returns the records that were dropped under the lock. */
static struct kunwind_process_record *unlock_only(void)
{
	struct kunwind_process_record *list = dropped;

	dropped = NULL;
	spin_unlock(&kunwind_processes_lock);
	return list;
}

void kunwind_process_ended(struct kunwind_process_record *list)
{
	struct kunwind_process_record *process;

	while ((process = list)) {
		list = process->next_dropped;
		KUNWIND_EMIT(kunwind_exit, pid_nr(process->pid));
		call_rcu(&process->rcu, free_rcu);
	}
}

void kunwind_process_unlock(void)
{
	kunwind_process_ended(unlock_only());
}

struct kunwind_process_record *kunwind_process_alloc(gfp_t gfp)
{
	lockdep_assert_not_held(&kunwind_processes_lock);
	return kzalloc(sizeof(struct kunwind_process_record), gfp | __GFP_NOWARN);
}

void kunwind_process_set_space(struct kunwind_process_record *process, struct kunwind_space *space)
{
	struct kunwind_space *old = kunwind_process_space(process);

	rcu_assign_pointer(process->space, space);
	if (old)
		kunwind_space_unlink(old, old == space ? 0 : pid_nr(process->pid),
				     kunwind_process_wants_children(process));
}

void kunwind_process_drop(struct kunwind_process_record *process)
{
	lockdep_assert_held(&kunwind_processes_lock);
	hlist_del_rcu(&process->node);
	kunwind_process_set_space(process, NULL);
	kunwind_quota_remove_process(process->quota);
	kunwind_quota_remove_share(process->system_quota, KUNWIND_SHARE_RECORD);
	WRITE_ONCE(nr_processes, nr_processes - 1);
	process->next_dropped = dropped;
	dropped = process;
}

/* Charges the record to @registrar. 0, -ENOSPC or -ENOMEM. */
static int set_registrar(struct kunwind_process_record *process,
			 const struct kunwind_registrar *registrar)
{
	struct kunwind_quota *quota = kunwind_quota_add_process(registrar->uid,
								registrar->unlimited);

	if (IS_ERR(quota))
		return PTR_ERR(quota);
	process->registrar.unlimited = registrar->unlimited;
	process->registrar.ptrace = registrar->ptrace;
	/* kunwind_process_show() reads it without the lock. */
	WRITE_ONCE(process->registrar.uid, registrar->uid);
	process->quota = quota;
	return 0;
}

/*
 * Charges the record to the real user of the process. @new: it is not counted
 * in nr_processes yet. 0, -ENOSPC, -ENOMEM or -ESRCH (the process has ended).
 */
static int set_system_quota(struct kunwind_process_record *process, struct pid *pid, bool new)
{
	unsigned int limit = READ_ONCE(max_processes);
	struct kunwind_quota *quota = ERR_PTR(-ESRCH);
	const struct task_struct *task;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	if (task)
		quota = kunwind_quota_add_share(task, KUNWIND_SHARE_RECORD,
						limit > nr_processes ?
						limit - nr_processes : !new);
	rcu_read_unlock();
	if (IS_ERR(quota))
		return PTR_ERR(quota);
	process->system_quota = quota;
	return 0;
}

int kunwind_process_insert(struct kunwind_process_record **new, struct pid *pid, u8 owners,
			   u32 flags, const struct kunwind_registrar *registrar,
			   struct kunwind_space *space)
{
	struct kunwind_process_record *process = *new;
	int err;

	lockdep_assert_held(&kunwind_processes_lock);
	WARN_ON_ONCE(!owners || (owners & BY_HAND && !registrar));
	if (closed || nr_processes >= READ_ONCE(max_processes))
		return -ENOSPC;
	if (!process)
		return -ENOMEM;
	WARN_ON_ONCE(kunwind_process_find(pid));
	/* An earlier try may have set some of it. */
	*process = (struct kunwind_process_record){ .owners = owners };
	if (owners & BY_SYSTEM) {
		err = set_system_quota(process, pid, true);
		if (err)
			return err;
	}
	if (owners & BY_HAND) {
		process->flags = flags;
		err = set_registrar(process, registrar);
		if (err) {
			kunwind_quota_remove_share(process->system_quota, KUNWIND_SHARE_RECORD);
			return err;
		}
	}
	*new = NULL;
	process->pid = get_pid(pid);
	RCU_INIT_POINTER(process->space, space);
	hlist_add_head_rcu(&process->node, bucket(pid));
	WRITE_ONCE(nr_processes, nr_processes + 1);
	return 0;
}

/*
 * Sets owners and flags. Corrects the space's number of processes whose
 * children are registered.
 */
static void set_owners(struct kunwind_process_record *process, u8 owners, u32 flags)
{
	struct kunwind_space *space = kunwind_process_space(process);
	int before = kunwind_process_wants_children(process);

	WARN_ON_ONCE(!owners);
	/* Pairs with kunwind_process_show(): the registrar comes first. */
	smp_store_release(&process->owners, owners);
	WRITE_ONCE(process->flags, flags);
	if (space && kunwind_process_wants_children(process) != before)
		kunwind_space_add_children(space, kunwind_process_wants_children(process) - before);
}

void kunwind_process_release(struct kunwind_process_record *process, u8 owner)
{
	lockdep_assert_held(&kunwind_processes_lock);
	if (!(process->owners & ~owner)) {
		kunwind_process_drop(process);
		return;
	}
	if (owner & BY_HAND) {
		kunwind_quota_remove_process(process->quota);
		process->quota = NULL;
	}
	if (owner & BY_SYSTEM) {
		kunwind_quota_remove_share(process->system_quota, KUNWIND_SHARE_RECORD);
		process->system_quota = NULL;
	}
	set_owners(process, process->owners & ~owner, owner & BY_HAND ? 0 : process->flags);
}

int kunwind_process_claim(struct kunwind_process_record *process, u8 owner, u32 flags,
			  const struct kunwind_registrar *registrar)
{
	int err;

	lockdep_assert_held(&kunwind_processes_lock);
	if (owner == BY_HAND && !(process->owners & BY_HAND)) {
		err = set_registrar(process, registrar);
		if (err)
			return err;
	} else if (owner == BY_HAND && (flags & ~process->flags) && !registrar->unlimited &&
		   !uid_eq(process->registrar.uid, registrar->uid)) {
		return -EACCES;
	} else if (owner == BY_SYSTEM && !(process->owners & BY_SYSTEM)) {
		err = set_system_quota(process, process->pid, false);
		if (err)
			return err;
	}
	set_owners(process, process->owners | owner, process->flags | flags);
	return 0;
}

int kunwind_process_recharge(struct kunwind_process_record *process,
			     const struct task_struct *task)
{
	struct kunwind_quota *before = process->system_quota;
	bool same;
	int err;

	lockdep_assert_held(&kunwind_processes_lock);
	if (!(process->owners & BY_SYSTEM))
		return 0;
	rcu_read_lock();
	same = kunwind_quota_shares(before, task);
	rcu_read_unlock();
	if (same)
		return 0;
	err = set_system_quota(process, process->pid, false);
	if (!err)
		kunwind_quota_remove_share(before, KUNWIND_SHARE_RECORD);
	return err;
}

void kunwind_process_missed(int err)
{
	lockdep_assert_held(&kunwind_processes_lock);
	if (err == -ENOSPC)
		missed_limit++;
	else if (err == -ENOMEM)
		missed_memory++;
}

/* ------------------------------------------------------------- all records */

bool kunwind_process_any(void)
{
	return READ_ONCE(nr_processes);
}

struct kunwind_process_record *kunwind_process_disown(void)
{
	struct kunwind_process_record *process, *list = NULL, **end = &list;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(processes); i++) {
		kunwind_process_lock();
		hlist_for_each_entry_safe(process, next, &processes[i], node)
			if (process->owners & BY_SYSTEM)
				kunwind_process_release(process, BY_SYSTEM);
		*end = unlock_only();
		while (*end)
			end = &(*end)->next_dropped;
		cond_resched();
	}
	return list;
}

void kunwind_process_stats(struct kunwind_stats *stats)
{
	kunwind_process_lock();
	stats->processes = nr_processes;
	stats->missed_limit = missed_limit;
	stats->missed_memory = missed_memory;
	kunwind_process_unlock();
}

/* Prints a line "process". Inside rcu_read_lock(): does not sleep. */
static void show_line(struct seq_file *m, pid_t pid, const char *comm, u32 maps, u32 flags,
		      bool whole_system, size_t bytes)
{
	static const char *const names[2][2] = {
		{ "-", "system_wide" },
		{ "children", "children,system_wide" },
	};

	seq_printf(m, "process\t%d\t", pid);
	seq_escape(m, comm, "\t\n\\");
	seq_printf(m, "\t%u\t%s\t%zu\n", maps,
		   names[!!(flags & KUNWIND_REGISTER_CHILDREN)][whole_system], bytes);
}

void kunwind_process_show(struct seq_file *m, struct pid_namespace *ns, kuid_t uid, bool all)
{
	const struct kunwind_process_record *process;
	struct kunwind_space *space;
	struct task_struct *task;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(processes); i++) {
		if (kunwind_show_ends(m))
			return;
		rcu_read_lock();
		hlist_for_each_entry_rcu(process, &processes[i], node) {
			u32 maps = 0, flags = READ_ONCE(process->flags);
			u8 owners = smp_load_acquire(&process->owners);
			size_t bytes = sizeof(*process);
			pid_t nr = pid_nr_ns(process->pid, ns);

			if (!nr || (!all && (!(owners & BY_HAND) ||
					     !uid_eq(READ_ONCE(process->registrar.uid), uid))))
				continue;
			task = pid_task(process->pid, PIDTYPE_TGID);
			if (!task)
				continue;
			space = rcu_dereference(process->space);
			if (space) {
				maps = kunwind_space_maps(space);
				bytes += kunwind_space_bytes(space);
			}
			show_line(m, nr, task->comm, maps, flags, all && (owners & BY_SYSTEM), bytes);
		}
		rcu_read_unlock();
	}
}

struct pid *kunwind_process_next(unsigned int *bucket, u32 dump)
{
	struct kunwind_process_record *process;
	struct pid *pid = NULL;

	WARN_ON_ONCE(!dump);
	for (; *bucket < ARRAY_SIZE(processes); ++*bucket) {
		kunwind_process_lock();
		hlist_for_each_entry(process, &processes[*bucket], node) {
			if (process->dump == dump)
				continue;
			process->dump = dump;
			pid = get_pid(process->pid);
			break;
		}
		kunwind_process_unlock();
		if (pid)
			break;
		cond_resched();
	}
	return pid;
}

struct kunwind_snapshot *kunwind_process_snapshot(struct pid *tgid)
{
	struct kunwind_process_record *process;
	struct kunwind_snapshot *snapshot = NULL;

	kunwind_process_lock();
	process = kunwind_process_find(tgid);
	if (process && kunwind_process_space(process))
		snapshot = kunwind_space_snapshot(kunwind_process_space(process));
	kunwind_process_unlock();
	return snapshot;
}

void kunwind_process_show_limit(struct seq_file *m)
{
	seq_printf(m, "param\tmax_processes\t%u\n", READ_ONCE(max_processes));
}

void kunwind_process_close(void)
{
	kunwind_process_lock();
	closed = true;
	kunwind_process_unlock();
}

void kunwind_process_exit(void)
{
	struct kunwind_process_record *process;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(processes); i++) {
		kunwind_process_lock();
		hlist_for_each_entry_safe(process, next, &processes[i], node)
			kunwind_process_drop(process);
		kunwind_process_unlock();
	}
	WARN_ON_ONCE(!closed || nr_processes);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * process.c - registered processes, from registration to exit
 *
 * A process is a thread group (struct pid, with a reference: its address is
 * not used again while it is registered) and the space that it runs in. Three
 * tracepoints move it on:
 *   sched_process_fork  a child of a process with KUNWIND_REGISTER_CHILDREN is
 *	registered like its parent. Its space was made by kunwind_space_dup()
 *	under the parent's mmap_lock, or is the parent's (vfork).
 *   sched_process_exec  the process gets a space for its new mm, in which
 *	nothing is known yet; the task reads it before its first instruction.
 *   sched_process_exit  the last thread drops the registration.
 * Tracepoints run with preemption off: records and spaces come from GFP_ATOMIC
 * there, and what cannot be had leaves the process unregistered.
 *
 * Rights: a process is registered by a user, who had the kernel's leave to
 * trace it. An exec that gains privilege, or of a file that its user may not
 * read, takes that leave away, unless the registrar had CAP_SYS_PTRACE.
 *
 * Locks: processes_lock, then those of space.c. Memory: 100 bytes a process.
 */
#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "compat/tracepoint.h"
#include "follow.h"
#include "process.h"
#include "space.h"
#include "trace_hooks.h"

#define HASH_BITS	10
#define USER_BITS	6

static unsigned int max_processes = 32768;
module_param(max_processes, uint, 0644);
MODULE_PARM_DESC(max_processes, "most processes registered at a time (default 32768)");

static unsigned int max_user_processes = 1024;
module_param(max_user_processes, uint, 0644);
MODULE_PARM_DESC(max_user_processes,
		 "most processes registered at a time by one user without CAP_SYS_ADMIN (default 1024)");

static unsigned int register_timeout_ms = 10000;
module_param(register_timeout_ms, uint, 0644);
MODULE_PARM_DESC(register_timeout_ms,
		 "longest time that a registration waits for tables, ms (default 10000)");

/* Registrations of one user. */
struct quota {
	struct hlist_node node;
	kuid_t uid;
	unsigned int nr;
};

/* Who registered; inherited by children. */
struct registrar {
	kuid_t uid;
	bool unlimited;		/* had CAP_SYS_ADMIN */
	bool ptrace;		/* had CAP_SYS_PTRACE */
};

struct process {
	struct hlist_node node;
	struct pid *pid;
	u32 flags;		/* KUNWIND_REGISTER_* */
	struct registrar registrar;
	struct quota *quota;
	struct kunwind_space __rcu *space;
	struct rcu_head rcu;
};

static struct hlist_head processes[1 << HASH_BITS];
static struct hlist_head quotas[1 << USER_BITS];
static unsigned int nr_processes;
static bool closed;			/* the module goes */
static DEFINE_SPINLOCK(processes_lock);	/* all of the above and the records */

static struct hlist_head *bucket(const struct pid *pid)
{
	return &processes[hash_ptr(pid, HASH_BITS)];
}

static struct process *lookup(const struct pid *pid)
{
	struct process *process;

	lockdep_assert_held(&processes_lock);
	hlist_for_each_entry(process, bucket(pid), node)
		if (process->pid == pid)
			return process;
	return NULL;
}

static struct kunwind_space *space_of(const struct process *process)
{
	return rcu_dereference_protected(process->space, lockdep_is_held(&processes_lock));
}

static bool wants_children(const struct process *process)
{
	return process->flags & KUNWIND_REGISTER_CHILDREN;
}

/* ---------------------------------------------------------------- quota */

static int quota_charge(struct process *process)
{
	struct hlist_head *head = &quotas[hash_32(__kuid_val(process->registrar.uid), USER_BITS)];
	struct quota *quota;

	lockdep_assert_held(&processes_lock);
	if (nr_processes >= READ_ONCE(max_processes))
		return -ENOSPC;
	hlist_for_each_entry(quota, head, node)
		if (uid_eq(quota->uid, process->registrar.uid))
			goto found;
	quota = kzalloc(sizeof(*quota), GFP_ATOMIC | __GFP_NOWARN);
	if (!quota)
		return -ENOMEM;
	quota->uid = process->registrar.uid;
	hlist_add_head(&quota->node, head);
found:
	if (!process->registrar.unlimited && quota->nr >= READ_ONCE(max_user_processes)) {
		if (!quota->nr) {
			hlist_del(&quota->node);
			kfree(quota);
		}
		return -ENOSPC;
	}
	quota->nr++;
	nr_processes++;
	process->quota = quota;
	return 0;
}

static void quota_uncharge(struct process *process)
{
	struct quota *quota = process->quota;

	lockdep_assert_held(&processes_lock);
	nr_processes--;
	if (!--quota->nr) {
		hlist_del(&quota->node);
		kfree(quota);
	}
}

/* -------------------------------------------------------------- records */

static void free_rcu(struct rcu_head *rcu)
{
	struct process *process = container_of(rcu, struct process, rcu);

	put_pid(process->pid);
	kfree(process);
}

/* Moves a process to another space (with its reference), or to none. */
static void set_space(struct process *process, struct kunwind_space *space)
{
	struct kunwind_space *old = space_of(process);

	rcu_assign_pointer(process->space, space);
	if (old)
		kunwind_space_unlink(old, wants_children(process));
}

static void drop(struct process *process)
{
	lockdep_assert_held(&processes_lock);
	if (trace_kunwind_exit_enabled())
		trace_kunwind_exit(pid_nr(process->pid));
	hlist_del_rcu(&process->node);
	set_space(process, NULL);
	quota_uncharge(process);
	call_rcu(&process->rcu, free_rcu);
}

/* A new record; its space's reference is taken over. Frees nothing on failure. */
static int insert(struct pid *pid, u32 flags, const struct registrar *registrar,
		  struct kunwind_space *space)
{
	struct process *process;
	int err;

	lockdep_assert_held(&processes_lock);
	if (closed)
		return -ENOSPC;
	process = kzalloc(sizeof(*process), GFP_ATOMIC | __GFP_NOWARN);
	if (!process)
		return -ENOMEM;
	process->registrar = *registrar;
	err = quota_charge(process);
	if (err) {
		kfree(process);
		return err;
	}
	process->pid = get_pid(pid);
	process->flags = flags;
	RCU_INIT_POINTER(process->space, space);
	hlist_add_head_rcu(&process->node, bucket(pid));
	return 0;
}

/* ---------------------------------------------------------- registration */

/* The process runs, in this mm. */
static bool runs_in(struct pid *pid, const struct mm_struct *mm)
{
	struct task_struct *leader, *t;
	bool found = false;

	rcu_read_lock();
	leader = pid_task(pid, PIDTYPE_TGID);
	if (leader && atomic_read(&leader->signal->live))
		for_each_thread(leader, t)
			found |= READ_ONCE(t->mm) == mm;
	rcu_read_unlock();
	return found;
}

int kunwind_process_register(struct mm_struct *mm, struct pid *tgid, u32 flags,
			     u32 *nr_maps, u32 *nr_ready)
{
	struct registrar registrar = {
		.uid = current_uid(),
		.unlimited = capable(CAP_SYS_ADMIN),
		.ptrace = capable(CAP_SYS_PTRACE),
	};
	bool children = flags & KUNWIND_REGISTER_CHILDREN;
	struct kunwind_space *space;
	struct process *process;
	bool new = false;
	int err = 0;

	space = kunwind_space_link(mm, pid_nr(tgid), children, false, GFP_KERNEL);
	if (!space)
		return -ENOMEM;
	kunwind_space_get(space);	/* ours, beside the record's */

	spin_lock(&processes_lock);
	process = lookup(tgid);
	if (!process) {
		err = insert(tgid, flags, &registrar, space);
		new = !err;
		if (err)
			kunwind_space_unlink(space, children);
	} else if (space_of(process) != space && !runs_in(tgid, mm)) {
		/* It has gone on by exec to another mm since the caller got this one. */
		err = -ESRCH;
		kunwind_space_unlink(space, children);
	} else if (space_of(process) != space) {
		/* Its exec could not make a space. */
		set_space(process, NULL);
		if (wants_children(process) && !children)
			kunwind_space_add_children(space);
		process->flags |= flags;
		set_space(process, space);
	} else {
		if (children && !wants_children(process))
			kunwind_space_add_children(space);
		process->flags |= flags;
		kunwind_space_unlink(space, children);
	}
	spin_unlock(&processes_lock);
	if (err)
		goto out;

	/*
	 * Did it end, or exec, before there was a record for the tracepoints
	 * to find? (Both end in t->mm not being mm any more; the lock above
	 * and those of the tracepoints order it.)
	 */
	smp_mb();
	if (!runs_in(tgid, mm)) {
		err = -ESRCH;
	} else {
		err = kunwind_space_scan(space, mm, true,
					 msecs_to_jiffies(READ_ONCE(register_timeout_ms)), true);
		kunwind_space_count(space, nr_maps, nr_ready);
	}
	if (err && new) {
		spin_lock(&processes_lock);
		process = lookup(tgid);
		if (process && space_of(process) == space)
			drop(process);
		spin_unlock(&processes_lock);
	}
out:
	kunwind_space_put(space);
	return err;
}

int kunwind_process_unregister(struct pid *tgid)
{
	bool admin = capable(CAP_SYS_ADMIN);
	struct process *process;
	int err = 0;

	spin_lock(&processes_lock);
	process = lookup(tgid);
	if (!process)
		err = -ENOENT;
	else if (!admin && !uid_eq(process->registrar.uid, current_uid()))
		err = -EACCES;
	else
		drop(process);
	spin_unlock(&processes_lock);
	return err;
}

unsigned int kunwind_process_count(void)
{
	return READ_ONCE(nr_processes);
}

void kunwind_process_show(struct seq_file *m, struct pid_namespace *ns, kuid_t uid, bool all)
{
	const struct process *process;
	struct kunwind_space *space;
	struct task_struct *task;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(processes); i++) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(process, &processes[i], node) {
			u32 maps = 0, ready = 0, flags = READ_ONCE(process->flags);
			pid_t nr = pid_nr_ns(process->pid, ns);

			if (!nr || (!all && !uid_eq(process->registrar.uid, uid)))
				continue;
			task = pid_task(process->pid, PIDTYPE_TGID);
			if (!task)
				continue;
			space = rcu_dereference(process->space);
			if (space)
				kunwind_space_count(space, &maps, &ready);
			seq_printf(m, "process\t%d\t", nr);
			seq_escape(m, task->comm, "\t\n\\");
			seq_printf(m, "\t%u\t%s\n", maps,
				   flags & KUNWIND_REGISTER_CHILDREN ? "children" : "-");
		}
		rcu_read_unlock();
	}
}

void kunwind_process_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_processes\t%u\n", READ_ONCE(max_processes));
	seq_printf(m, "param\tmax_user_processes\t%u\n", READ_ONCE(max_user_processes));
	seq_printf(m, "param\tregister_timeout_ms\t%u\n", READ_ONCE(register_timeout_ms));
}

void kunwind_space_dump_all(void)
{
	const struct process *process;
	struct kunwind_space *space;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(processes); i++) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(process, &processes[i], node) {
			space = rcu_dereference(process->space);
			if (space)
				kunwind_space_dump(space, pid_nr(process->pid));
		}
		rcu_read_unlock();
		cond_resched();
	}
}
EXPORT_SYMBOL_GPL(kunwind_space_dump_all);

/* ----------------------------------------------------------- tracepoints */

/* Registers @child like its parent. False: it is not to be, or cannot. */
static bool inherit(struct task_struct *parent, struct task_struct *child)
{
	struct kunwind_space *space;
	struct process *process;

	lockdep_assert_held(&processes_lock);
	process = lookup(task_tgid(parent));
	if (!process || !wants_children(process))
		return false;
	space = kunwind_space_link(child->mm, child->tgid, true, false, GFP_ATOMIC);
	if (!space)
		return false;
	if (insert(task_tgid(child), process->flags, &process->registrar, space)) {
		kunwind_space_unlink(space, true);
		return false;
	}
	if (trace_kunwind_fork_enabled())
		trace_kunwind_fork(parent->tgid, child->tgid);
	/* What the parent did not read yet, or what there was no memory to share. */
	if (kunwind_space_dirty(space))
		kunwind_follow_queue(child, FOLLOW_MAP);
	return true;
}

static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	bool done = false;

	if (!child->mm || child->tgid == parent->tgid)
		return;
	if (READ_ONCE(nr_processes)) {
		spin_lock(&processes_lock);
		done = inherit(parent, child);
		spin_unlock(&processes_lock);
	}
	/* What kunwind_space_dup() made for it is nobody's then. */
	if (!done)
		kunwind_space_forget_unused(child->mm);
}

static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct kunwind_space *space;
	struct process *process;

	if (!READ_ONCE(nr_processes))
		return;
	spin_lock(&processes_lock);
	process = lookup(task_tgid(task));
	if (!process)
		goto out;
	if ((bprm->secureexec || (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP)) &&
	    !process->registrar.ptrace) {
		drop(process);
		goto out;
	}
	if (trace_kunwind_exec_enabled())
		trace_kunwind_exec(task->tgid, task->comm);
	space = kunwind_space_link(task->mm, task->tgid, wants_children(process), true, GFP_ATOMIC);
	set_space(process, space);
	/* The walk takes a fresh space for a program at its entry: only until the work ran. */
	if (space && !kunwind_follow_queue(task, FOLLOW_EXEC))
		WRITE_ONCE(space->fresh, false);
out:
	spin_unlock(&processes_lock);
}

static KUNWIND_EXIT_PROBE(on_exit)
{
	struct process *process;

	if (!READ_ONCE(nr_processes) || atomic_read(&task->signal->live))
		return;
	spin_lock(&processes_lock);
	process = lookup(task_tgid(task));
	if (process)
		drop(process);
	spin_unlock(&processes_lock);
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *tp;
	bool on;
} probes[] = {
	{ .name = "sched_process_fork", .probe = on_fork },
	{ .name = "sched_process_exec", .probe = on_exec },
	{ .name = "sched_process_exit", .probe = on_exit },
};

static void find_tracepoint(struct tracepoint *tp, void *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
}

int kunwind_process_init(void)
{
	unsigned int i;
	int err;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = probes[i].tp ?
		      tracepoint_probe_register(probes[i].tp, probes[i].probe, NULL) : -ENOENT;
		if (err) {
			pr_err("kunwind: no tracepoint %s: error %d\n", probes[i].name, err);
			kunwind_process_stop();
			return err;
		}
		probes[i].on = true;
	}
	return 0;
}

void kunwind_process_stop(void)
{
	unsigned int i = ARRAY_SIZE(probes);

	spin_lock(&processes_lock);
	closed = true;
	spin_unlock(&processes_lock);
	while (i--) {
		if (probes[i].on)
			tracepoint_probe_unregister(probes[i].tp, probes[i].probe, NULL);
		probes[i].on = false;
	}
}

void kunwind_process_exit(void)
{
	struct process *process;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(processes); i++) {
		spin_lock(&processes_lock);
		hlist_for_each_entry_safe(process, next, &processes[i], node)
			drop(process);
		spin_unlock(&processes_lock);
	}
}

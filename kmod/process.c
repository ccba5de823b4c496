// SPDX-License-Identifier: GPL-2.0-only
/*
 * process.c - registered processes, from registration to exit
 *
 * A process is a thread group (struct pid, with a reference: its address is
 * not used again while it is registered) and the space that it runs in. A user
 * registers it by hand; or it is registered because the whole system is
 * (auto.c), by no user; or both. It stays registered until neither holds. Hooks
 * on four functions of the kernel, all required (hook.h), see what becomes of it:
 *   perf_event_fork(child)    near the end of copy_process(), after which it can
 *	not fail: the child has its number and mm, and does not run yet. A child of
 *	a process with KUNWIND_REGISTER_CHILDREN is registered like its parent,
 *	and every child while the whole system is. Its space was made by
 *	kunwind_space_dup() under the parent's mmap_lock, or is the parent's (vfork).
 *   setup_new_exec(bprm)      the new credentials and mm are installed, and the
 *	kernel still keeps tracers out. Here a registration loses its rights.
 *   proc_exec_connector(task) the program is loaded, and its registers are set.
 *	The process gets a space for its new mm, in which nothing is known yet; the
 *	task reads it before its first instruction. While the whole system is
 *	registered, a process that was no user's before (a kernel thread's helper),
 *	or was missed, is registered here.
 *   exit_files(task)          in do_exit(), after the task has given up its mm.
 *	The last thread drops the registration.
 *
 * These stand where the tracepoints sched_process_fork, _exec and _exit do.
 * Probes of tracepoints run with preemption off, where PREEMPT_RT allows neither
 * the locks nor the allocations below. In the functions above preemption is on,
 * and no lock is held that matters. But any other user of ftrace on the same
 * function has the hook called with preemption off (hook.c). So memory is
 * GFP_ATOMIC; what cannot be had leaves the process unregistered, and counted.
 *
 * Rights: a process is registered by hand by a user who had the kernel's leave
 * to trace it. An exec that gains privilege, or of a file that its user may not
 * read, takes that leave away, unless the registrar had CAP_SYS_PTRACE. Another
 * user's registration is changed by CAP_SYS_ADMIN only.
 *
 * Locks: processes_lock, then those of space.c and payer.c. Memory: 100 bytes a
 * process.
 */
#include <linux/binfmts.h>
#include <linux/cn_proc.h>
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "follow.h"
#include "hook.h"
#include "payer.h"
#include "process.h"
#include "space.h"
#include "status.h"
#include "trace_hooks.h"

#define HASH_BITS	10

static unsigned int max_processes = 32768;
module_param(max_processes, uint, 0644);
MODULE_PARM_DESC(max_processes,
		 "most processes registered at a time, of which \"auto\" registers at most half "
		 "for one user without CAP_SYS_ADMIN (default 32768)");

static unsigned int register_timeout_ms = 10000;
module_param(register_timeout_ms, uint, 0644);
MODULE_PARM_DESC(register_timeout_ms,
		 "longest time that a registration waits for tables, ms (default 10000)");

/* Why a process is registered: bits. */
enum {
	BY_HAND = 1,
	BY_AUTO = 2,
};

/* Who registered by hand; inherited by children. */
struct registrar {
	kuid_t uid;
	bool unlimited;		/* had CAP_SYS_ADMIN */
	bool ptrace;		/* had CAP_SYS_PTRACE */
};

struct process {
	struct hlist_node node;
	struct pid *pid;
	u8 owners;		/* BY_*, never none */
	u32 flags;		/* KUNWIND_REGISTER_*, by hand */
	struct registrar registrar;	/* by hand */
	struct kunwind_payer *payer;	/* by hand */
	struct kunwind_payer *auto_payer;	/* by auto; NULL: nobody */
	struct kunwind_space __rcu *space;
	u32 dump;			/* the last one that reported it, or 0 */
	struct rcu_head rcu;
};

static struct hlist_head processes[1 << HASH_BITS];
static unsigned int nr_processes;
static bool whole_system;
static u64 missed_limit, missed_memory;
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

/* Its children share what is known of its space. */
static bool wants_children(const struct process *process)
{
	return (process->flags & KUNWIND_REGISTER_CHILDREN) || (process->owners & BY_AUTO);
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
	kunwind_payer_remove_process(process->payer);
	kunwind_payer_remove_auto(process->auto_payer);
	WRITE_ONCE(nr_processes, nr_processes - 1);
	call_rcu(&process->rcu, free_rcu);
}

/* Makes it @registrar's. */
static int set_registrar(struct process *process, const struct registrar *registrar)
{
	struct kunwind_payer *payer = kunwind_payer_add_process(registrar->uid,
								registrar->unlimited);

	if (IS_ERR(payer))
		return PTR_ERR(payer);
	process->registrar.unlimited = registrar->unlimited;
	process->registrar.ptrace = registrar->ptrace;
	/* kunwind_process_show() reads it without the lock. */
	WRITE_ONCE(process->registrar.uid, registrar->uid);
	process->payer = payer;
	return 0;
}

/* Makes it the whole system's, at the expense of the process's own user. @new: the record is. */
static int set_auto(struct process *process, struct pid *pid, bool new)
{
	unsigned int limit = READ_ONCE(max_processes);
	struct kunwind_payer *payer = ERR_PTR(-ESRCH);
	const struct task_struct *task;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	if (task)
		payer = kunwind_payer_add_auto(task, limit > nr_processes ?
						     limit - nr_processes : !new);
	rcu_read_unlock();
	if (IS_ERR(payer))
		return PTR_ERR(payer);
	process->auto_payer = payer;
	return 0;
}

/* A new record; its space's reference is taken over. Frees nothing on failure. */
static int insert(struct pid *pid, u8 owners, u32 flags, const struct registrar *registrar,
		  struct kunwind_space *space)
{
	struct process *process;
	int err;

	lockdep_assert_held(&processes_lock);
	if (closed || nr_processes >= READ_ONCE(max_processes))
		return -ENOSPC;
	process = kzalloc(sizeof(*process), GFP_ATOMIC | __GFP_NOWARN);
	if (!process)
		return -ENOMEM;
	process->owners = owners;
	if (owners & BY_AUTO) {
		err = set_auto(process, pid, true);
		if (err)
			goto out_free;
	}
	if (owners & BY_HAND) {
		process->flags = flags;
		err = set_registrar(process, registrar);
		if (err)
			goto out_auto;
	}
	process->pid = get_pid(pid);
	RCU_INIT_POINTER(process->space, space);
	hlist_add_head_rcu(&process->node, bucket(pid));
	WRITE_ONCE(nr_processes, nr_processes + 1);
	return 0;

out_auto:
	kunwind_payer_remove_auto(process->auto_payer);
out_free:
	kfree(process);
	return err;
}

/* Changes what a record says; the count of its space goes along. */
static void set_owners(struct process *process, u8 owners, u32 flags)
{
	struct kunwind_space *space = space_of(process);
	int before = wants_children(process);

	/* Pairs with kunwind_process_show(): the registrar is there before. */
	smp_store_release(&process->owners, owners);
	WRITE_ONCE(process->flags, flags);
	if (space && wants_children(process) != before)
		kunwind_space_add_children(space, wants_children(process) - before);
}

/* @owner does not register it any more. It may be freed. */
static void release(struct process *process, u8 owner)
{
	lockdep_assert_held(&processes_lock);
	if (!(process->owners & ~owner)) {
		drop(process);
		return;
	}
	if (owner & BY_HAND) {
		kunwind_payer_remove_process(process->payer);
		process->payer = NULL;
	}
	if (owner & BY_AUTO) {
		kunwind_payer_remove_auto(process->auto_payer);
		process->auto_payer = NULL;
	}
	set_owners(process, process->owners & ~owner, owner & BY_HAND ? 0 : process->flags);
}

/*
 * A record that is there already becomes @owner's too. Another user's flags
 * are changed by CAP_SYS_ADMIN only.
 */
static int claim(struct process *process, u8 owner, u32 flags, const struct registrar *registrar)
{
	int err;

	lockdep_assert_held(&processes_lock);
	if (owner == BY_HAND && !(process->owners & BY_HAND)) {
		err = set_registrar(process, registrar);
		if (err)
			return err;
	} else if (owner == BY_HAND && (flags & ~process->flags) && !registrar->unlimited &&
		   !uid_eq(process->registrar.uid, registrar->uid)) {
		return -EACCES;
	} else if (owner == BY_AUTO && !(process->owners & BY_AUTO)) {
		err = set_auto(process, process->pid, false);
		if (err)
			return err;
	}
	set_owners(process, process->owners | owner, process->flags | flags);
	return 0;
}

/* Somebody should have been registered by itself, and was not. */
static void missed(int err)
{
	lockdep_assert_held(&processes_lock);
	if (err == -ENOSPC)
		missed_limit++;
	else if (err == -ENOMEM)
		missed_memory++;
}

/* ---------------------------------------------------------- registration */

unsigned long kunwind_process_timeout(void)
{
	return msecs_to_jiffies(READ_ONCE(register_timeout_ms));
}

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

/*
 * Links @mm's space to the process's record, for @owner; makes either where it
 * is not there. *spacep: with a reference of the caller's. *added: before this,
 * @owner had not registered it.
 */
static int enter(struct mm_struct *mm, struct pid *tgid, u8 owner, u32 flags,
		 const struct registrar *registrar, struct kunwind_space **spacep, bool *added)
{
	bool children = (flags & KUNWIND_REGISTER_CHILDREN) || owner == BY_AUTO;
	struct kunwind_space *space;
	struct process *process;
	bool inserted = false;
	int err;

	*added = false;
	space = kunwind_space_link(mm, pid_nr(tgid), children, false, GFP_KERNEL);
	if (!space)
		return -ENOMEM;
	*spacep = kunwind_space_get(space);

	spin_lock(&processes_lock);
	process = lookup(tgid);
	if (owner == BY_AUTO && !whole_system) {
		err = -ECANCELED;	/* switched off since the caller looked */
	} else if (!process) {
		err = insert(tgid, owner, flags, registrar, space);
		inserted = !err;
		*added = inserted;
	} else if (space_of(process) != space && !runs_in(tgid, mm)) {
		/* It has gone on by exec to another mm since the caller got this one. */
		err = -ESRCH;
	} else {
		*added = !(process->owners & owner);
		err = claim(process, owner, flags, registrar);
		if (!err && space_of(process) != space) {
			/* Its exec could not make a space. */
			set_space(process, NULL);
			if (wants_children(process) && !children)
				kunwind_space_add_children(space, 1);
			set_space(process, space);
			space = NULL;
		}
	}
	if (space && !inserted)
		kunwind_space_unlink(space, children);
	if (err && owner == BY_AUTO)
		missed(err);
	spin_unlock(&processes_lock);
	if (err)
		kunwind_space_put(*spacep);
	return err;
}

/* @owner does not register the process any more; with a space, only if it is still in it. */
static void leave(struct pid *tgid, const struct kunwind_space *space, u8 owner)
{
	struct process *process;

	spin_lock(&processes_lock);
	process = lookup(tgid);
	if (process && (!space || space_of(process) == space))
		release(process, owner);
	spin_unlock(&processes_lock);
}

int kunwind_process_register(struct mm_struct *mm, struct pid *tgid, u32 flags,
			     u32 *nr_maps, u32 *nr_ready)
{
	struct registrar registrar = {
		.uid = current_uid(),
		.unlimited = capable(CAP_SYS_ADMIN),
		.ptrace = capable(CAP_SYS_PTRACE),
	};
	struct kunwind_space *space;
	bool added;
	int err;

	err = enter(mm, tgid, BY_HAND, flags, &registrar, &space, &added);
	if (err)
		return err;
	/*
	 * Did it end, or exec, before there was a record for the hooks to
	 * find? (Both end in t->mm not being mm any more; the lock above and
	 * those of the hooks order it.)
	 */
	smp_mb();
	if (!runs_in(tgid, mm)) {
		/*
		 * The record may be in the space of a new program by now. It goes all
		 * the same: the hook of setup_new_exec() may have come before it was
		 * there, and left it the right to trace that program.
		 */
		err = -ESRCH;
		if (added)
			leave(tgid, NULL, BY_HAND);
	} else {
		err = kunwind_space_scan(space, mm, true, kunwind_process_timeout(), true);
		kunwind_space_count(space, nr_maps, nr_ready);
		if (err && added)
			leave(tgid, space, BY_HAND);
	}
	kunwind_space_put(space);
	return err;
}

int kunwind_process_adopt(struct mm_struct *mm, struct pid *tgid)
{
	struct kunwind_space *space;
	bool added;
	int err;

	err = enter(mm, tgid, BY_AUTO, 0, NULL, &space, &added);
	if (err)
		return err;
	smp_mb();	/* as above */
	if (!runs_in(tgid, mm)) {
		err = -ESRCH;
		if (added)
			leave(tgid, space, BY_AUTO);
	} else {
		/* Registered it stays in any case: it is also read with its next mapping. */
		err = kunwind_space_scan(space, mm, false, 0, false);
	}
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
	if (!process || !(process->owners & BY_HAND))
		err = -ENOENT;
	else if (!admin && !uid_eq(process->registrar.uid, current_uid()))
		err = -EACCES;
	else
		release(process, BY_HAND);
	spin_unlock(&processes_lock);
	return err;
}

void kunwind_process_whole_system(bool on)
{
	spin_lock(&processes_lock);
	WRITE_ONCE(whole_system, on);
	spin_unlock(&processes_lock);
}

void kunwind_process_disown(void)
{
	struct process *process;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(processes); i++) {
		spin_lock(&processes_lock);
		hlist_for_each_entry_safe(process, next, &processes[i], node)
			if (process->owners & BY_AUTO)
				release(process, BY_AUTO);
		spin_unlock(&processes_lock);
		cond_resched();
	}
}

void kunwind_process_stats(struct kunwind_stats *stats)
{
	spin_lock(&processes_lock);
	stats->processes = nr_processes;
	stats->missed_limit = missed_limit;
	stats->missed_memory = missed_memory;
	spin_unlock(&processes_lock);
}

void kunwind_process_show(struct seq_file *m, struct pid_namespace *ns, kuid_t uid, bool all)
{
	const struct process *process;
	struct kunwind_space *space;
	struct task_struct *task;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(processes); i++) {
		if (kunwind_status_ends(m))
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
			kunwind_status_process(m, nr, task->comm, maps, flags,
					       all && (owners & BY_AUTO), bytes);
		}
		rcu_read_unlock();
	}
}

void kunwind_process_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_processes\t%u\n", READ_ONCE(max_processes));
	kunwind_payer_show_params(m);
	seq_printf(m, "param\tregister_timeout_ms\t%u\n", READ_ONCE(register_timeout_ms));
}

struct pid *kunwind_process_next(unsigned int *bucket, u32 dump)
{
	struct process *process;
	struct pid *pid = NULL;

	for (; *bucket < ARRAY_SIZE(processes); ++*bucket) {
		spin_lock(&processes_lock);
		hlist_for_each_entry(process, &processes[*bucket], node) {
			if (process->dump == dump)
				continue;
			process->dump = dump;
			pid = get_pid(process->pid);
			break;
		}
		spin_unlock(&processes_lock);
		if (pid)
			break;
		cond_resched();
	}
	return pid;
}

struct kunwind_snapshot *kunwind_process_snapshot(struct pid *tgid)
{
	struct kunwind_snapshot *snapshot = NULL;
	struct process *process;

	spin_lock(&processes_lock);
	process = lookup(tgid);
	if (process && space_of(process))
		snapshot = kunwind_space_snapshot(space_of(process));
	spin_unlock(&processes_lock);
	return snapshot;
}

/* ----------------------------------------------------------------- hooks */

/*
 * A child that others could see and register before perf_event_fork() was called: by
 * auto's work item, or by hand. Its record becomes its parent's registrar's, too.
 */
static int inherit_known(struct process *known, const struct process *parent, u8 owners)
{
	int err = 0;

	if (owners & BY_AUTO)
		err = claim(known, BY_AUTO, 0, NULL);
	if (!err && (owners & BY_HAND) && !(known->owners & BY_HAND))
		err = claim(known, BY_HAND, parent->flags, &parent->registrar);
	return err;
}

static int inherit_new(struct task_struct *child, const struct process *parent, u8 owners)
{
	struct kunwind_space *space;
	int err;

	space = kunwind_space_link(child->mm, child->tgid, true, false, GFP_ATOMIC);
	if (!space)
		return -ENOMEM;
	err = insert(task_tgid(child), owners, parent ? parent->flags : 0,
		     parent ? &parent->registrar : NULL, space);
	/* What one of the two may not have, the other may. */
	if (err && owners == (BY_HAND | BY_AUTO)) {
		err = insert(task_tgid(child), BY_AUTO, 0, NULL, space);
		if (err)
			err = insert(task_tgid(child), BY_HAND, parent->flags,
				     &parent->registrar, space);
	}
	if (err) {
		kunwind_space_unlink(space, true);
		return err;
	}
	/* What the parent did not read yet, or what there was no memory to share. */
	if (kunwind_space_dirty(space))
		kunwind_follow_queue(child, FOLLOW_MAP);
	return 0;
}

/* Registers @child like its parent. False: it is not to be, or cannot. */
static bool inherit(struct task_struct *parent, struct task_struct *child)
{
	u8 owners = whole_system ? BY_AUTO : 0;
	struct process *process, *known;
	int err;

	lockdep_assert_held(&processes_lock);
	process = lookup(task_tgid(parent));
	known = lookup(task_tgid(child));
	if (process && (process->flags & KUNWIND_REGISTER_CHILDREN))
		owners |= BY_HAND;
	if (!owners)
		return known;
	err = known ? inherit_known(known, process, owners) : inherit_new(child, process, owners);
	if (err) {
		missed(err);
		return known;
	}
	if (trace_kunwind_fork_enabled())
		trace_kunwind_fork(parent->tgid, child->tgid);
	return true;
}

static bool anybody(void)
{
	return READ_ONCE(nr_processes) || READ_ONCE(whole_system);
}

KUNWIND_HOOK1(perf_event_fork, struct task_struct *, child)
{
	struct task_struct *parent = current;
	bool done = false;

	if (!child->mm || child->tgid == parent->tgid)
		return;
	rcu_read_lock();	/* for kunwind_process_whole_system() */
	if (anybody()) {
		spin_lock(&processes_lock);
		done = inherit(parent, child);
		spin_unlock(&processes_lock);
	}
	rcu_read_unlock();
	/* What kunwind_space_dup() made for it is nobody's then. */
	if (!done)
		kunwind_space_forget_unused(child->mm);
}

KUNWIND_HOOK1(setup_new_exec, struct linux_binprm *, bprm)
{
	struct process *process;

	if (!READ_ONCE(nr_processes) ||
	    !(bprm->secureexec || (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP)))
		return;
	spin_lock(&processes_lock);
	process = lookup(task_tgid(current));
	if (process && (process->owners & BY_HAND) && !process->registrar.ptrace)
		release(process, BY_HAND);
	spin_unlock(&processes_lock);
}

/* The record of the program that @task runs from here on; NULL: it has none. */
static struct process *of_program(struct task_struct *task)
{
	struct process *process = lookup(task_tgid(task));
	int err;

	if (!process && whole_system) {
		err = insert(task_tgid(task), BY_AUTO, 0, NULL, NULL);
		if (err)
			missed(err);
		process = lookup(task_tgid(task));
	}
	return process;
}

static void executes(struct task_struct *task)
{
	struct kunwind_space *space;
	struct process *process = of_program(task);

	lockdep_assert_held(&processes_lock);
	if (!process)
		return;
	if (trace_kunwind_exec_enabled())
		trace_kunwind_exec(task->tgid, task->comm);
	space = kunwind_space_link(task->mm, task->tgid, wants_children(process), true, GFP_ATOMIC);
	if (!space)
		missed(-ENOMEM);
	set_space(process, space);
	/* The walk takes a fresh space for a program at its entry: only until the work ran. */
	if (space && !kunwind_follow_queue(task, FOLLOW_EXEC))
		WRITE_ONCE(space->fresh, false);
}

KUNWIND_HOOK1(proc_exec_connector, struct task_struct *, task)
{
	rcu_read_lock();	/* as above */
	if (anybody()) {
		spin_lock(&processes_lock);
		executes(task);
		spin_unlock(&processes_lock);
	}
	rcu_read_unlock();
}

KUNWIND_HOOK1(exit_files, struct task_struct *, task)
{
	struct process *process;

	/* Of a fork that fails, @task is the child. */
	if (task != current || !READ_ONCE(nr_processes) || atomic_read(&task->signal->live))
		return;
	spin_lock(&processes_lock);
	process = lookup(task_tgid(task));
	if (process)
		drop(process);
	spin_unlock(&processes_lock);
}

static struct kunwind_hook hooks[] = {
	KUNWIND_HOOK_ENTRY(perf_event_fork),
	KUNWIND_HOOK_ENTRY(setup_new_exec),
	KUNWIND_HOOK_ENTRY(proc_exec_connector),
	KUNWIND_HOOK_ENTRY(exit_files),
};

void kunwind_process_init(void)
{
	kunwind_hooks_require(hooks, ARRAY_SIZE(hooks));
}

bool kunwind_process_stop(void)
{
	spin_lock(&processes_lock);
	closed = true;
	spin_unlock(&processes_lock);
	return kunwind_hooks_disable(hooks, ARRAY_SIZE(hooks));
}

void kunwind_process_show_hooks(struct seq_file *m)
{
	kunwind_hooks_show(m, hooks, ARRAY_SIZE(hooks), "");
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

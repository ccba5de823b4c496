// SPDX-License-Identifier: GPL-2.0-only
/*
 * process.c - registered processes, from registration to exit
 *
 * A process is a thread group and the space in which it runs. A user registers
 * the process by hand, or it is registered because the whole system is
 * (system_wide.c), or both. It stays registered while one of these
 * registrations holds. process_record.c keeps the records of registered
 * processes. This file has hooks on four kernel functions, all required
 * (hook.h):
 *   perf_event_fork(child)    near the end of copy_process(), which cannot fail
 *	any more: the child has its number and mm, and does not run yet. A child
 *	of a process with KUNWIND_REGISTER_CHILDREN is registered like its
 *	parent. If the whole system is registered, each child is.
 *	kunwind_space_dup() made the child's space under the parent's mmap_lock,
 *	or the child has the parent's space (vfork).
 *   setup_new_exec(bprm)      the new credentials and mm are installed, and the
 *	kernel still keeps tracers out. A registration by hand may end here.
 *   proc_exec_connector(task) the program is loaded, and its registers are set.
 *	The process gets a space for its new mm, without ranges; the task reads
 *	its mappings before its first instruction. If the whole system is
 *	registered, a process that is not (a helper that a kernel thread
 *	started, or one that was missed) is registered here. If the real user
 *	has changed since the fork (su, sshd, cron), the process is charged to
 *	the new one.
 *   exit_files(task)          in do_exit(), after the task has given up its mm.
 *	The last thread drops the record.
 *
 * These functions are called next to the tracepoints sched_process_fork, _exec
 * and _exit. Probes of tracepoints run with preemption off, where PREEMPT_RT
 * allows neither the locks nor the allocations below. In the functions above,
 * preemption is on, and no lock is held that conflicts with those taken here.
 * However, if ftrace has another user on the same function, it calls the hook
 * with preemption off (hook.c). So hooks do not sleep, and use GFP_ATOMIC. If
 * there is no memory for a record or a space, the kernel's own code walks the
 * process, and missed_memory counts it.
 *
 * Rights: a user can register by hand the processes that the user may
 * ptrace(2); the kernel checks this when /proc/PID/mem is opened. An exec that
 * gains privilege, or of a file that its user may not read, ends this
 * registration, unless the registrar had CAP_SYS_PTRACE. Only CAP_SYS_ADMIN can
 * change the registration of another user.
 *
 * Lock: kunwind_processes_lock (process_record.c), also for whole_system. It is
 * not held while the mappings of a process are read.
 */
#include <linux/binfmts.h>
#include <linux/cn_proc.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "../space/mm_hooks.h"
#include "../base/hook.h"
#include "../base/param.h"
#include "../base/quota.h"
#include "process.h"
#include "process_record.h"
#include "../space/space.h"
#include "../trace/emit.h"
#include "../trace/kunwind_events.h"

static unsigned int register_timeout_ms = 10000;
KUNWIND_PARAM_UINT(register_timeout_ms, register_timeout_ms);
MODULE_PARM_DESC(register_timeout_ms,
		 "longest time that a registration waits for tables, ms (default 10000)");

static bool whole_system;		/* under kunwind_processes_lock; also read without it */

/* ---------------------------------------------------------- registration */

unsigned long kunwind_process_timeout(void)
{
	return msecs_to_jiffies(READ_ONCE(register_timeout_ms));
}

/* Returns whether the process has not ended, and uses @mm. */
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
 * Registers the process for @owner (BY_*): makes its record and the space of
 * @mm unless they exist. On success, *@spacep is the space with a reference,
 * and *@added is true if @owner had not registered the process before. May
 * sleep. Errors: -ENOMEM, -ENOSPC, -ESRCH, -EACCES; -ECANCELED: system_wide is
 * off.
 */
static int enter(struct mm_struct *mm, struct pid *tgid, u8 owner, u32 flags,
		 const struct kunwind_registrar *registrar, struct kunwind_space **spacep, bool *added)
{
	bool children = (flags & KUNWIND_REGISTER_CHILDREN) || owner == BY_SYSTEM;
	struct kunwind_process_record *process, *new;
	struct kunwind_space *space;
	bool inserted = false;
	int err;

	*added = false;
	new = kunwind_process_alloc(GFP_KERNEL);
	space = kunwind_space_link(mm, pid_nr(tgid), children, false, GFP_KERNEL);
	if (!space) {
		kfree(new);
		kunwind_process_lock();
		if (owner == BY_SYSTEM)
			kunwind_process_missed(-ENOMEM);
		kunwind_process_unlock();
		return -ENOMEM;
	}
	*spacep = kunwind_space_get(space);

	kunwind_process_lock();
	process = kunwind_process_find(tgid);
	if (owner == BY_SYSTEM && !whole_system) {
		err = -ECANCELED;	/* switched off meanwhile */
	} else if (!process) {
		err = kunwind_process_insert(&new, tgid, owner, flags, registrar, space);
		inserted = !err;
		*added = inserted;
	} else if (kunwind_process_space(process) != space && !runs_in(tgid, mm)) {
		/* It has called exec since the caller got @mm. */
		err = -ESRCH;
	} else {
		*added = !(process->owners & owner);
		err = kunwind_process_claim(process, owner, flags, registrar);
		if (!err && kunwind_process_space(process) != space) {
			/*
			 * It has none, or one that was given up (mm_hooks.c).
			 */
			kunwind_process_set_space(process, NULL);
			if (kunwind_process_wants_children(process) && !children)
				kunwind_space_add_children(space, 1);
			kunwind_process_set_space(process, space);
			space = NULL;
		}
	}
	/* The process may have a record in the space already. */
	if (space && !inserted)
		kunwind_space_unlink(space, process && kunwind_process_space(process) == space ?
						    0 : pid_nr(tgid), children);
	if (err && owner == BY_SYSTEM)
		kunwind_process_missed(err);
	kunwind_process_unlock();
	kfree(new);
	if (err)
		kunwind_space_put(*spacep);
	return err;
}

/* Ends @owner's registration; if @space is given, only of a process in it. */
static void leave(struct pid *tgid, const struct kunwind_space *space, u8 owner)
{
	struct kunwind_process_record *process;

	kunwind_process_lock();
	process = kunwind_process_find(tgid);
	if (process && (!space || kunwind_process_space(process) == space))
		kunwind_process_release(process, owner);
	kunwind_process_unlock();
}

int kunwind_process_register(struct mm_struct *mm, struct pid *tgid, u32 flags,
			     u32 *nr_maps, u32 *nr_ready)
{
	struct kunwind_registrar registrar = {
		.uid = current_uid(),
		/* No audit: without these capabilities, only the limits differ. */
		.unlimited = ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN),
		.ptrace = ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE),
	};
	struct kunwind_space *space;
	bool added;
	int err;

	err = enter(mm, tgid, BY_HAND, flags, &registrar, &space, &added);
	if (err)
		return err;
	/*
	 * The process may have ended or called exec before the hooks could find
	 * the record. Either changes t->mm first; the lock in enter() and in
	 * the hooks orders this.
	 */
	smp_mb();
	if (!runs_in(tgid, mm)) {
		err = -ESRCH;
	} else {
		err = kunwind_space_read_mappings(space, mm, true, kunwind_process_timeout(), true);
		kunwind_space_count(space, nr_maps, nr_ready);
	}
	/*
	 * After an error the registration ends, even if the process has called
	 * exec meanwhile and its record is in the space of the new program. The
	 * hook on setup_new_exec() may have run before the record existed; then
	 * it did not check the right to trace that program.
	 */
	if (err && added)
		leave(tgid, NULL, BY_HAND);
	kunwind_space_put(space);
	return err;
}

int kunwind_process_adopt(struct mm_struct *mm, struct pid *tgid, bool read)
{
	struct kunwind_space *space;
	bool added;
	int err;

	err = enter(mm, tgid, BY_SYSTEM, 0, NULL, &space, &added);
	if (err)
		return err;
	smp_mb();	/* as above */
	if (!runs_in(tgid, mm)) {
		err = -ESRCH;
		if (added)
			leave(tgid, space, BY_SYSTEM);
	} else {
		/* Errors end no registration: a later mapping is read again. */
		err = read ? kunwind_space_read_mappings(space, mm, false, 0, false) : -EAGAIN;
	}
	kunwind_space_put(space);
	return err;
}

int kunwind_process_unregister(struct pid *tgid)
{
	/* No audit: most callers end a registration of their own. */
	bool admin = ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
	struct kunwind_process_record *process;
	int err = 0;

	kunwind_process_lock();
	process = kunwind_process_find(tgid);
	if (!process || !(process->owners & BY_HAND))
		err = -ENOENT;
	else if (!admin && !uid_eq(process->registrar.uid, current_uid()))
		err = -EACCES;
	else
		kunwind_process_release(process, BY_HAND);
	kunwind_process_unlock();
	return err;
}

void kunwind_process_whole_system(bool on)
{
	kunwind_process_lock();
	WRITE_ONCE(whole_system, on);
	kunwind_process_unlock();
}

void kunwind_process_show_params(struct seq_file *m)
{
	kunwind_process_show_limit(m);
	kunwind_quota_show_params(m);
	seq_printf(m, "param\tregister_timeout_ms\t%u\n", READ_ONCE(register_timeout_ms));
}

/* ----------------------------------------------------------------- hooks */

/*
 * Adds the registrations @owners that a child gets from its parent. @known: the
 * record of the child, which was registered before perf_event_fork() was
 * called, by the work item of system_wide or by hand. Return: as
 * kunwind_process_claim().
 */
static int inherit_known(struct kunwind_process_record *known,
			 const struct kunwind_process_record *parent, u8 owners)
{
	int err = 0;

	if (owners & BY_SYSTEM)
		err = kunwind_process_claim(known, BY_SYSTEM, 0, NULL);
	if (!err && (owners & BY_HAND) && !(known->owners & BY_HAND))
		err = kunwind_process_claim(known, BY_HAND, parent->flags, &parent->registrar);
	return err;
}

/*
 * Makes a record for a child that has none, in the memory *@new. @parent: NULL
 * only if @owners is BY_SYSTEM.
 */
static int inherit_new(struct kunwind_process_record **new, struct task_struct *child,
		       const struct kunwind_process_record *parent, u8 owners)
{
	struct kunwind_space *space;
	int err;

	/* after_fork() names the child: no kunwind_map of it comes before kunwind_fork. */
	space = kunwind_space_link(child->mm, 0, true, false, GFP_ATOMIC);
	if (!space)
		return -ENOMEM;
	err = kunwind_process_insert(new, task_tgid(child), owners, parent ? parent->flags : 0,
				     parent ? &parent->registrar : NULL, space);
	/*
	 * Only one of the two registrations may be refused: tries each alone.
	 */
	if (err && owners == (BY_HAND | BY_SYSTEM)) {
		err = kunwind_process_insert(new, task_tgid(child), BY_SYSTEM, 0, NULL, space);
		if (err)
			err = kunwind_process_insert(new, task_tgid(child), BY_HAND, parent->flags,
						     &parent->registrar, space);
	}
	if (err)
		kunwind_space_unlink(space, 0, true);
	return err;
}

/*
 * Registers @child like its parent. Returns whether it has a record then.
 * *@inherits: whether it has one because of its parent or of system_wide.
 */
static bool inherit(struct kunwind_process_record **new, struct task_struct *parent,
		    struct task_struct *child, bool *inherits)
{
	struct kunwind_process_record *process, *known;
	u8 owners = whole_system ? BY_SYSTEM : 0;
	int err;

	lockdep_assert_held(&kunwind_processes_lock);
	process = kunwind_process_find(task_tgid(parent));
	known = kunwind_process_find(task_tgid(child));
	if (process && (process->flags & KUNWIND_REGISTER_CHILDREN))
		owners |= BY_HAND;
	if (!owners)
		return known;
	err = known ? inherit_known(known, process, owners) :
		      inherit_new(new, child, process, owners);
	*inherits = !err;
	if (err)
		kunwind_process_missed(err);
	return known || !err;
}

/* @child has inherited its registration, and does not run yet. */
static void after_fork(const struct task_struct *parent, struct task_struct *child)
{
	struct kunwind_space *space;

	KUNWIND_EMIT(kunwind_fork, parent->tgid, child->tgid);
	rcu_read_lock();
	space = kunwind_space_find(child->mm);
	if (space) {
		kunwind_space_name(space, child->tgid);
		/* The parent has not read all yet, or there was no memory to share. */
		if (kunwind_space_dirty(space))
			kunwind_mm_hooks_queue(child, READ_IF_CHANGED);
	}
	rcu_read_unlock();
}

/*
 * Returns whether the process of @task has a record. Takes no lock, so that most
 * forks, execs and exits of processes without a record wait for nobody. What the
 * task has changed before (its mm, its number of threads) comes first: either
 * this function finds a record that is being made, or its maker finds the change
 * (runs_in()).
 */
static bool has_record(struct task_struct *task)
{
	bool found;

	if (!kunwind_process_any())
		return false;
	smp_mb();
	rcu_read_lock();
	found = kunwind_process_find(task_tgid(task));
	rcu_read_unlock();
	return found;
}

KUNWIND_HOOK1(perf_event_fork, struct task_struct *, child)
{
	struct kunwind_process_record *new = NULL;
	struct task_struct *parent = current;
	bool done = false, inherits = false;

	if (!child->mm || child->tgid == parent->tgid)
		return;
	/* adopt_all() in system_wide.c waits for readers of whole_system. */
	rcu_read_lock();
	if (READ_ONCE(whole_system) || has_record(parent)) {
		new = kunwind_process_alloc(GFP_ATOMIC);
		kunwind_process_lock();
		done = inherit(&new, parent, child, &inherits);
		kunwind_process_unlock();
	} else {
		done = has_record(child);
	}
	rcu_read_unlock();
	kfree(new);
	if (inherits)
		after_fork(parent, child);
	/* No process uses a space that kunwind_space_dup() has made for it. */
	if (!done)
		kunwind_space_forget_unused(child->mm);
}

KUNWIND_HOOK1(setup_new_exec, struct linux_binprm *, bprm)
{
	struct kunwind_process_record *process;

	if (!(bprm->secureexec || (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP)) ||
	    !has_record(current))
		return;
	kunwind_process_lock();
	process = kunwind_process_find(task_tgid(current));
	if (process && (process->owners & BY_HAND) && !process->registrar.ptrace)
		kunwind_process_release(process, BY_HAND);
	kunwind_process_unlock();
}

/*
 * Returns the record of a process that calls exec, or NULL: it has none. If the
 * whole system is registered, makes a record for a process that has none, in
 * the memory *@new. If the process is registered system-wide, charges the record
 * to its present user. If that user has no share left, this registration ends.
 */
static struct kunwind_process_record *of_program(struct kunwind_process_record **new,
						 struct task_struct *task)
{
	struct kunwind_process_record *process = kunwind_process_find(task_tgid(task));
	int err;

	if (process) {
		err = kunwind_process_recharge(process, task);
		if (err) {
			kunwind_process_missed(err);
			kunwind_process_release(process, BY_SYSTEM);
			process = kunwind_process_find(task_tgid(task));
		}
		return process;
	}
	if (whole_system) {
		err = kunwind_process_insert(new, task_tgid(task), BY_SYSTEM, 0, NULL, NULL);
		if (err)
			kunwind_process_missed(err);
		process = kunwind_process_find(task_tgid(task));
	}
	return process;
}

/*
 * Moves a process to a fresh space, and queues a read of its mappings. @children:
 * whether its record said that its children are registered; it may have been
 * changed or dropped since.
 */
static void enter_fresh(struct task_struct *task, bool children)
{
	struct kunwind_process_record *process;
	struct kunwind_space *space;

	space = kunwind_space_link(task->mm, task->tgid, children, true, GFP_ATOMIC);
	if (space)
		kunwind_space_get(space);
	kunwind_process_lock();
	process = kunwind_process_find(task_tgid(task));
	if (!space)
		kunwind_process_missed(-ENOMEM);
	else if (process && kunwind_process_wants_children(process) != children)
		kunwind_space_add_children(space, children ? -1 : 1);
	if (process)
		kunwind_process_set_space(process, space);
	else if (space)
		kunwind_space_unlink(space, task->tgid, children);
	kunwind_process_unlock();
	if (!space)
		return;
	/* Walks in a fresh space take the program to be at its entry. */
	if (!process || !kunwind_mm_hooks_queue(task, READ_EXEC))
		WRITE_ONCE(space->fresh, false);
	kunwind_space_put(space);
}

KUNWIND_HOOK1(proc_exec_connector, struct task_struct *, task)
{
	struct kunwind_process_record *process = NULL, *new;
	bool children = false;

	rcu_read_lock();	/* as above */
	if (READ_ONCE(whole_system) || has_record(task)) {
		new = READ_ONCE(whole_system) ? kunwind_process_alloc(GFP_ATOMIC) : NULL;
		kunwind_process_lock();
		process = of_program(&new, task);
		if (process)
			children = kunwind_process_wants_children(process);
		kunwind_process_unlock();
		kfree(new);
	}
	rcu_read_unlock();
	if (!process)
		return;
	/* Before the process has a space that can name the new program's mappings. */
	KUNWIND_EMIT(kunwind_exec, task->tgid, task->comm);
	enter_fresh(task, children);
}

KUNWIND_HOOK1(exit_files, struct task_struct *, task)
{
	struct kunwind_process_record *process;

	/* If a fork fails, @task is the child. */
	if (task != current || atomic_read(&task->signal->live) || !has_record(task))
		return;
	kunwind_process_lock();
	process = kunwind_process_find(task_tgid(task));
	if (process)
		kunwind_process_drop(process);
	kunwind_process_unlock();
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
	kunwind_process_close();
	return kunwind_hooks_disable(hooks, ARRAY_SIZE(hooks));
}

void kunwind_process_show_hooks(struct seq_file *m)
{
	kunwind_hooks_show(m, hooks, ARRAY_SIZE(hooks), "");
}

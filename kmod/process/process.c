// SPDX-License-Identifier: GPL-2.0-only
/*
 * process.c - registered processes, from registration to exit
 *
 * A process is a thread group and the space that it runs in. A user registers it
 * by hand; or it is registered because the whole system is (auto.c), by no user;
 * or both. It stays registered until neither holds. process_record.c keeps the
 * records of registered processes. Hooks on four functions of the kernel, all
 * required (hook.h), see what becomes of a process:
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
 *	or was missed, is registered here; and one whose real user has changed
 *	since its fork (su, sshd, cron) is charged to the new one.
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
 * Lock: kunwind_processes_lock (process_record.c), also for whole_system. It is not
 * held while the mappings of a process are read.
 */
#include <linux/binfmts.h>
#include <linux/cn_proc.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>

#include "../space/follow.h"
#include "../hook.h"
#include "payer.h"
#include "process.h"
#include "process_record.h"
#include "../space/space.h"
#include "../trace/trace_hooks.h"

static unsigned int register_timeout_ms = 10000;
module_param(register_timeout_ms, uint, 0644);
MODULE_PARM_DESC(register_timeout_ms,
		 "longest time that a registration waits for tables, ms (default 10000)");

static bool whole_system;		/* under kunwind_processes_lock; also read without it */

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
		 const struct kunwind_registrar *registrar, struct kunwind_space **spacep, bool *added)
{
	bool children = (flags & KUNWIND_REGISTER_CHILDREN) || owner == BY_AUTO;
	struct kunwind_process_record *process;
	struct kunwind_space *space;
	bool inserted = false;
	int err;

	*added = false;
	space = kunwind_space_link(mm, pid_nr(tgid), children, false, GFP_KERNEL);
	if (!space)
		return -ENOMEM;
	*spacep = kunwind_space_get(space);

	spin_lock(&kunwind_processes_lock);
	process = kunwind_process_find(tgid);
	if (owner == BY_AUTO && !whole_system) {
		err = -ECANCELED;	/* switched off since the caller looked */
	} else if (!process) {
		err = kunwind_process_insert(tgid, owner, flags, registrar, space);
		inserted = !err;
		*added = inserted;
	} else if (kunwind_process_space(process) != space && !runs_in(tgid, mm)) {
		/* It has gone on by exec to another mm since the caller got this one. */
		err = -ESRCH;
	} else {
		*added = !(process->owners & owner);
		err = kunwind_process_claim(process, owner, flags, registrar);
		if (!err && kunwind_process_space(process) != space) {
			/* Its exec could not make a space. */
			kunwind_process_set_space(process, NULL);
			if (kunwind_process_wants_children(process) && !children)
				kunwind_space_add_children(space, 1);
			kunwind_process_set_space(process, space);
			space = NULL;
		}
	}
	if (space && !inserted)
		kunwind_space_unlink(space, children);
	if (err && owner == BY_AUTO)
		kunwind_process_missed(err);
	spin_unlock(&kunwind_processes_lock);
	if (err)
		kunwind_space_put(*spacep);
	return err;
}

/* @owner does not register the process any more; with a space, only if it is still in it. */
static void leave(struct pid *tgid, const struct kunwind_space *space, u8 owner)
{
	struct kunwind_process_record *process;

	spin_lock(&kunwind_processes_lock);
	process = kunwind_process_find(tgid);
	if (process && (!space || kunwind_process_space(process) == space))
		kunwind_process_release(process, owner);
	spin_unlock(&kunwind_processes_lock);
}

int kunwind_process_register(struct mm_struct *mm, struct pid *tgid, u32 flags,
			     u32 *nr_maps, u32 *nr_ready)
{
	struct kunwind_registrar registrar = {
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
		err = -ESRCH;
	} else {
		err = kunwind_space_scan(space, mm, true, kunwind_process_timeout(), true);
		kunwind_space_count(space, nr_maps, nr_ready);
	}
	/*
	 * The record may be in the space of a new program by now, also by an exec
	 * during the wait for the scan lock. It goes all the same: the caller is
	 * told that nothing was registered. And the hook of setup_new_exec() may
	 * have come before the record was there, and left it the right to trace
	 * that program.
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
		err = read ? kunwind_space_scan(space, mm, false, 0, false) : -EAGAIN;
	}
	kunwind_space_put(space);
	return err;
}

int kunwind_process_unregister(struct pid *tgid)
{
	bool admin = capable(CAP_SYS_ADMIN);
	struct kunwind_process_record *process;
	int err = 0;

	spin_lock(&kunwind_processes_lock);
	process = kunwind_process_find(tgid);
	if (!process || !(process->owners & BY_HAND))
		err = -ENOENT;
	else if (!admin && !uid_eq(process->registrar.uid, current_uid()))
		err = -EACCES;
	else
		kunwind_process_release(process, BY_HAND);
	spin_unlock(&kunwind_processes_lock);
	return err;
}

void kunwind_process_whole_system(bool on)
{
	spin_lock(&kunwind_processes_lock);
	WRITE_ONCE(whole_system, on);
	spin_unlock(&kunwind_processes_lock);
}

void kunwind_process_show_params(struct seq_file *m)
{
	kunwind_process_show_limit(m);
	kunwind_payer_show_params(m);
	seq_printf(m, "param\tregister_timeout_ms\t%u\n", READ_ONCE(register_timeout_ms));
}

/* ----------------------------------------------------------------- hooks */

/*
 * A child that others could see and register before perf_event_fork() was called: by
 * auto's work item, or by hand. Its record becomes its parent's registrar's, too.
 */
static int inherit_known(struct kunwind_process_record *known,
			 const struct kunwind_process_record *parent, u8 owners)
{
	int err = 0;

	if (owners & BY_AUTO)
		err = kunwind_process_claim(known, BY_AUTO, 0, NULL);
	if (!err && (owners & BY_HAND) && !(known->owners & BY_HAND))
		err = kunwind_process_claim(known, BY_HAND, parent->flags, &parent->registrar);
	return err;
}

static int inherit_new(struct task_struct *child, const struct kunwind_process_record *parent,
		       u8 owners)
{
	struct kunwind_space *space;
	int err;

	space = kunwind_space_link(child->mm, child->tgid, true, false, GFP_ATOMIC);
	if (!space)
		return -ENOMEM;
	err = kunwind_process_insert(task_tgid(child), owners, parent ? parent->flags : 0,
				    parent ? &parent->registrar : NULL, space);
	/* What one of the two may not have, the other may. */
	if (err && owners == (BY_HAND | BY_AUTO)) {
		err = kunwind_process_insert(task_tgid(child), BY_AUTO, 0, NULL, space);
		if (err)
			err = kunwind_process_insert(task_tgid(child), BY_HAND, parent->flags,
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
	struct kunwind_process_record *process, *known;
	u8 owners = whole_system ? BY_AUTO : 0;
	int err;

	lockdep_assert_held(&kunwind_processes_lock);
	process = kunwind_process_find(task_tgid(parent));
	known = kunwind_process_find(task_tgid(child));
	if (process && (process->flags & KUNWIND_REGISTER_CHILDREN))
		owners |= BY_HAND;
	if (!owners)
		return known;
	err = known ? inherit_known(known, process, owners) : inherit_new(child, process, owners);
	if (err) {
		kunwind_process_missed(err);
		return known;
	}
	if (trace_kunwind_fork_enabled())
		trace_kunwind_fork(parent->tgid, child->tgid);
	return true;
}

static bool anybody(void)
{
	return kunwind_process_any() || READ_ONCE(whole_system);
}

KUNWIND_HOOK1(perf_event_fork, struct task_struct *, child)
{
	struct task_struct *parent = current;
	bool done = false;

	if (!child->mm || child->tgid == parent->tgid)
		return;
	rcu_read_lock();	/* for kunwind_process_whole_system() */
	if (anybody()) {
		spin_lock(&kunwind_processes_lock);
		done = inherit(parent, child);
		spin_unlock(&kunwind_processes_lock);
	}
	rcu_read_unlock();
	/* What kunwind_space_dup() made for it is nobody's then. */
	if (!done)
		kunwind_space_forget_unused(child->mm);
}

KUNWIND_HOOK1(setup_new_exec, struct linux_binprm *, bprm)
{
	struct kunwind_process_record *process;

	if (!kunwind_process_any() ||
	    !(bprm->secureexec || (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP)))
		return;
	spin_lock(&kunwind_processes_lock);
	process = kunwind_process_find(task_tgid(current));
	if (process && (process->owners & BY_HAND) && !process->registrar.ptrace)
		kunwind_process_release(process, BY_HAND);
	spin_unlock(&kunwind_processes_lock);
}

/* The record of the program that @task runs from here on; NULL: it has none. */
static struct kunwind_process_record *of_program(struct task_struct *task)
{
	struct kunwind_process_record *process = kunwind_process_find(task_tgid(task));
	int err;

	if (process) {
		err = kunwind_process_recharge(process, task);
		if (err) {
			kunwind_process_missed(err);
			kunwind_process_release(process, BY_AUTO);
			process = kunwind_process_find(task_tgid(task));
		}
		return process;
	}
	if (whole_system) {
		err = kunwind_process_insert(task_tgid(task), BY_AUTO, 0, NULL, NULL);
		if (err)
			kunwind_process_missed(err);
		process = kunwind_process_find(task_tgid(task));
	}
	return process;
}

static void executes(struct task_struct *task)
{
	struct kunwind_process_record *process = of_program(task);
	struct kunwind_space *space;

	lockdep_assert_held(&kunwind_processes_lock);
	if (!process)
		return;
	if (trace_kunwind_exec_enabled())
		trace_kunwind_exec(task->tgid, task->comm);
	space = kunwind_space_link(task->mm, task->tgid, kunwind_process_wants_children(process),
				   true, GFP_ATOMIC);
	if (!space)
		kunwind_process_missed(-ENOMEM);
	kunwind_process_set_space(process, space);
	/* The walk takes a fresh space for a program at its entry: only until the work ran. */
	if (space && !kunwind_follow_queue(task, FOLLOW_EXEC))
		WRITE_ONCE(space->fresh, false);
}

KUNWIND_HOOK1(proc_exec_connector, struct task_struct *, task)
{
	rcu_read_lock();	/* as above */
	if (anybody()) {
		spin_lock(&kunwind_processes_lock);
		executes(task);
		spin_unlock(&kunwind_processes_lock);
	}
	rcu_read_unlock();
}

KUNWIND_HOOK1(exit_files, struct task_struct *, task)
{
	struct kunwind_process_record *process;

	/* Of a fork that fails, @task is the child. */
	if (task != current || !kunwind_process_any() || atomic_read(&task->signal->live))
		return;
	spin_lock(&kunwind_processes_lock);
	process = kunwind_process_find(task_tgid(task));
	if (process)
		kunwind_process_drop(process);
	spin_unlock(&kunwind_processes_lock);
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

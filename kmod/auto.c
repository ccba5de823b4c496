// SPDX-License-Identifier: GPL-2.0-only
/*
 * auto.c - the whole system: every process registered
 *
 * From the moment that it is switched on the tracepoints of process.c register
 * what forks and execs. What runs already is on the kernel's list of processes
 * then (kunwind_process_whole_system() waits for the probes that did not know
 * yet), and is registered by whoever switches, one process after another:
 * its mappings are read under its mmap_lock, its tables waited for, all waits
 * together at most register_timeout_ms. No process is stopped or entered, and
 * whatever namespaces it is in do not matter: the list is the kernel's.
 *
 * Switched by CAP_SYS_ADMIN in the initial user namespace: the ioctl, or the
 * module parameter, when the module is loaded or later.
 *
 * What it does not: kernel threads have no user stack. A task that shares its
 * mm with another process (vfork) is registered with that mm.
 *
 * Memory: one pointer for each process that runs, while it is switched on;
 * after that what processes and their spaces take (status: a process's bytes).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>

#include "auto.h"
#include "callstack.h"
#include "process.h"

static DEFINE_MUTEX(auto_lock);		/* switching, and all of these */
static bool auto_on;
static bool live;			/* between init and exit */
static bool wanted;			/* at load */

/* The thread groups that are there now, each with a reference. NULL: no memory. */
static struct pid **list_processes(unsigned int *nr)
{
	unsigned int room = 0, count;
	struct pid **pids = NULL;
	struct task_struct *task;

	for (;;) {
		count = 0;
		rcu_read_lock();
		for_each_process(task) {
			if (task->flags & PF_KTHREAD)
				continue;
			if (count < room)
				pids[count] = get_pid(task_tgid(task));
			count++;
		}
		rcu_read_unlock();
		*nr = min(count, room);
		/* Who came meanwhile registered itself. */
		if (pids && count <= room)
			return pids;
		while (*nr)
			put_pid(pids[--*nr]);
		kvfree(pids);
		room = count + count / 8 + 64;
		pids = kvmalloc_array(room, sizeof(*pids), GFP_KERNEL | __GFP_NOWARN);
		if (!pids)
			return NULL;
	}
}

/* With a reference (mmput). A leader may have ended before its threads. */
static struct mm_struct *mm_of(struct pid *pid)
{
	struct task_struct *leader, *t;
	struct mm_struct *mm = NULL;

	rcu_read_lock();
	leader = pid_task(pid, PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, t) {
			mm = get_task_mm(t);
			if (mm)
				break;
		}
	rcu_read_unlock();
	return mm;
}

static int adopt_all(void)
{
	unsigned long end = jiffies + kunwind_process_timeout(), now;
	struct mm_struct *mm;
	struct pid **pids;
	unsigned int nr;
	int err = 0;

	pids = list_processes(&nr);
	if (!pids)
		return -ENOMEM;
	while (nr--) {
		mm = err == -EINTR ? NULL : mm_of(pids[nr]);
		if (mm) {
			now = jiffies;
			err = kunwind_process_adopt(mm, pids[nr],
						    time_before(now, end) ? end - now : 0);
			mmput(mm);
			if (fatal_signal_pending(current))
				err = -EINTR;
		}
		put_pid(pids[nr]);
		cond_resched();
	}
	kvfree(pids);
	/* What else can go wrong with one process is counted. */
	return err == -EINTR ? err : 0;
}

static int switch_to(bool want)
{
	int err = 0;

	lockdep_assert_held(&auto_lock);
	if (want) {
		if (!READ_ONCE(kunwind_enabled))
			return -EOPNOTSUPP;
		kunwind_process_whole_system(true);
		err = adopt_all();
	}
	if (!want || err) {
		kunwind_process_whole_system(false);
		kunwind_process_disown();
	}
	WRITE_ONCE(auto_on, want && !err);
	return err;
}

int kunwind_auto_set(bool want)
{
	int err = -ENODEV;

	if (mutex_lock_killable(&auto_lock))
		return -EINTR;
	if (live)
		err = switch_to(want);
	mutex_unlock(&auto_lock);
	return err;
}

bool kunwind_auto_on(void)
{
	return READ_ONCE(auto_on);
}

static int param_set(const char *text, const struct kernel_param *kp)
{
	bool want;
	int err = kstrtobool(text, &want);

	if (err)
		return err;
	mutex_lock(&auto_lock);
	if (live) {
		/* The file's owner may be root of a user namespace that maps root. */
		err = capable(CAP_SYS_ADMIN) ? switch_to(want) : -EPERM;
	} else {
		wanted = want;
	}
	mutex_unlock(&auto_lock);
	return err;
}

static int param_get(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%c\n", kunwind_auto_on() ? 'Y' : 'N');
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
	.get = param_get,
};
/* The kernel's headers may have made the word another spelling of __auto_type. */
#undef auto
module_param_cb(auto, &param_ops, NULL, 0644);
MODULE_PARM_DESC(auto, "register every process, running or new (default N)");

void kunwind_auto_init(void)
{
	int err;

	mutex_lock(&auto_lock);
	live = true;
	if (wanted) {
		err = switch_to(true);
		if (err)
			pr_warn("auto=1: error %d, it is off\n", err);
	}
	mutex_unlock(&auto_lock);
}

void kunwind_auto_exit(void)
{
	mutex_lock(&auto_lock);
	live = false;
	mutex_unlock(&auto_lock);
}

void kunwind_auto_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tauto\t%c\n", kunwind_auto_on() ? 'Y' : 'N');
}

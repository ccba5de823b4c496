// SPDX-License-Identifier: GPL-2.0-only
/*
 * system_wide.c - register every process of the system
 *
 * It is switched by the ioctl KUNWIND_IOC_SYSTEM_WIDE or the module parameter
 * "system_wide", with CAP_SYS_ADMIN in the initial user namespace (at load,
 * CAP_SYS_MODULE). Switching sets a flag and returns; switching off also ends
 * all system-wide registrations. No process, file system or user can hold this
 * up. Otherwise the kill switch "enabled" could not be set either, because the
 * kernel writes all parameters of a module under one lock.
 *
 * The hooks of process.c register the processes that fork or exec after the
 * flag is set. A work item registers the processes that ran before:
 *   1. It waits for hooks that may not have seen the flag.
 *   2. It lists all thread groups of the kernel, in all namespaces.
 *   3. It registers each process and reads its mappings. It queues the builds
 *	of unwind tables, and does not wait for them. It skips a process whose
 *	mmap_lock is taken: the stacks of that process end with not_ready.
 *   4. It runs again for the processes that it skipped: after DELAY_MIN, then
 *	after twice as long each time, up to DELAY_MAX, until each is read or
 *	has ended. It takes at most about a tenth of a CPU for any number.
 * While "enabled" is N (the kill switch), the work item only waits.
 *
 * A process may end while the work item reads its mappings (process_memory.c).
 * If the memory of a process cannot be kept, because too many of its user's
 * processes are ending, it is registered, but its mappings are not read; the
 * work item tries it again. Until then, a process reads its mappings itself when
 * it maps code.
 *
 * After the switch, the ioctl waits until the processes are registered and
 * their tables are built: killably, without a lock, at most
 * register_timeout_ms, and not for a process that stays skipped. The parameter
 * does not wait.
 *
 * Kernel threads have no user stack and are left out. A process that shares its
 * mm with another one (vfork) is registered with that mm.
 *
 * Process context; may sleep. Memory: one pointer for each process that runs,
 * until all are registered.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "system_wide.h"
#include "../base/enabled.h"
#include "../base/param.h"
#include "process.h"
#include "process_memory.h"
#include "../space/space.h"

#define DELAY_MIN	(1 + HZ / 100)	/* between two tries of a process, jiffies */
#define DELAY_LONG	(HZ / 5)	/* from this delay on, the ioctl does not wait any more */
#define DELAY_MAX	HZ

/* Held while system_wide is switched. The holder waits for nothing. */
static DEFINE_MUTEX(system_wide_lock);
/* The next four are written under system_wide_lock. */
static bool system_wide_on;
static u32 nr_asked;			/* how often it was switched on */
static enum { LOADING, LIVE, GOING } phase;
static bool wanted;			/* value of the parameter at load */

static struct workqueue_struct *adopters;
static void adopt_all(struct work_struct *work);
static DECLARE_DELAYED_WORK(adopter, adopt_all);
/* Only the work item's: processes to be registered, each with a reference. */
static struct pid **waiting;
static unsigned int nr_waiting;
static unsigned long delay;
static u32 nr_listed;			/* nr_asked when the list was made */

/* nr_asked of the last pass after which the ioctl need not wait. */
static u32 nr_adopted;
static unsigned int nr_pending;		/* processes on the list, for the status */
static DECLARE_WAIT_QUEUE_HEAD(adopted);

static void forget_waiting(void)
{
	while (nr_waiting)
		put_pid(waiting[--nr_waiting]);
	kvfree(waiting);
	waiting = NULL;
}

/* Lists all thread groups except kernel threads. False: no memory. */
static bool list_processes(void)
{
	unsigned int room = 0, count;
	struct task_struct *task;

	for (;;) {
		forget_waiting();
		if (room) {
			waiting = kvmalloc_array(room, sizeof(*waiting), GFP_KERNEL | __GFP_NOWARN);
			if (!waiting)
				return false;
		}
		count = 0;
		rcu_read_lock();
		for_each_process(task) {
			if (task->flags & PF_KTHREAD)
				continue;
			if (count < room)
				waiting[count] = get_pid(task_tgid(task));
			count++;
		}
		rcu_read_unlock();
		nr_waiting = min(count, room);
		/* The hook on fork registers a child made meanwhile. */
		if (waiting && count <= room)
			return true;
		room = count + count / 8 + 64;
	}
}

/* Registers and reads a process. False: it has to be tried again. */
static bool adopt(struct pid *pid)
{
	struct kunwind_process_memory *memory = kunwind_process_memory_get(pid);
	int err;

	if (IS_ERR(memory))
		return PTR_ERR(memory) == -ESRCH;
	err = kunwind_process_adopt(memory->mm, pid, memory->kept);
	kunwind_process_memory_put(memory);
	/* Other errors are not tried again; a refused record is counted. */
	return err != -EAGAIN;
}

static bool stopped(void)
{
	return !READ_ONCE(system_wide_on) || !READ_ONCE(kunwind_enabled);
}

/* Tries each listed process once. Those to be tried again stay on the list. */
static void adopt_waiting(void)
{
	unsigned int i, kept = 0;

	for (i = 0; i < nr_waiting; i++) {
		struct pid *pid = waiting[i];

		if (stopped() || !adopt(pid))
			waiting[kept++] = pid;
		else
			put_pid(pid);
		WRITE_ONCE(nr_pending, kept + nr_waiting - i - 1);
		cond_resched();
	}
	nr_waiting = kept;
}

static void adopt_all(struct work_struct *work)
{
	u64 start = ktime_get_ns();
	u32 asked = READ_ONCE(nr_asked);
	bool listed = true;

	if (READ_ONCE(system_wide_on) && asked != nr_listed) {
		/*
		 * Waits for hooks on fork and exec that saw the switch off, so
		 * that the list has their processes.
		 */
		synchronize_rcu();
		listed = list_processes();
		if (listed) {
			delay = 0;
			WRITE_ONCE(nr_pending, nr_waiting);
			/* Pairs with kunwind_system_wide_show(). */
			smp_store_release(&nr_listed, asked);
		}
	}
	if (listed)
		adopt_waiting();
	delay = clamp(2 * delay, (unsigned long)DELAY_MIN, (unsigned long)DELAY_MAX);
	if (READ_ONCE(system_wide_on) && (!listed || nr_waiting))
		/* Does nothing if switch_to() has queued an earlier run. */
		queue_delayed_work(adopters, &adopter,
				   max(delay, nsecs_to_jiffies(10 * (ktime_get_ns() - start))));
	else
		forget_waiting();
	if (listed && (!nr_waiting || delay >= DELAY_LONG))
		WRITE_ONCE(nr_adopted, asked);
	wake_up_all(&adopted);
}

/* *@ended: for kunwind_process_ended(), after the unlock. */
static int switch_to(bool want, struct kunwind_process_record **ended)
{
	lockdep_assert_held(&system_wide_lock);
	if (want && !kunwind_allowed())
		return -EOPNOTSUPP;
	kunwind_process_whole_system(want);
	WRITE_ONCE(system_wide_on, want);
	if (want)
		WRITE_ONCE(nr_asked, nr_asked + 1);
	else
		*ended = kunwind_process_disown();
	mod_delayed_work(adopters, &adopter, 0);
	return 0;
}

static bool adopted_since(u32 asked)
{
	return (s32)(READ_ONCE(nr_adopted) - asked) >= 0;
}

int kunwind_system_wide_set(bool want)
{
	struct kunwind_process_record *ended = NULL;
	int err = -ENODEV;
	long left;
	u32 asked;

	if (mutex_lock_killable(&system_wide_lock))
		return -EINTR;
	if (phase == LIVE)
		err = switch_to(want, &ended);
	asked = nr_asked;
	mutex_unlock(&system_wide_lock);
	kunwind_process_ended(ended);
	if (err || !want)
		return err;
	left = wait_event_killable_timeout(adopted, adopted_since(asked) || stopped(),
					   kunwind_process_timeout());
	return left < 0 || kunwind_space_settle(left) ? -EINTR : 0;
}

static int param_set(const char *text)
{
	struct kunwind_process_record *ended = NULL;
	bool want;
	int err = kstrtobool(text, &want);

	if (err)
		return err;
	mutex_lock(&system_wide_lock);
	if (phase == LIVE)
		err = switch_to(want, &ended);
	else if (phase == LOADING)
		wanted = want;
	else
		err = -ENODEV;
	mutex_unlock(&system_wide_lock);
	kunwind_process_ended(ended);
	return err;
}

static int param_get(char *to)
{
	return sysfs_emit(to, "%c\n", READ_ONCE(system_wide_on) ? 'Y' : 'N');
}

int kunwind_system_wide_init(void)
{
	adopters = alloc_workqueue("kunwind_system_wide", WQ_UNBOUND, 0);
	return adopters ? 0 : -ENOMEM;
}

void kunwind_system_wide_start(void)
{
	struct kunwind_process_record *none = NULL;	/* nothing was registered before */

	mutex_lock(&system_wide_lock);
	WRITE_ONCE(phase, LIVE);
	if (wanted && switch_to(true, &none))
		pr_warn("system_wide=1 has no effect, because enabled is N\n");
	mutex_unlock(&system_wide_lock);
}

void kunwind_system_wide_exit(void)
{
	mutex_lock(&system_wide_lock);
	WRITE_ONCE(phase, GOING);
	WRITE_ONCE(system_wide_on, false);
	mutex_unlock(&system_wide_lock);
	cancel_delayed_work_sync(&adopter);
	destroy_workqueue(adopters);
	forget_waiting();
}

void kunwind_system_wide_show(struct seq_file *m)
{
	unsigned int pending = 0;

	if (READ_ONCE(system_wide_on)) {
		/* 1 until the processes are listed. */
		pending = smp_load_acquire(&nr_listed) != READ_ONCE(nr_asked);
		pending = max(pending, READ_ONCE(nr_pending));
	}
	seq_printf(m, "param\tsystem_wide\t%c\n", READ_ONCE(system_wide_on) ? 'Y' : 'N');
	seq_printf(m, "stat\tsystem_wide_pending\t%u\n", pending);
}

KUNWIND_PARAM(system_wide, param_set, param_get);
MODULE_PARM_DESC(system_wide, "register every process, running or new (default N)");

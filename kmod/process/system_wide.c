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
 * A process may end while the work item reads its mappings. Unmapping its
 * memory may wait for a file system, so another work item does this for each
 * such process: at most ENDED_MAX at a time, each with a worker of its own. A
 * user may have at most as many of these as are free. Other processes of a user
 * who has that many are registered, but their mappings are not read; the work
 * item tries them again. Until then, a process reads its mappings itself when
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
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "system_wide.h"
#include "../base/enabled.h"
#include "../base/param.h"
#include "../base/quota.h"
#include "process.h"
#include "../space/space.h"

#define DELAY_MIN	(1 + HZ / 100)	/* between two tries of a process, jiffies */
#define DELAY_LONG	(HZ / 5)	/* from this delay on, the ioctl does not wait any more */
#define DELAY_MAX	HZ
#define ENDED_MAX	64		/* work items that unmap the memory of ended processes */

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

/* Made for each read: unmaps the memory if the process ends meanwhile. */
struct ended {
	struct work_struct work;
	struct mm_struct *mm;		/* with the last reference (mmput()) */
	/*
	 * Of the user who is charged; NULL: nobody is; ERR_PTR(): no share
	 * left.
	 */
	struct kunwind_quota *quota;
};

static struct workqueue_struct *unmappers;
static atomic_t nr_ended;		/* such work items that are queued or run */

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

static unsigned int free_unmaps(void)
{
	int nr = atomic_read(&nr_ended);

	return nr < ENDED_MAX ? ENDED_MAX - nr : 0;
}

/*
 * Returns the process's mm with a reference (mmdrop()), or NULL: it has ended.
 * Its leader may end before its threads. *@quota: of the user who is charged
 * for a work item that unmaps the memory (NULL: nobody is), or ERR_PTR(): no
 * such work item may be queued.
 */
static struct mm_struct *mm_of(struct pid *pid, struct kunwind_quota **quota)
{
	struct task_struct *leader, *t;
	struct mm_struct *mm = NULL;
	unsigned int free = free_unmaps();

	rcu_read_lock();
	leader = pid_task(pid, PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, t) {
			task_lock(t);
			mm = t->mm;
			if (mm)
				mmgrab(mm);
			task_unlock(t);
			if (!mm)
				continue;
			*quota = free ? kunwind_quota_add_share(t, KUNWIND_SHARE_UNMAP, free) :
					ERR_PTR(-ENOSPC);
			break;
		}
	rcu_read_unlock();
	return mm;
}

static void free_ended(struct ended *ended)
{
	if (!IS_ERR(ended->quota))
		kunwind_quota_remove_share(ended->quota, KUNWIND_SHARE_UNMAP);
	kfree(ended);
}

static void unmap(struct work_struct *work)
{
	struct ended *ended = container_of(work, struct ended, work);

	mmput(ended->mm);
	free_ended(ended);
	atomic_dec(&nr_ended);
	/* kunwind_system_wide_exit() drains the workqueue after this. */
	module_put(THIS_MODULE);
}

/*
 * Drops a reference to the memory, and takes over @ended. Dropping the last
 * reference unmaps the memory, which may wait for file systems. Therefore the
 * work item in @ended drops it, not this work item or the kernel's own
 * workqueue.
 */
static void put_mm(struct mm_struct *mm, struct ended *ended)
{
	if (atomic_add_unless(&mm->mm_users, -1, 1)) {
		free_ended(ended);
	} else if (try_module_get(THIS_MODULE)) {
		ended->mm = mm;
		INIT_WORK(&ended->work, unmap);
		atomic_inc(&nr_ended);
		queue_work(unmappers, &ended->work);
	} else {
		/* At unload: this is the last process that is read. */
		free_ended(ended);
		mmput_async(mm);
	}
}

/* Registers and reads a process. False: it has to be tried again. */
static bool adopt(struct pid *pid)
{
	struct ended *ended;
	struct mm_struct *mm;
	bool read;
	int err;

	ended = kzalloc(sizeof(*ended), GFP_KERNEL | __GFP_NOWARN);
	if (!ended)
		return false;
	mm = mm_of(pid, &ended->quota);
	if (!mm) {
		kfree(ended);
		return true;
	}
	read = !IS_ERR(ended->quota) && mmget_not_zero(mm);
	err = kunwind_process_adopt(mm, pid, read);
	if (read)
		put_mm(mm, ended);
	else
		free_ended(ended);
	mmdrop(mm);
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
	if (!adopters)
		return -ENOMEM;
	/* At most ENDED_MAX items are queued. From 6.9 on, the nodes divide this limit. */
	unmappers = alloc_workqueue("kunwind_unmap", WQ_UNBOUND, WQ_UNBOUND_MAX_ACTIVE);
	if (unmappers)
		return 0;
	destroy_workqueue(adopters);
	return -ENOMEM;
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
	/* Each work holds the module: only last instructions can run. */
	destroy_workqueue(unmappers);
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

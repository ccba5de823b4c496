// SPDX-License-Identifier: GPL-2.0-only
/*
 * auto.c - register every process of the system
 *
 * The switch is the ioctl KUNWIND_IOC_AUTO or the module parameter "auto", for
 * CAP_SYS_ADMIN in the initial user namespace. Switching sets a flag and returns:
 * nothing that a process, a file system or a user does can hold it up. That
 * matters beyond this file, because the kernel writes all parameters of a
 * module, the kill switch "enabled" among them, under one lock.
 *
 * Processes that fork or exec after the flag is set are registered by the
 * hooks of process.c. Those that ran before are registered by a work item:
 *   1. It waits for hooks that may not have seen the flag.
 *   2. It lists the thread groups that the kernel knows. Namespaces do not matter.
 *   3. It registers each and reads its mappings. Unwind tables are queued to be
 *	built, not waited for. A process whose mmap_lock is taken is skipped: its
 *	stacks end with "not ready".
 *   4. It runs again for those that it skipped, after DELAY_MIN, then after twice
 *	as long each time, up to DELAY_MAX, until each is read or gone. It takes at
 *	most about a tenth of a CPU, however many are skipped.
 * While "enabled" is N (the kill switch) the work item only waits.
 *
 * A process may end while the work item reads it. Then a work of its own unmaps the
 * process's memory, because that may wait for a file system: at most ENDED_MAX at a
 * time, each with a worker. Of these a user has at most as many as are free. The other
 * processes of a user who has as many are registered and not read, until fewer of the
 * user's are left: then they are read with their next mapping only.
 *
 * The ioctl, unlike the parameter, then waits, killably and without a lock, until
 * the processes are registered and their tables built: at most
 * register_timeout_ms, and not for a process that stays skipped.
 *
 * Kernel threads have no user stack and are left out. A process that shares its
 * mm with another (vfork) is registered with that mm.
 *
 * Memory: one pointer for each process that runs, until all are registered.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "auto.h"
#include "../stack/callstack.h"
#include "payer.h"
#include "process.h"
#include "../space/space.h"

#define DELAY_MIN	(1 + HZ / 100)	/* between two tries of a process, jiffies */
#define DELAY_LONG	(HZ / 5)	/* from here on nobody waits for those left */
#define DELAY_MAX	HZ
#define ENDED_MAX	64		/* no more than the workqueue runs at a time */

static DEFINE_MUTEX(auto_lock);		/* switching; never held while anything is waited for */
static bool auto_on;			/* written under auto_lock */
static u32 nr_asked;			/* the same: times it was switched on */
static enum { LOADING, LIVE, GOING } phase;	/* the same */
static bool wanted;			/* the same: by the parameter at load */

static struct workqueue_struct *adopters;
static void adopt_all(struct work_struct *work);
static DECLARE_DELAYED_WORK(adopter, adopt_all);
/* The work item's own: processes that it has still to register, each with a reference. */
static struct pid **waiting;
static unsigned int nr_waiting;
static unsigned long delay;
static u32 nr_listed;			/* nr_asked when the list was made */

/* A process that ended while it was read, and whose memory is to be unmapped. */
struct ended {
	struct work_struct work;
	struct mm_struct *mm;
	struct kunwind_payer *payer;	/* in whose share it is; NULL: nobody's */
};

static struct workqueue_struct *unmappers;
static atomic_t nr_ended;

static u32 nr_adopted;			/* nr_asked of the last pass that is over */
static unsigned int nr_pending;		/* length of the list, for others */
static DECLARE_WAIT_QUEUE_HEAD(adopted);

static void forget_waiting(void)
{
	while (nr_waiting)
		put_pid(waiting[--nr_waiting]);
	kvfree(waiting);
	waiting = NULL;
}

/* Lists the thread groups that there are. False: no memory. */
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
		/* A process that came meanwhile was registered by its fork. */
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
 * With a reference of the structure (mmdrop()). A leader may have ended before its
 * threads. *payer: in whose share its memory may be unmapped, or ERR_PTR: it may not.
 */
static struct mm_struct *mm_of(struct pid *pid, struct kunwind_payer **payer)
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
			*payer = free ? kunwind_payer_add_share(t, KUNWIND_SHARE_UNMAP, free) :
					ERR_PTR(-ENOSPC);
			break;
		}
	rcu_read_unlock();
	return mm;
}

static void free_ended(struct ended *ended)
{
	if (!IS_ERR(ended->payer))
		kunwind_payer_remove_share(ended->payer, KUNWIND_SHARE_UNMAP);
	kfree(ended);
}

static void unmap(struct work_struct *work)
{
	struct ended *ended = container_of(work, struct ended, work);

	mmput(ended->mm);
	free_ended(ended);
	atomic_dec(&nr_ended);
	/* kunwind_auto_exit() drains the workqueue after this. */
	module_put(THIS_MODULE);
}

/*
 * Gives back a reference of the memory. The last one unmaps it, which may wait
 * for file systems, so neither this work item nor the kernel's own workqueue does
 * it. @ended describes the work that does.
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
		/* The module goes, and cannot wait. This is the last process that it reads. */
		free_ended(ended);
		mmput_async(mm);
	}
}

/* False: it has to be tried again. */
static bool adopt(struct pid *pid)
{
	struct ended *ended;
	struct mm_struct *mm;
	bool read;
	int err;

	ended = kzalloc(sizeof(*ended), GFP_KERNEL | __GFP_NOWARN);
	if (!ended)
		return false;
	mm = mm_of(pid, &ended->payer);
	if (!mm) {
		kfree(ended);
		return true;
	}
	read = !IS_ERR(ended->payer) && mmget_not_zero(mm);
	err = kunwind_process_adopt(mm, pid, read);
	if (read)
		put_mm(mm, ended);
	else
		free_ended(ended);
	mmdrop(mm);
	/* All else that can go wrong with one process is counted. */
	return err != -EAGAIN;
}

static bool stopped(void)
{
	return !READ_ONCE(auto_on) || !READ_ONCE(kunwind_enabled);
}

/* One try of each process of the list; it keeps those that have to be tried again. */
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

	if (READ_ONCE(auto_on) && asked != nr_listed) {
		/* A fork or exec whose hook saw the switch off is on the list then. */
		synchronize_rcu();
		listed = list_processes();
		if (listed) {
			delay = 0;
			WRITE_ONCE(nr_pending, nr_waiting);
			/* Pairs with kunwind_auto_show(). */
			smp_store_release(&nr_listed, asked);
		}
	}
	if (listed)
		adopt_waiting();
	delay = clamp(2 * delay, (unsigned long)DELAY_MIN, (unsigned long)DELAY_MAX);
	if (READ_ONCE(auto_on) && (!listed || nr_waiting))
		/* If it was switched meanwhile, this leaves the earlier time. */
		queue_delayed_work(adopters, &adopter,
				   max(delay, nsecs_to_jiffies(10 * (ktime_get_ns() - start))));
	else
		forget_waiting();
	if (listed && (!nr_waiting || delay >= DELAY_LONG))
		WRITE_ONCE(nr_adopted, asked);
	wake_up_all(&adopted);
}

static int switch_to(bool want)
{
	lockdep_assert_held(&auto_lock);
	if (want && !kunwind_callstack_allowed())
		return -EOPNOTSUPP;
	kunwind_process_whole_system(want);
	WRITE_ONCE(auto_on, want);
	if (want)
		WRITE_ONCE(nr_asked, nr_asked + 1);
	else
		kunwind_process_disown();
	mod_delayed_work(adopters, &adopter, 0);
	return 0;
}

static bool adopted_since(u32 asked)
{
	return (s32)(READ_ONCE(nr_adopted) - asked) >= 0;
}

int kunwind_auto_set(bool want)
{
	int err = -ENODEV;
	long left;
	u32 asked;

	if (mutex_lock_killable(&auto_lock))
		return -EINTR;
	if (phase == LIVE)
		err = switch_to(want);
	asked = nr_asked;
	mutex_unlock(&auto_lock);
	if (err || !want)
		return err;
	left = wait_event_killable_timeout(adopted, adopted_since(asked) || stopped(),
					   kunwind_process_timeout());
	return left < 0 || kunwind_space_settle(left) ? -EINTR : 0;
}

static int param_set(const char *text, const struct kernel_param *kp)
{
	bool want;
	int err = kstrtobool(text, &want);

	if (err)
		return err;
	/* The file's owner may be root of a user namespace that maps root. */
	if (!capable(READ_ONCE(phase) == LOADING ? CAP_SYS_MODULE : CAP_SYS_ADMIN))
		return -EPERM;
	mutex_lock(&auto_lock);
	if (phase == LIVE)
		err = switch_to(want);
	else if (phase == LOADING)
		wanted = want;
	else
		err = -ENODEV;
	mutex_unlock(&auto_lock);
	return err;
}

static int param_get(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%c\n", READ_ONCE(auto_on) ? 'Y' : 'N');
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
	.get = param_get,
};
int kunwind_auto_init(void)
{
	adopters = alloc_workqueue("kunwind_auto", WQ_UNBOUND, 0);
	if (!adopters)
		return -ENOMEM;
	unmappers = alloc_workqueue("kunwind_unmap", WQ_UNBOUND, ENDED_MAX);
	if (unmappers)
		return 0;
	destroy_workqueue(adopters);
	return -ENOMEM;
}

void kunwind_auto_start(void)
{
	mutex_lock(&auto_lock);
	WRITE_ONCE(phase, LIVE);
	if (wanted && switch_to(true))
		pr_warn("auto=1 has no effect, because enabled is N\n");
	mutex_unlock(&auto_lock);
}

void kunwind_auto_exit(void)
{
	mutex_lock(&auto_lock);
	WRITE_ONCE(phase, GOING);
	WRITE_ONCE(auto_on, false);
	mutex_unlock(&auto_lock);
	cancel_delayed_work_sync(&adopter);
	destroy_workqueue(adopters);
	/* Each work has a reference to the module: only its last instructions can still run. */
	destroy_workqueue(unmappers);
	forget_waiting();
}

void kunwind_auto_show(struct seq_file *m)
{
	unsigned int pending = 0;

	if (READ_ONCE(auto_on)) {
		/* One, until it is known how many. */
		pending = smp_load_acquire(&nr_listed) != READ_ONCE(nr_asked);
		pending = max(pending, READ_ONCE(nr_pending));
	}
	seq_printf(m, "param\tauto\t%c\n", READ_ONCE(auto_on) ? 'Y' : 'N');
	seq_printf(m, "stat\tauto_pending\t%u\n", pending);
}

/*
 * Newer kernels' headers define "auto" as __auto_type and use it in min() and
 * max(), so nothing that uses them may follow.
 */
#undef auto
module_param_cb(auto, &param_ops, NULL, 0644);
MODULE_PARM_DESC(auto, "register every process, running or new (default N)");

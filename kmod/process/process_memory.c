// SPDX-License-Identifier: GPL-2.0-only
/*
 * process_memory.c - keep the memory of a process while a worker uses it
 *
 * The process may end meanwhile. Then the worker has the last reference, and
 * dropping it unmaps the memory, which may wait for file systems. Therefore
 * another work item drops it: one for each process, on a workqueue of its own.
 * The worker and the kernel's own workqueue do not wait.
 *
 * Bounds: ENDED_MAX such work items. The real user of a process has at most half
 * of those that are free (quota.c). Without a free one, the memory is not kept.
 * Memory: 64 bytes for each process that a worker uses. Process context; may
 * sleep.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../base/quota.h"
#include "process_memory.h"

#define ENDED_MAX	64		/* work items that unmap the memory of ended processes */

static struct workqueue_struct *unmappers;
static atomic_t nr_ended;		/* such work items that are queued or run */

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

static void free_memory(struct kunwind_process_memory *memory)
{
	mmdrop(memory->mm);
	if (!IS_ERR(memory->quota))
		kunwind_quota_remove_share(memory->quota, KUNWIND_SHARE_UNMAP);
	kfree(memory);
}

struct kunwind_process_memory *kunwind_process_memory_get(struct pid *pid)
{
	struct kunwind_process_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL | __GFP_NOWARN);

	if (!memory)
		return ERR_PTR(-ENOMEM);
	memory->mm = mm_of(pid, &memory->quota);
	if (!memory->mm) {
		kfree(memory);
		return ERR_PTR(-ESRCH);
	}
	memory->kept = !IS_ERR(memory->quota) && mmget_not_zero(memory->mm);
	return memory;
}

static void unmap(struct work_struct *work)
{
	struct kunwind_process_memory *memory = container_of(work, struct kunwind_process_memory, work);

	mmput(memory->mm);
	free_memory(memory);
	atomic_dec(&nr_ended);
	/* kunwind_process_memory_exit() drains the workqueue after this. */
	module_put(THIS_MODULE);
}

void kunwind_process_memory_put(struct kunwind_process_memory *memory)
{
	if (!memory->kept || atomic_add_unless(&memory->mm->mm_users, -1, 1)) {
		free_memory(memory);
	} else if (try_module_get(THIS_MODULE)) {
		INIT_WORK(&memory->work, unmap);
		atomic_inc(&nr_ended);
		queue_work(unmappers, &memory->work);
	} else {
		/* At unload: this is the last process that is read. */
		mmput_async(memory->mm);
		free_memory(memory);
	}
}

int kunwind_process_memory_init(void)
{
	/* At most ENDED_MAX items are queued. From 6.9 on, the nodes divide this limit. */
	unmappers = alloc_workqueue("kunwind_unmap", WQ_UNBOUND, WQ_UNBOUND_MAX_ACTIVE);
	return unmappers ? 0 : -ENOMEM;
}

void kunwind_process_memory_exit(void)
{
	/* Each work holds the module: only last instructions can run. */
	destroy_workqueue(unmappers);
}

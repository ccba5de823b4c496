/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_work.h - memory for a task work, which holds the module
 *
 * A task work that is queued cannot be taken back, because task_work_cancel()
 * is not exported. Its function drops the reference to the module, by
 * kunwind_task_work_free(), shortly before its last instruction. main.c waits
 * for the rest by synchronize_rcu_tasks().
 */
#ifndef _KUNWIND_TASK_WORK_H
#define _KUNWIND_TASK_WORK_H

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/task_work.h>

/* Returns zeroed memory. NULL: no memory, or rmmod has begun. */
static inline void *kunwind_task_work_alloc(size_t size, gfp_t gfp)
{
	void *work;

	if (!try_module_get(THIS_MODULE))
		return NULL;
	work = kzalloc(size, gfp | __GFP_NOWARN);
	if (!work)
		module_put(THIS_MODULE);
	return work;
}

static inline void kunwind_task_work_free(void *work)
{
	kfree(work);
	module_put(THIS_MODULE);
}

#endif /* _KUNWIND_TASK_WORK_H */

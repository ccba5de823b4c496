/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_state.h - what the scheduler says of another task, with any configuration
 */
#ifndef _KUNWIND_COMPAT_TASK_STATE_H
#define _KUNWIND_COMPAT_TASK_STATE_H

#include <linux/sched.h>

/*
 * Returns a time, of local_clock(), at which the task had not left its CPU for the
 * last time yet; 0: not known. Without CONFIG_SCHED_INFO, only the fair scheduler's
 * time is known, which does not go on in interrupts if CONFIG_IRQ_TIME_ACCOUNTING
 * is set.
 */
static inline u64 kunwind_task_last_ran(const struct task_struct *task)
{
	u64 ran = READ_ONCE(task->se.exec_start);

#ifdef CONFIG_SCHED_INFO
	ran = max_t(u64, ran, READ_ONCE(task->sched_info.last_arrival));
#endif
	return ran;
}

/* Returns whether a CPU runs the task, or has not saved its state yet. Reads after this see that state. */
static inline bool kunwind_task_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return smp_load_acquire(&task->on_cpu);
#else
	return task == current;
#endif
}

/* Returns whether the freezer, or that of a control group, keeps the task from running. */
static inline bool kunwind_task_frozen(const struct task_struct *task, unsigned int state)
{
#ifdef CONFIG_CGROUPS
	if (task->frozen)
		return true;
#endif
	return state & TASK_FROZEN;
}

#endif /* _KUNWIND_COMPAT_TASK_STATE_H */

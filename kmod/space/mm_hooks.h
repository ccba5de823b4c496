/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mm_hooks.h - hooks that report changes of a registered process's mappings
 *
 * Process context.
 */
#ifndef _KUNWIND_MM_HOOKS_H
#define _KUNWIND_MM_HOOKS_H

#include <linux/types.h>

struct seq_file;
struct task_struct;

/* Enables the hooks, all required: see kunwind_hooks_require(). May sleep. */
void kunwind_mm_hooks_init(void);
/* Removes them. May sleep. False: ftrace kept one, and the module must stay. */
bool __must_check kunwind_mm_hooks_exit(void);

/* Why a task reads its mappings before it next runs user code. */
enum kunwind_read_cause {
	READ_IF_CHANGED,	/* reads them only if a hook has seen a change */
	READ_EXEC,		/* as READ_IF_CHANGED, then clears @fresh of the space */
};

/*
 * Queues a task work by which @task (the current one, or a child that does not
 * run yet) reads its mappings before it next runs user code. No sleep;
 * preemption may be off. False: no memory, the task is exiting, or the module
 * is being unloaded.
 */
bool kunwind_mm_hooks_queue(struct task_struct *task, enum kunwind_read_cause why);

/*
 * Returns how long the current task may wait for tables, in jiffies:
 * max_stall_ms, or 0 for a real-time task.
 */
unsigned long kunwind_mm_hooks_max_wait(void);

void kunwind_mm_hooks_show(struct seq_file *m);
void kunwind_mm_hooks_show_params(struct seq_file *m);
u64 kunwind_mm_hooks_features(void);	/* KUNWIND_F_FOLLOW */

#endif /* _KUNWIND_MM_HOOKS_H */

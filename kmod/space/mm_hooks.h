/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mm_hooks.h - keep up with what a registered process maps; process context
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

/* Why a task reads its mappings. */
enum kunwind_mm_hooks {
	FOLLOW_MAP,		/* only if a change is known */
	FOLLOW_FORCE,		/* in any case: no hook sees the change that may have come */
	FOLLOW_EXEC,		/* the task is at the entry of a new program */
};

/*
 * Makes @task (the current one, or a child that does not run yet) read its
 * mappings before it next runs user code. No sleep; preemption may be off.
 * False: no memory, or the task or the module is about to end.
 */
bool kunwind_mm_hooks_queue(struct task_struct *task, enum kunwind_mm_hooks why);

/*
 * Returns how long the current task may wait for tables, in jiffies:
 * max_stall_ms, or 0 for a real-time task.
 */
unsigned long kunwind_mm_hooks_patience(void);

void kunwind_mm_hooks_show(struct seq_file *m);
void kunwind_mm_hooks_show_params(struct seq_file *m);
u64 kunwind_mm_hooks_features(void);	/* KUNWIND_F_FOLLOW */

#endif /* _KUNWIND_MM_HOOKS_H */

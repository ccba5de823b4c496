/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.h - what a registered process maps later
 */
#ifndef _KUNWIND_FOLLOW_H
#define _KUNWIND_FOLLOW_H

#include <linux/types.h>

struct seq_file;
struct task_struct;

/* All its hooks are required: see kunwind_hooks_require(). May sleep. */
void kunwind_follow_init(void);
/* May sleep. False: ftrace would not let go, the module must stay. */
bool __must_check kunwind_follow_exit(void);

enum kunwind_follow {
	FOLLOW_MAP,		/* something was mapped */
	FOLLOW_FORCE,		/* something may have been, unseen */
	FOLLOW_EXEC,		/* the task stands at the entry of a program */
};

/*
 * Has @task (current, or a child that does not run yet) read its mappings
 * before it next runs user code. No sleep. False: no memory, or the module goes.
 */
bool kunwind_follow_queue(struct task_struct *task, enum kunwind_follow why);

/* How long the current task may wait for tables, jiffies. One with deadlines: not at all. */
unsigned long kunwind_follow_patience(void);

void kunwind_follow_show(struct seq_file *m);
void kunwind_follow_show_params(struct seq_file *m);
u64 kunwind_follow_features(void);	/* KUNWIND_F_FOLLOW */

#endif /* _KUNWIND_FOLLOW_H */

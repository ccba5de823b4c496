/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * touch.h - what a walk missed is there for the next one: pages, parts of tables
 */
#ifndef _KUNWIND_TOUCH_H
#define _KUNWIND_TOUCH_H

#include <linux/types.h>

struct seq_file;

void kunwind_touch_init(void);
/* No walk is made any more. */
void kunwind_touch_exit(void);

/**
 * kunwind_touch() - a walk of the current task's stack could not read there
 * @at: where the frame begins that could not be read; it and what is above is brought in
 * @besides: another place; neither has to be one of the user's
 * Any context, NMI included; preemption off. notrace.
 */
void kunwind_touch(u64 at, u64 besides);

/**
 * kunwind_touch_part() - a walk of the current task's stack ended as not ready
 * @addr: of the code that has no rule yet; any. If a part of a table is all that is missing,
 *	the task waits for it before it next runs user code
 * Any context, NMI included; preemption off. notrace.
 */
void kunwind_touch_part(u64 addr);

void kunwind_touch_show(struct seq_file *m);

#endif /* _KUNWIND_TOUCH_H */

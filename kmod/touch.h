/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * touch.h - pages that a walk could not read are brought in for the next one
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

void kunwind_touch_show(struct seq_file *m);

#endif /* _KUNWIND_TOUCH_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * touch.h - make what a walk could not read available to the task's next walk
 */
#ifndef _KUNWIND_TOUCH_H
#define _KUNWIND_TOUCH_H

#include <linux/types.h>

struct kunwind_range;
struct seq_file;

int kunwind_touch_init(void);
/* No walk is made any more. May sleep. */
void kunwind_touch_exit(void);

/**
 * kunwind_touch() - a walk of the current task's stack could not read a word of it
 * @at: where the frame begins; this page and those above are brought in
 * @besides: another place. Neither has to be a valid address
 * Any context, NMI included; preemption off. notrace.
 */
void kunwind_touch(u64 at, u64 besides);

/**
 * kunwind_touch_part() - a walk of the current task's stack ended as not ready
 * @range: where the walk ended, or NULL
 * @addr: of the code that has no rule yet. If a part of a table is all that is
 *	missing, the task waits for it before it next runs user code
 * Any context, NMI included; preemption off. notrace.
 */
void kunwind_touch_part(const struct kunwind_range *range, u64 addr);

/**
 * kunwind_touch_breakpoint() - a walk of the current task's stack ended, and met a breakpoint
 * @id: of the ranges that were walked
 * @addr: where it is: before the task next runs user code, it finds out what is under it
 * Any context, NMI included; preemption off. notrace.
 */
void kunwind_touch_breakpoint(u64 id, u64 addr);

/*
 * Between the two, walks of the current task ask for nothing: it is in work of this
 * module, which must not cause itself when it is traced. False: no room for the
 * mark (then kunwind_touch_own_end() is not to be called). Not to be nested.
 */
bool kunwind_touch_own_begin(void);
void kunwind_touch_own_end(void);

void kunwind_touch_show(struct seq_file *m);

#endif /* _KUNWIND_TOUCH_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * takeover.h - replace kernel functions that save user stacks
 */
#ifndef _KUNWIND_TAKEOVER_H
#define _KUNWIND_TAKEOVER_H

#include <linux/types.h>

struct seq_file;

/*
 * Hooks stack_trace_save_user(), perf_callchain_user() and, if the kernel has
 * it, unwind_user(). Each hook is optional: a refusal is logged once and shown
 * in the status. Call this function after the required hooks are enabled: if
 * one of them is missing, it enables no hook. May sleep.
 */
void kunwind_takeover_init(void);

/*
 * Removes the hooks. May sleep. False: ftrace did not remove a hook, and the
 * module must stay.
 */
bool __must_check kunwind_takeover_exit(void);

void kunwind_takeover_show(struct seq_file *m);
u64 kunwind_takeover_features(void);	/* KUNWIND_F_TAKEOVER_* */

#endif /* _KUNWIND_TAKEOVER_H */

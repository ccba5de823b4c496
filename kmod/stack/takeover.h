/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * takeover.h - answer the kernel's own savers of user stacks for registered processes
 */
#ifndef _KUNWIND_TAKEOVER_H
#define _KUNWIND_TAKEOVER_H

#include <linux/types.h>

struct seq_file;

/*
 * Takes over stack_trace_save_user, perf_callchain_user and, where the kernel has
 * it, unwind_user. Each is optional: a refusal is logged once and kept for the
 * status. Takes over none if a required hook is missing: call it after those are
 * enabled.
 */
void kunwind_takeover_init(void);

/* Gives all of them back. May sleep. False: ftrace would not let go, the module must stay. */
bool __must_check kunwind_takeover_exit(void);

void kunwind_takeover_show(struct seq_file *m);
u64 kunwind_takeover_features(void);	/* KUNWIND_F_TAKEOVER_* */

#endif /* _KUNWIND_TAKEOVER_H */

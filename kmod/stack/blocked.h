/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blocked.h - report the threads of a process that do not run, with their stacks
 */
#ifndef _KUNWIND_STACK_BLOCKED_H
#define _KUNWIND_STACK_BLOCKED_H

#include <linux/types.h>

struct kunwind_blocked_report;
struct kunwind_quota;
struct pid;
struct seq_file;

/* Returns whether kunwind_blocked is on, and walks are allowed. */
bool kunwind_blocked_wanted(void);

/* Allocates what the reports of one dump need. NULL: out of memory. May sleep. */
struct kunwind_blocked_report *kunwind_blocked_begin(void);
void kunwind_blocked_end(struct kunwind_blocked_report *report);

/**
 * kunwind_blocked_process() - emit kunwind_blocked for each blocked thread
 * @pid: registered process
 * @quota: of the user who is charged; may be NULL
 * @dump, @limit: as for kunwind_quota_dump(); a thread counts as one mapping, and as one
 *	more for each KUNWIND_BLOCKED_FRAMES frames and each KUNWIND_BLOCKED_NS of its walk
 * Called by a kernel thread that uses no mm and holds no lock. May sleep.
 */
void kunwind_blocked_process(struct kunwind_blocked_report *report, struct pid *pid,
			     struct kunwind_quota *quota, u32 dump, u32 limit);
#define KUNWIND_BLOCKED_FRAMES	16
#define KUNWIND_BLOCKED_NS	10000

void kunwind_blocked_show(struct seq_file *m);

#endif /* _KUNWIND_STACK_BLOCKED_H */

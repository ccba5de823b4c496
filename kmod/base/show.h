/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * show.h - for loops that print the status
 */
#ifndef _KUNWIND_SHOW_H
#define _KUNWIND_SHOW_H

#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>

/*
 * Call this in each long loop that writes to @m, without a lock: it lets other
 * tasks run. True: the loop must end, because further text would be lost.
 * Either a fatal signal is pending, or @m is full and seq_file starts again
 * with a larger buffer.
 */
static inline bool kunwind_show_ends(struct seq_file *m)
{
	cond_resched();
	return seq_has_overflowed(m) || fatal_signal_pending(current);
}

#endif /* _KUNWIND_SHOW_H */

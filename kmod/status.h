/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * status.h - the text that read(2) on /dev/kunwind returns, and the counters
 */
#ifndef _KUNWIND_STATUS_H
#define _KUNWIND_STATUS_H

struct seq_file;
struct kunwind_stats;

/* Sets all counters in @stats. May sleep. */
void kunwind_status_stats(struct kunwind_stats *stats);

/* Prints the text. May sleep. */
int kunwind_status_show(struct seq_file *m, void *data);

#endif /* _KUNWIND_STATUS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * status.h - the text that read(2) on /dev/kunwind returns
 */
#ifndef _KUNWIND_STATUS_H
#define _KUNWIND_STATUS_H

#include <linux/types.h>

struct seq_file;

/*
 * Call this in each long loop that writes to @m, without a lock: it lets other
 * tasks run. True: the loop must end, because further text would be lost.
 * Either a fatal signal is pending, or @m is full and seq_file starts again
 * with a larger buffer.
 */
bool kunwind_status_ends(struct seq_file *m);

/*
 * Prints a line "process". @flags: KUNWIND_REGISTER_*. @bytes: memory of the
 * process's record and mappings. Does not sleep.
 */
void kunwind_status_process(struct seq_file *m, pid_t pid, const char *comm, u32 maps, u32 flags,
			    bool whole_system, size_t bytes);

#endif /* _KUNWIND_STATUS_H */

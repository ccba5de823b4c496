/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * status.h - the text that read(2) on /dev/kunwind gives
 */
#ifndef _KUNWIND_STATUS_H
#define _KUNWIND_STATUS_H

#include <linux/types.h>

struct seq_file;

/*
 * To be asked in each long loop that writes to @m, without a lock: lets other
 * tasks run. True: what is written from now on is lost, by a fatal signal, or
 * because @m is full and seq_file begins anew with a larger buffer.
 */
bool kunwind_status_ends(struct seq_file *m);

/* One line "process". @flags: KUNWIND_REGISTER_*. No sleep. */
void kunwind_status_process(struct seq_file *m, pid_t pid, const char *comm, u32 maps, u32 flags,
			    bool whole_system, size_t bytes);

#endif /* _KUNWIND_STATUS_H */

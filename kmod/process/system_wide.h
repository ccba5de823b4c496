/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * system_wide.h - register every process of the system
 */
#ifndef _KUNWIND_SYSTEM_WIDE_H
#define _KUNWIND_SYSTEM_WIDE_H

#include <linux/types.h>

struct seq_file;

/* Makes the workqueue. 0 or -ENOMEM. */
int kunwind_system_wide_init(void);
/*
 * Switches on if the module was loaded with system_wide=1. The last call of the
 * module's init. Sleeps.
 */
void kunwind_system_wide_start(void);
/* After this, nothing is switched, and the work items have ended. May sleep. */
void kunwind_system_wide_exit(void);

/**
 * kunwind_system_wide_set() - switch the registration of the whole system on or
 * off
 * @want: true for on
 * On takes effect at once: each process that forks or calls exec is registered.
 * The caller then waits until the processes that run are registered and their
 * tables are built: killably, at most register_timeout_ms, and not for
 * processes whose mmap_lock stays taken (status: system_wide_pending) or for
 * which there is no room (missed_limit, missed_memory). If it is on already,
 * processes that were missed are tried again. May sleep. Return: 0, also after
 * a timeout; -EINTR (fatal signal; it may have been switched); -EOPNOTSUPP
 * ("enabled" is N, or a required hook is missing); -ENODEV (during load or
 * unload).
 */
int kunwind_system_wide_set(bool want);

void kunwind_system_wide_show(struct seq_file *m);

#endif /* _KUNWIND_SYSTEM_WIDE_H */

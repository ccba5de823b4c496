/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * auto.h - register every process of the system
 */
#ifndef _KUNWIND_AUTO_H
#define _KUNWIND_AUTO_H

#include <linux/types.h>

struct seq_file;

/* Makes the workqueues. 0 or -ENOMEM. */
int kunwind_auto_init(void);
/*
 * Applies the parameter "auto" of the load; last in the module's init. Sleeps.
 */
void kunwind_auto_start(void);
/* After this, nothing is switched, and the work items have ended. May sleep. */
void kunwind_auto_exit(void);

/**
 * kunwind_auto_set() - switch the registration of the whole system on or off
 * @want: true for on
 * On takes effect at once: each process that forks or execs is registered. The
 * caller then waits until the processes that run are registered and their
 * tables are built: killably, at most register_timeout_ms, and not for those
 * whose mmap_lock stays taken (status: auto_pending) or for which there is no
 * room (missed_limit, missed_memory). If it is on already, processes that were
 * missed are tried again. May sleep. Return: 0, also if the time is over;
 * -EINTR (fatal signal; it may have been switched); -EOPNOTSUPP ("enabled" is
 * N, or a required hook is missing); -ENODEV (during load or unload).
 */
int kunwind_auto_set(bool want);

void kunwind_auto_show(struct seq_file *m);

#endif /* _KUNWIND_AUTO_H */

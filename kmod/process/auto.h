/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * auto.h - register every process of the system
 */
#ifndef _KUNWIND_AUTO_H
#define _KUNWIND_AUTO_H

#include <linux/types.h>

struct seq_file;

int kunwind_auto_init(void);
/* Does what the parameter "auto" asked for at load. Last of the module's init. */
void kunwind_auto_start(void);
/* Nothing is switched or registered after this. May sleep. */
void kunwind_auto_exit(void);

/**
 * kunwind_auto_set() - switch it
 * @want: on, or off
 * On takes effect at once: every process that forks or execs is registered. Then
 * the caller waits, killably, at most register_timeout_ms, until those that run are
 * registered and their tables built, except those whose mmap_lock stays taken
 * (status: auto_pending) and those that there was no room for (missed_limit,
 * missed_memory). If it is on already, those that were missed are tried again.
 * Return: 0, -EINTR (after a fatal signal; it may have been switched),
 * -EOPNOTSUPP (kill switch, or a required hook is refused), -ENODEV (the module goes).
 */
int kunwind_auto_set(bool want);

void kunwind_auto_show(struct seq_file *m);

#endif /* _KUNWIND_AUTO_H */

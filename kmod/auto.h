/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * auto.h - the whole system: every process registered
 */
#ifndef _KUNWIND_AUTO_H
#define _KUNWIND_AUTO_H

#include <linux/types.h>

struct seq_file;

/* Does what the parameter "auto" asked for at load. Last of the module's init. May sleep. */
void kunwind_auto_init(void);
/* Nothing is switched after this. May sleep. */
void kunwind_auto_exit(void);

/*
 * Switches it. On: processes that run are registered when this returns, but for
 * those that there was no room for (counted: missed_limit, missed_memory), and
 * all that come from now on. Already on: those that were missed are tried again.
 * May sleep, killably. Return: 0, -EINTR (it is off then), -ENOMEM (likewise),
 * -EOPNOTSUPP (kill switch), -ENODEV (the module goes).
 */
int kunwind_auto_set(bool want);

bool kunwind_auto_on(void);
void kunwind_auto_show_params(struct seq_file *m);

#endif /* _KUNWIND_AUTO_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fatal_signal.h - emit the trace event kunwind_fatal_signal
 */
#ifndef _KUNWIND_FATAL_SIGNAL_H
#define _KUNWIND_FATAL_SIGNAL_H

#include <linux/types.h>

struct seq_file;

/*
 * Enables the hooks, both required: see kunwind_hooks_require(). Called once, in
 * the module's init. May sleep.
 */
void kunwind_fatal_signal_init(void);
/* Removes the hooks. May sleep. False: ftrace kept a hook, and the module must stay. */
bool __must_check kunwind_fatal_signal_stop(void);
/* Detaches the probe. Also without init. May sleep. */
void kunwind_fatal_signal_exit(void);

void kunwind_fatal_signal_show_hooks(struct seq_file *m);

#endif /* _KUNWIND_FATAL_SIGNAL_H */

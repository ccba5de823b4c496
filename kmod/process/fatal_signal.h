/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fatal_signal.h - emit the trace event kunwind_fatal_signal
 */
#ifndef _KUNWIND_FATAL_SIGNAL_H
#define _KUNWIND_FATAL_SIGNAL_H

/* Call them once, in the module's init and exit; exit also without init. May sleep. */
void kunwind_fatal_signal_init(void);
void kunwind_fatal_signal_exit(void);

#endif /* _KUNWIND_FATAL_SIGNAL_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slow_syscall.h - emit the trace event kunwind_slow_syscall
 */
#ifndef _KUNWIND_SLOW_SYSCALL_H
#define _KUNWIND_SLOW_SYSCALL_H

struct seq_file;

/* Call them once, in the module's init and exit; exit also without init. May sleep. */
void kunwind_slow_syscall_init(void);
void kunwind_slow_syscall_exit(void);

void kunwind_slow_syscall_show(struct seq_file *m);

#endif /* _KUNWIND_SLOW_SYSCALL_H */

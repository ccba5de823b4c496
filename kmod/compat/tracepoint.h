/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracepoint.h - what differs in tracepoints' prototypes between 6.1 and 7.2
 */
#ifndef _KUNWIND_COMPAT_TRACEPOINT_H
#define _KUNWIND_COMPAT_TRACEPOINT_H

#include <linux/sched/signal.h>
#include <linux/tracepoint.h>
#include <linux/version.h>

/* 6.16 gave sched_process_exit a second argument. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define KUNWIND_EXIT_PROBE(name)	void name(void *data, struct task_struct *task, bool group_dead)
#else
#define KUNWIND_EXIT_PROBE(name)	void name(void *data, struct task_struct *task)
#endif

#endif /* _KUNWIND_COMPAT_TRACEPOINT_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sched.h - differences of task flags between 6.1 and 7.2
 */
#ifndef _KUNWIND_COMPAT_SCHED_H
#define _KUNWIND_COMPAT_SCHED_H

#include <linux/sched.h>

/*
 * 6.4 added PF_USER_WORKER (vhost). io_uring's workers have both flags. Drop
 * this when 6.1 goes.
 */
#ifdef PF_USER_WORKER
#define KUNWIND_PF_WORKERS	(PF_IO_WORKER | PF_USER_WORKER)
#else
#define KUNWIND_PF_WORKERS	PF_IO_WORKER
#endif

#endif /* _KUNWIND_COMPAT_SCHED_H */

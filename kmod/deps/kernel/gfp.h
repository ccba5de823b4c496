/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gfp.h - how the memory of builds and tables is allocated
 */
#ifndef _KUNWIND_GFP_H
#define _KUNWIND_GFP_H

#include <linux/gfp.h>

/*
 * Charged to the current memory control group: in a worker, that of the process
 * that mapped the file (job.c). If the group has no room, the allocation fails
 * without the OOM killer; the caller then allocates the memory without a charge.
 */
#define KUNWIND_GFP_CHARGED	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

#endif /* _KUNWIND_GFP_H */

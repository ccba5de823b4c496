/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_context.h - give events of LTTng the id of their kernel stack
 */
#ifndef _KUNWIND_KERNEL_CONTEXT_H
#define _KUNWIND_KERNEL_CONTEXT_H

#include <linux/types.h>

/*
 * For each counter whose value is the id: makes the memory if it is the first one, frees
 * it if it was the last one. 0 or -ENOMEM. May sleep.
 */
int kunwind_kernel_context_get(void);
void kunwind_kernel_context_put(void);

/*
 * Returns the id of the kernel stack that this is called from, of any task; 0: there is
 * none. Any context, NMI included; preemption off. The caller has a counter. notrace.
 */
u64 kunwind_kernel_context_id(void);

#endif /* _KUNWIND_KERNEL_CONTEXT_H */

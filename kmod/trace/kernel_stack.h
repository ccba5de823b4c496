/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_stack.h - a kernel stack, as the probes of kunwind_kernel_callstack get it
 */
#ifndef _KUNWIND_KERNEL_STACK_H
#define _KUNWIND_KERNEL_STACK_H

#include <linux/tracepoint.h>
#include "compat/trace.h"
#include "stack.h"

/*
 * Defines the id of a kernel stack (stack/kernel_context.c). Each frame is a kernel
 * address. Process, thread, name and system call are 0, because the stack may be that of
 * several threads. The ids of kernel stacks and of user stacks are different.
 */
KUNWIND_DECLARE_TRACE(kunwind_kernel_callstack,
	TP_PROTO(const struct kunwind_stack *stack),
	TP_ARGS(stack));

#endif /* _KUNWIND_KERNEL_STACK_H */

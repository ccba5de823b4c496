/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ftrace.h - differences of ftrace between 6.1 and 7.2
 */
#ifndef _KUNWIND_COMPAT_FTRACE_H
#define _KUNWIND_COMPAT_FTRACE_H

#include <linux/ftrace.h>
#include <linux/version.h>

/*
 * With DYNAMIC_FTRACE_WITH_ARGS (x86-64 since 5.11), an ftrace_ops may change
 * the instruction pointer and read arguments without FTRACE_OPS_FL_SAVE_REGS.
 */
#ifndef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#error "kunwind needs CONFIG_DYNAMIC_FTRACE_WITH_ARGS"
#endif

/* 6.2 gave the accessors these names. Drop this when 6.1 goes. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define ftrace_regs_set_instruction_pointer(fregs, ip)	\
	ftrace_instruction_pointer_set(fregs, ip)

static __always_inline unsigned long
ftrace_regs_get_argument(struct ftrace_regs *fregs, unsigned int n)
{
	return regs_get_kernel_argument(&fregs->regs, n);
}
#endif

#endif /* _KUNWIND_COMPAT_FTRACE_H */

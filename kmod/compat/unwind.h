/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind.h - the kernel's own unwinder of user stacks, if it has one
 *
 * unwind_user() saves the stacks of perf's deferred call chains
 * (attr.defer_callchain). 6.1 and 6.12 have no such function. There the
 * declarations below let takeover.c compile without #ifdef, and nothing calls
 * the function. Drop them when 6.12 goes.
 */
#ifndef _KUNWIND_COMPAT_UNWIND_H
#define _KUNWIND_COMPAT_UNWIND_H

#ifdef CONFIG_UNWIND_USER
#include <linux/unwind_user.h>

#define KUNWIND_HAS_UNWIND_USER	1
#else
struct unwind_stacktrace {
	unsigned int	nr;
	unsigned long	*entries;
};

int unwind_user(struct unwind_stacktrace *trace, unsigned int max_entries);

#define KUNWIND_HAS_UNWIND_USER	0
#endif

#endif /* _KUNWIND_COMPAT_UNWIND_H */

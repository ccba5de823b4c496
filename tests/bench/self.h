/* SPDX-License-Identifier: MIT */
/*
 * self.h - make tables and ranges of the running process, as the module has for
 * a registered process; for tests and benches of the walk in user space
 */
#ifndef _KUNWIND_TEST_SELF_H
#define _KUNWIND_TEST_SELF_H

#include "kunwind_core.h"

/*
 * Returns the ranges of all executable mappings of files (at most 256), which
 * are never freed. Exits on failure.
 */
struct kunwind_ranges *self_ranges(void);

/* Sets [*lo, *hi) to the bounds of the calling thread's stack. */
void self_stack(u64 *lo, u64 *hi);

/* Sets *@regs to the registers at the point where the macro is used. */
#define self_regs(regs)								\
do {										\
	struct kunwind_regs *r_ = (regs);					\
	__asm__ __volatile__(							\
		"movq %%rbx, 24(%0)\n\t"					\
		"movq %%rbp, 48(%0)\n\t"					\
		"movq %%rsp, 56(%0)\n\t"					\
		"movq %%r12, 96(%0)\n\t"					\
		"movq %%r13, 104(%0)\n\t"					\
		"movq %%r14, 112(%0)\n\t"					\
		"movq %%r15, 120(%0)\n\t"					\
		"leaq 0f(%%rip), %%rax\n\t"					\
		"movq %%rax, 128(%0)\n"						\
		"0:\n"								\
		: : "r"(r_->r) : "rax", "memory");				\
	r_->valid = KUNWIND_SAVED_REGS | KUNWIND_REG(KUNWIND_RBP) |		\
		    KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA);		\
} while (0)

#endif /* _KUNWIND_TEST_SELF_H */

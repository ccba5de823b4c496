/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * standstill.h - read a thread from outside, and know that it has not run meanwhile
 *
 * A blocked thread may wake at any time, run, and block again. So the number of times
 * that it left a CPU is read before and after, and whether a CPU runs it. If both are as
 * before, no user code of the thread has run in between, and its registers and its stack
 * belong together. In detail:
 *   - The scheduler sets on_cpu before the thread runs, and adds to nvcsw or nivcsw
 *     before it clears on_cpu. These functions read on_cpu, then the counters, then the
 *     caller reads the thread, then on_cpu and the counters are read again. On x86, no
 *     processor sees these in another order.
 *   - The kernel stack of a thread that ends is freed. Its registers are therefore
 *     copied by copy_from_kernel_nofault(). What that copies from memory that is used
 *     again is dropped, because the thread has run.
 *   - Only the thread itself changes its mm. So it is read after kunwind_standstill_begin().
 *
 * The caller has a reference to the thread. Any context.
 */
#ifndef _KUNWIND_STANDSTILL_H
#define _KUNWIND_STANDSTILL_H

#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>

#include "../compat/task_state.h"

/* What changes if the thread runs. */
struct kunwind_standstill {
	unsigned long switches;
	unsigned int state;
};

/* Returns whether the thread is blocked. */
static inline bool kunwind_standstill_begin(const struct task_struct *task,
					    struct kunwind_standstill *standstill)
{
	const unsigned int gone = TASK_DEAD | TASK_NEW | TASK_WAKING;

	if (kunwind_task_on_cpu(task))
		return false;
	standstill->switches = READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
	standstill->state = READ_ONCE(task->__state);
	smp_rmb();	/* what the caller reads next comes after it */
	return standstill->state && !(standstill->state & gone);
}

/* Copies the user's registers, as the thread left them at its last kernel entry. */
static inline bool kunwind_standstill_regs(struct task_struct *task, struct pt_regs *regs)
{
	return !copy_from_kernel_nofault(regs, task_pt_regs(task), sizeof(*regs));
}

/* Returns whether the thread has not run since @before. */
static inline bool kunwind_standstill_holds(const struct task_struct *task,
					    const struct kunwind_standstill *before)
{
	struct kunwind_standstill now;

	smp_rmb();	/* what the caller has read comes before it */
	return kunwind_standstill_begin(task, &now) && now.switches == before->switches &&
	       now.state == before->state;
}

#endif /* _KUNWIND_STANDSTILL_H */

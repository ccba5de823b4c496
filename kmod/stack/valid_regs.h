/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * valid_regs.h - which user registers of the current task are valid
 */
#ifndef _KUNWIND_VALID_REGS_H
#define _KUNWIND_VALID_REGS_H

#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <asm/cpu_entry_area.h>

#include "../arch/x86/regs.h"

/*
 * Returns KUNWIND_REG() bits of the user registers that are valid at
 * task_pt_regs(current). @regs: those of the event that requests the stack.
 *
 * In an NMI from user mode, the entry code saves all registers on the task's
 * stack before anything else. An NMI from the kernel runs on the NMI stack of
 * its CPU, and may have hit the entry code before all registers were saved.
 * Therefore the current stack distinguishes the two cases; user_mode(regs) is
 * true in both. Xen's paravirtual guests have no NMI stack, so there all NMIs
 * count as NMIs from the kernel.
 */
static __always_inline u32 kunwind_valid_regs(const struct pt_regs *regs)
{
	int here;

	if (!in_nmi() || regs != task_pt_regs(current))
		return KUNWIND_ALL_REGS;
	if (object_is_on_stack(&here) && !cpu_feature_enabled(X86_FEATURE_XENPV))
		return KUNWIND_ALL_REGS;
	return KUNWIND_REGS_NMI;
}

/*
 * Returns whether all user registers have been saved at task_pt_regs(current)
 * when an interrupt or NMI with these @regs came.
 *
 * Only an NMI can come earlier. Until then, the entry code is on the user's
 * stack, on the entry stack of the CPU, or at the top of the task's stack.
 */
static __always_inline bool kunwind_regs_saved(struct pt_regs *regs)
{
	const unsigned long sp = regs->sp;

	if (!in_nmi() || user_mode(regs))
		return true;
	if (object_is_on_stack((const void *)sp))
		return sp <= (unsigned long)task_pt_regs(current);
	return sp >= TASK_SIZE_MAX && sp >> P4D_SHIFT != CPU_ENTRY_AREA_BASE >> P4D_SHIFT;
}

#endif /* _KUNWIND_VALID_REGS_H */

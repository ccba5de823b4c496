/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * step.h - step from a frame that has no unwind information (step.c)
 *
 * Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_STEP_H
#define _KUNWIND_STEP_H

#include "../kunwind_core.h"

/* How a caller was found. */
struct kunwind_found {
	u8 method;		/* enum kunwind_method */
	bool signal;		/* the caller was interrupted, it did not call */
};

/**
 * kunwind_nocfi_step() - step from a frame for which no table has a rule
 * @exact: the frame did not call: its address is an instruction that has not
 *	run yet, or follows a system call
 * @how: out: how the caller was found
 *
 * Return: KUNWIND_COMPLETE, and walk->regs are the caller's; the return address
 * is 0 if a thread or goroutine begins at this frame. KUNWIND_NO_RULE if no
 * return address was found; walk->regs.valid may then be reduced to rsp and
 * rip. If the budget is spent (walk->mem.left is 0), the caller must discard
 * the result.
 */
enum kunwind_reason kunwind_nocfi_step(struct kunwind_walk *walk, bool exact,
				       struct kunwind_found *how);

/*
 * Step from a signal trampoline, which is recognized by its code. If true,
 * walk->regs are those of the signal frame. If false, walk->regs are unchanged,
 * unless reading the signal frame failed midway: then walk->regs.valid is rsp
 * and rip only.
 */
bool kunwind_nocfi_signal(struct kunwind_walk *walk, bool exact);

#endif /* _KUNWIND_STEP_H */

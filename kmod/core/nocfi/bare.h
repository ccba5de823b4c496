/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * bare.h - a step of the walk where there is no unwind information (bare.c)
 *
 * No window may be open.
 */
#ifndef _KUNWIND_BARE_H
#define _KUNWIND_BARE_H

#include "../kunwind_core.h"

/* How a caller was found. */
struct kunwind_found {
	u8 trust;		/* enum kunwind_trust */
	bool signal;		/* it was interrupted, it did not call */
};

/**
 * kunwind_bare_step() - a step from a frame that no table has a rule for
 * @exact: regs are those at an instruction that did not run yet, or a system call's
 * @how: out: how the caller was found
 *
 * walk->regs become the caller's. Else KUNWIND_NO_RULE: nothing proves itself;
 * what it returns when the budget is spent means nothing.
 */
enum kunwind_reason kunwind_bare_step(struct kunwind_walk *walk, bool exact,
				      struct kunwind_found *how);

/*
 * The step from a signal trampoline, which is known by its code: walk->regs become those of the
 * signal frame. False: it is none; only rsp and rip are then sure to be known.
 */
bool kunwind_bare_signal(struct kunwind_walk *walk, bool exact);

/*
 * Where the return address @ra, which lies at @slot, really leads: the kernel
 * may have put the trampoline of a return probe there. @ra if not.
 */
u64 kunwind_bare_return(struct kunwind_walk *walk, u64 ra, u64 slot);

#endif /* _KUNWIND_BARE_H */

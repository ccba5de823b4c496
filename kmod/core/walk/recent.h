/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * recent.h - record the inputs of a walk, for recent.c
 *
 * walk.c includes this file, and records the addresses itself.
 */
#ifndef _KUNWIND_RECENT_H
#define _KUNWIND_RECENT_H

#include "../kunwind_core.h"

/* The registers that a noted walk was made from. */
#define KUNWIND_RECENT_NEEDS	(KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) | \
				 KUNWIND_REG(KUNWIND_RBP))

/* Begins to record a walk. The record before is lost. */
static __always_inline void kunwind_recent_begin(const struct kunwind_walk *walk)
{
	struct kunwind_recent *recent = walk->recent;

	recent->id = 0;
	/* The walk changes its registers. */
	recent->ip = walk->regs.r[KUNWIND_RA];
	recent->sp = walk->regs.r[KUNWIND_RSP];
	recent->bp = walk->regs.r[KUNWIND_RBP];
}

/* The walk is complete, and all its steps are recorded. */
static __always_inline void kunwind_recent_end(const struct kunwind_walk *walk,
					       const struct kunwind_recent_rbp *rbp, u64 id,
					       bool zero)
{
	struct kunwind_recent *recent = walk->recent;

	recent->rbps = rbp - recent->rbp;
	recent->count = walk->count;
	recent->words = walk->count + zero;
	recent->id = id;
}

#endif /* _KUNWIND_RECENT_H */

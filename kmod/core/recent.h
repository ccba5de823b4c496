/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * recent.h - note what a walk is made from, for recent.c
 *
 * For walk.c, which notes each address itself on its way.
 */
#ifndef _KUNWIND_RECENT_H
#define _KUNWIND_RECENT_H

#include "walk.h"

/* The walk notes what it is made from. What was noted before is lost. */
static __always_inline void kunwind_recent_begin(const struct kunwind_walk *walk)
{
	struct kunwind_recent *recent = walk->recent;

	recent->id = 0;
	/* The walk changes its registers. */
	recent->ip = walk->regs.r[KUNWIND_RA];
	recent->sp = walk->regs.r[KUNWIND_RSP];
	recent->bp = walk->regs.r[KUNWIND_RBP];
}

/* The walk is complete, and had no step that is not noted. */
static __always_inline void kunwind_recent_end(const struct kunwind_walk *walk,
				     const struct kunwind_recent_rbp *rbp, u64 id, bool zero)
{
	struct kunwind_recent *recent = walk->recent;

	recent->rbps = rbp - recent->rbp;
	recent->count = walk->count;
	recent->words = walk->count + zero;
	recent->id = id;
}

#endif /* _KUNWIND_RECENT_H */

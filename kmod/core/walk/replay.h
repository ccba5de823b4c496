/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * replay.h - begin and end the note of a walk (replay.c)
 *
 * walk.c includes this file, and notes the words of the stack.
 */
#ifndef _KUNWIND_REPLAY_H
#define _KUNWIND_REPLAY_H

#include "../kunwind_core.h"

/* The registers that are inputs of a noted walk. */
#define KUNWIND_REPLAY_NEEDS	(KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) | \
				 KUNWIND_REG(KUNWIND_RBP))

/* Begins a note. The previous note becomes invalid. */
static __always_inline void kunwind_replay_begin(const struct kunwind_walk *walk)
{
	struct kunwind_replay *replay = walk->replay;

	replay->id = 0;
	/* The walk changes its registers. */
	replay->ip = walk->regs.r[KUNWIND_RA];
	replay->sp = walk->regs.r[KUNWIND_RSP];
	replay->bp = walk->regs.r[KUNWIND_RBP];
}

/*
 * Makes the note valid. The walk is complete, and all its inputs are noted.
 * @rbp is the end of the noted rbps. @zero: a return address of zero ended the
 * walk.
 */
static __always_inline void kunwind_replay_end(const struct kunwind_walk *walk,
					       const struct kunwind_replay_rbp *rbp, u64 id,
					       bool zero)
{
	struct kunwind_replay *replay = walk->replay;

	replay->rbps = rbp - replay->rbp;
	replay->count = walk->count;
	replay->words = walk->count + zero;
	replay->id = id;
}

#endif /* _KUNWIND_REPLAY_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * slow_step.h - the step from a frame whose rule is not in the cache
 *
 * Any context. No window may be open.
 */
#ifndef _KUNWIND_SLOW_STEP_H
#define _KUNWIND_SLOW_STEP_H

#include "../nocfi/step.h"

/* How the walk goes on. */
enum slow_how {
	SLOW_RULE,	/* apply slow.entry */
	SLOW_STEPPED,	/* walk->regs are already the caller's */
	SLOW_RETURN,	/* the address is a return probe's trampoline, which returns to slow.ret */
	SLOW_END,	/* the walk ends with slow.reason */
};

struct slow_step {
	struct kunwind_rule_cache_entry entry;
	u64 ret;
	u8 reason;		/* enum kunwind_reason */
	bool keep;		/* the result may be noted for replay (replay.c) */
	struct kunwind_found how;	/* with SLOW_STEPPED */
};

/**
 * kunwind_common_step() - find the rule of most frames that are not in the cache
 * @walk: regs are those of the frame; code is the word of code at its return
 *	address, or 0
 * @addr: address to look up: the frame's, or one less after a call
 * @id: of the ranges
 * @slow: out: the entry
 *
 * Puts the rule in the cache. Costs units of the budget (mem.h). Returns false if
 * kunwind_slow_step() is to be called.
 */
bool kunwind_common_step(struct kunwind_walk *walk, u64 addr, u64 id, struct slow_step *slow);

/**
 * kunwind_slow_step() - make a step by range and table, or without CFI
 * @walk, @addr, @slow: as those of kunwind_common_step(), which has returned false
 *
 * Puts a short rule or KUNWIND_RULE_END in the cache. A step costs units of the
 * budget. It is no part of kunwind_common_step(), so the frames of both do not add up.
 */
enum slow_how kunwind_slow_step(struct kunwind_walk *walk, u64 addr, struct slow_step *slow);

#endif /* _KUNWIND_SLOW_STEP_H */

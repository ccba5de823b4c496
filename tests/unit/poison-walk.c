// SPDX-License-Identifier: MIT
/*
 * poison-walk.c - walks begin with a pattern in all that the kernel leaves unset
 *
 * callstack.c has its struct kunwind_walk in kunwind_unset memory, and sets only the
 * members that are inputs. Tests set the others to zero without intent. So the
 * linker puts these functions before those of the core (--wrap): each member that
 * is an output or private, and each register that is not valid, gets a pattern.
 * The memory sanitizer also reports their use. No walk may leave a window open.
 */
#include "kunwind_core.h"
#include "poison.h"

#define POISON(x)	poison(&(x), sizeof(x))

enum kunwind_reason __real_kunwind_walk(struct kunwind_walk *walk);
enum kunwind_reason __wrap_kunwind_walk(struct kunwind_walk *walk);
enum kunwind_reason __real_kunwind_walk_i386(struct kunwind_walk *walk);
enum kunwind_reason __wrap_kunwind_walk_i386(struct kunwind_walk *walk);
bool __real_kunwind_replay_walk(struct kunwind_walk *walk);
bool __wrap_kunwind_replay_walk(struct kunwind_walk *walk);

static void poison_registers(struct kunwind_walk *walk, u32 valid)
{
	u32 i;

	for (i = 0; i < KUNWIND_NR_REGS; i++)
		if (!(valid & KUNWIND_REG(i)))
			POISON(walk->regs.r[i]);
}

static void poison_private(struct kunwind_walk *walk)
{
	POISON(walk->range);
	POISON(walk->mem.left);
	POISON(walk->mem.id);
	POISON(walk->count);
	POISON(walk->found);
	/* What another walk may have left, which the pattern is not. */
	walk->found_by = KUNWIND_BY_SCAN;
	walk->found_at = 1;
	not_initialized(&walk->found_by, sizeof(walk->found_by));
	not_initialized(&walk->found_at, sizeof(walk->found_at));
	POISON(walk->code);
	walk->distrust = true;	/* the pattern is no bool */
	POISON(walk->lower_cfa);
	POISON(walk->lower_ra);
	POISON(walk->lower_nr);
}

enum kunwind_reason __wrap_kunwind_walk(struct kunwind_walk *walk)
{
	enum kunwind_reason reason;

	poison_private(walk);
	poison_registers(walk, walk->regs.valid);
	reason = __real_kunwind_walk(walk);
	kunwind_mem_check(&walk->mem, false);
	return reason;
}

enum kunwind_reason __wrap_kunwind_walk_i386(struct kunwind_walk *walk)
{
	enum kunwind_reason reason;

	poison_private(walk);
	poison_registers(walk, walk->regs.valid);
	reason = __real_kunwind_walk_i386(walk);
	kunwind_mem_check(&walk->mem, false);
	return reason;
}

/* The kernel sets some inputs only if the note does not hold, so after this call. */
bool __wrap_kunwind_replay_walk(struct kunwind_walk *walk)
{
	const struct kunwind_walk inputs = *walk;
	bool holds;

	poison_private(walk);
	poison_registers(walk, KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) |
			       KUNWIND_REG(KUNWIND_RBP));
	POISON(walk->trust);
	POISON(walk->guess);
	POISON(walk->unread);
	POISON(walk->budget);
	holds = __real_kunwind_replay_walk(walk);
	kunwind_mem_check(&walk->mem, false);
	walk->regs = inputs.regs;
	walk->trust = inputs.trust;
	walk->guess = inputs.guess;
	memcpy(walk->unread, inputs.unread, sizeof(walk->unread));
	walk->budget = inputs.budget;
	return holds;
}

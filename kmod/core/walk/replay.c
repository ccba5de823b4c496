// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * replay.c - return the last walk's result again if none of its inputs has
 * changed
 *
 * A tracer often asks for the same stack twice, at the entry and the exit of a
 * system call, or again and again from a loop. A walk by short rules depends
 * only on the ranges, on rip, rsp, rbp, and on the stack words that it read:
 * return addresses and saved rbps. walk.c records these inputs: they are the
 * note of the walk (struct kunwind_replay). This file reads the words again at
 * the same addresses, in one window, and compares. The note of one task's stack
 * may serve another task.
 *
 * walk.c notes only complete walks by short rules, with room for at most
 * KUNWIND_REPLAY_FRAMES addresses. Each CFA must be rsp or rbp plus a number of
 * bytes, because no other inputs are noted. docs/unwinding.md says when a note
 * is accepted.
 *
 * Any context. The caller makes sure that nobody else uses the note at the same
 * time. Cost: some 12 instructions a frame; a walk takes some 40.
 */
#include "replay.h"

bool kunwind_walk_attr kunwind_replay_walk(struct kunwind_walk *walk)
{
	const struct kunwind_replay *replay = walk->replay;
	const u32 count = replay->count, words = replay->words, rbps = replay->rbps;
	const struct kunwind_replay_rbp *rbp;
	unsigned long *addresses = walk->addresses;
	u64 value;
	u32 i;

	if (KUNWIND_REPLAY_NEEDS & ~walk->regs.valid)
		return false;
	if (replay->id != READ_ONCE(walk->ranges->id) ||
	    replay->ip != walk->regs.r[KUNWIND_RA] || replay->sp != walk->regs.r[KUNWIND_RSP] ||
	    replay->bp != walk->regs.r[KUNWIND_RBP] || count > walk->capacity)
		return false;
	if (!kunwind_mem_begin(&walk->mem, replay->sp))
		return false;
	addresses[0] = replay->ip;
	for (i = 1; i < count; i++) {
		kunwind_mem_read(&walk->mem, value, replay->cfa[i] - 8, changed);
		if (unlikely(value != replay->address[i]))
			goto changed;
		addresses[i] = value;
	}
	if (words > count) {
		kunwind_mem_read(&walk->mem, value, replay->cfa[count] - 8, changed);
		if (unlikely(value))
			goto changed;
	}
	for (rbp = replay->rbp; rbp < replay->rbp + rbps; rbp++) {
		kunwind_mem_read(&walk->mem, value, rbp->at, changed);
		if (unlikely(value != rbp->value))
			goto changed;
	}
	kunwind_mem_end(&walk->mem);
	walk->count = count;
	return true;
changed:
	kunwind_mem_end(&walk->mem);
	return false;
}

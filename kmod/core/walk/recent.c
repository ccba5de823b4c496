// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * recent.c - the last walk's answer again, where nothing that it was made from changed
 *
 * A system call is often asked for its stack twice, at its entry and its exit, and
 * a loop asks from one place over and over. A walk by short rules is a function of
 * the ranges, of rip, rsp, rbp, and of the words of the stack that it read: the
 * return addresses, and the saved rbps. walk.c notes these words; here they are read
 * again, each in its place, in one window. Whose stack it was is of no matter.
 *
 * Noted are complete walks only, of at most KUNWIND_RECENT_FRAMES addresses, whose
 * CFAs are all in rsp or rbp: what else a rule may read is not noted.
 *
 * docs/unwinding.md says when a record is accepted.
 *
 * Costs some 12 instructions a frame where a walk takes 40. Whoever lends the note
 * sees to it that nobody else uses it meanwhile.
 */
#include "recent.h"

bool kunwind_walk_attr kunwind_walk_again(struct kunwind_walk *walk)
{
	const struct kunwind_recent *recent = walk->recent;
	const u32 count = recent->count, words = recent->words, rbps = recent->rbps;
	const struct kunwind_recent_rbp *rbp;
	unsigned long *addresses = walk->addresses;
	u64 value;
	u32 i;

	if (KUNWIND_RECENT_NEEDS & ~walk->regs.valid)
		return false;
	if (recent->id != READ_ONCE(walk->ranges->id) ||
	    recent->ip != walk->regs.r[KUNWIND_RA] || recent->sp != walk->regs.r[KUNWIND_RSP] ||
	    recent->bp != walk->regs.r[KUNWIND_RBP] || count > walk->capacity)
		return false;
	if (!kunwind_mem_begin(&walk->mem, recent->sp))
		return false;
	addresses[0] = recent->ip;
	for (i = 1; i < count; i++) {
		kunwind_mem_read(&walk->mem, value, recent->cfa[i] - 8, changed);
		if (unlikely(value != recent->address[i]))
			goto changed;
		addresses[i] = value;
	}
	if (words > count) {
		kunwind_mem_read(&walk->mem, value, recent->cfa[count] - 8, changed);
		if (unlikely(value))
			goto changed;
	}
	for (rbp = recent->rbp; rbp < recent->rbp + rbps; rbp++) {
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

// SPDX-License-Identifier: MIT
/*
 * found-test.c - a walk counts a frame that it found without CFI once, and only if it
 * returns its address
 */
#include "scene.h"

static struct kunwind_walk counted(unsigned long *addresses, u8 *trust, enum kunwind_reason *reason)
{
	struct kunwind_walk walk = {
		.ranges = ranges, .cache = &cache, .mem = mem, .regs = regs,
		.addresses = addresses, .trust = trust, .capacity = room,
	};

	memset(trust, 0, room);
	*reason = kunwind_walk(&walk);
	return walk;
}

/* The steps that @walk has counted, by other methods than CFI. */
static u32 all(const struct kunwind_walk *walk)
{
	u32 i, sum = 0;

	for (i = 0; walk->others && i < KUNWIND_NR_METHODS; i++)
		sum += walk->found[i];
	return sum;
}

int main(void)
{
	unsigned long addresses[8];
	enum kunwind_reason reason;
	struct kunwind_walk walk;
	u8 trust[8];
	u32 round;

	/* A return probe gives the second address; its frame, by CFI, has no user's stack pointer. */
	scene();
	OBJECT(0x1000, { 0, 0x100, "" },
	       { 0x100, 0x100, "S 16 07 09 0e 00 00 00 00 00 00 00 80" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[0] = 0x123000;
	mem.probe_slot = STACK;
	mem.probe_return = CODE(1, 0x120);
	for (round = 0; round < 3; round++) {
		walk = counted(addresses, trust, &reason);
		tap_ok(reason == KUNWIND_UNREADABLE && walk.count == 2 && addresses[1] == CODE(1, 0x120) &&
		       trust[1] == KUNWIND_TRUST_URETPROBE && all(&walk) == 1 &&
		       walk.found[KUNWIND_BY_URETPROBE] == 1,
		       "a step by CFI that is discarded is not taken from another method's count");
	}

	/* The trampoline is at the last place; the address after it does not fit. */
	scene();
	OBJECT(0x1000, { 0, 0x100, "" });
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	stack[0] = 0x123000;
	mem.probe_slot = STACK;
	mem.probe_return = CODE(1, 0x20);
	room = 2;
	walk = counted(addresses, trust, &reason);
	tap_ok(reason == KUNWIND_BUFFER_FULL && walk.count == 2 && addresses[1] == CODE(1, 0x20) &&
	       trust[1] == KUNWIND_TRUST_URETPROBE && all(&walk) == 1,
	       "a return probe's address at the last place counts");
	room = 1;
	walk = counted(addresses, trust, &reason);
	tap_ok(reason == KUNWIND_BUFFER_FULL && walk.count == 1 && !all(&walk),
	       "a return probe's address that does not fit does not count");
	return tap_done();
}

// SPDX-License-Identifier: MIT
/*
 * half-written-test.c - a walk that interrupts the writing of an entry of the
 * cache of rules
 *
 * The first place of an address has a rule that ends the walk, but only at another
 * stack pointer. The second place has the same address and the id 0, as while
 * kunwind_rule_cache_put() writes it. The walk must end, and use neither.
 */
#include <signal.h>
#include <unistd.h>

#include "scene.h"
#include "../../kmod/core/walk/mem.h"
#include "../../kmod/core/walk/rule_cache.h"

static u8 code[0x11000];
static u32 left;		/* of the last walk's budget */

static void too_long(int number)
{
	static const char text[] = "not ok - the walk ends\n";

	(void)number;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) >= 0);
}

static u32 walk_from(u64 ip, u64 sp, enum kunwind_reason *reason)
{
	unsigned long addresses[32];
	struct kunwind_walk walk = { .ranges = ranges, .cache = &cache, .addresses = addresses,
				     .capacity = 32, .mem = mem, .regs = regs };

	walk.regs.r[KUNWIND_RA] = ip;
	walk.regs.r[KUNWIND_RSP] = sp;
	*reason = kunwind_walk(&walk);
	left = walk.mem.left;
	return walk.count;
}

int main(void)
{
	static const struct function function = { 0, 0x8000, "" };
	const u64 base = TEXT_LO + MAP(1), entry = base + 0x10000, ra = entry + 5;
	struct kunwind_rule_cache_entry *first, *second;
	enum kunwind_reason reason;
	u32 nr;

	scene();
	object(&function, 1, 0x8000);
	ranges->range[ranges->nr++] = (struct kunwind_range){ .start = entry, .end = entry + 0x1000,
							      .reason = KUNWIND_NO_TABLE };
	ranges->entry = entry;
	ranges->entry_sp = WORD(1);
	/* call; add $8,%rsp; ret: the entry function, which has no CFI */
	memcpy(code + 0x10000, "\xe8\x3b\0\0\0\x48\x83\xc4\x08\xc3", 10);
	mem.code_lo = base;
	mem.code_hi = base + sizeof(code);
	mem.code_delta = (u64)code - base;
	stack[0] = ra;
	nr = walk_from(base + 8, WORD(0), &reason);
	first = kunwind_rule_cache_slot(&cache, ra - 1);
	second = kunwind_rule_cache_second(&cache, first);
	tap_ok(reason == KUNWIND_COMPLETE && nr == 2 && first->addr == ra - 1 && first->id,
	       "a walk ends at the entry function, and its end is in the first place");
	nr = walk_from(base + 8, WORD(0), &reason);
	tap_ok(reason == KUNWIND_COMPLETE && nr == 2 && left == KUNWIND_BUDGET,
	       "the cached end holds for its stack pointer, and costs nothing");
	*second = *first;
	second->id = 0;
	stack[2] = ra;
	signal(SIGALRM, too_long);
	alarm(20);
	nr = walk_from(base + 8, WORD(2), &reason);
	tap_ok(reason != KUNWIND_COMPLETE && nr >= 2,
	       "the walk ends, and does not take the half-written rule");
	return tap_done();
}

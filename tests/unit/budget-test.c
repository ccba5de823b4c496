/* SPDX-License-Identifier: MIT */
/*
 * budget-test.c - a walk spends no more than its budget, an urgent one no more
 * than a quarter of it
 *
 * The stack is full of return addresses that follow calls of one function. For
 * each of them the walk reads that function's code, and finds that the frame
 * is not the function's. The budget pays for 127 such addresses; if each jump
 * backwards in the function made the walk read a loop again, it would not. An
 * urgent walk stops after a quarter of the budget. A walk by rules from the
 * cache needs no budget, however many frames it has.
 */
#include <stdio.h>
#include <string.h>

#include "../../kmod/core/walk/mem.h"
#include "../../kmod/uapi/kunwind.h"
#include "eh.h"
#include "tap.h"

#define CODE	0x10000ULL
#define STACK	0x7000ULL
#define FRAME	64		/* from the function's entry to the frame's address, in bytes */
#define CALL	128		/* where the call of the function is */
#define WORDS	512

static void test_loops(u32 words, bool loops, bool urgent, enum kunwind_reason want)
{
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	u8 code[256];
	u64 stack[WORDS];
	unsigned long addresses[2];
	const u32 budget = urgent ? KUNWIND_BUDGET_URGENT : KUNWIND_BUDGET;
	enum kunwind_reason reason;
	u32 spent;
	s32 distance = -(CALL + 5);
	struct kunwind_walk walk = {
		.ranges = ranges, .addresses = addresses, .capacity = ARRAY_SIZE(addresses),
		.budget = urgent ? KUNWIND_BUDGET_URGENT : 0,
		.mem = { .lo = STACK, .hi = STACK + sizeof(stack),
			 .delta = (u64)(uintptr_t)stack - STACK, .code_lo = CODE,
			 .code_hi = CODE + sizeof(code), .code_delta = (u64)(uintptr_t)code - CODE },
	};
	u32 i;

	ranges->id = 1;
	ranges->nr = 1;
	ranges->range[0] = (struct kunwind_range){
		.start = CODE, .end = CODE + 4096, .reason = KUNWIND_NO_TABLE };
	memset(code, 0x90, sizeof(code));
	code[0] = 0x50;				/* push %rax; pop %rax */
	code[1] = 0x58;
	for (i = 16; i + 2 <= FRAME; i += 2) {
		code[i] = 0x75;			/* jne, to the entry or to the next */
		code[i + 1] = loops ? -(i + 2) : 0;
	}
	code[CALL] = 0xe8;
	memcpy(code + CALL + 1, &distance, sizeof(distance));
	stack[0] = 0;				/* what the code says is the return address */
	for (i = 1; i < WORDS; i++)
		stack[i] = i < words ? CODE + CALL + 5 : 0;
	walk.regs.r[KUNWIND_RA] = CODE + FRAME;
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP);
	reason = kunwind_walk(&walk);
	spent = budget - walk.mem.left;
	if (!tap_ok(reason == want && walk.count == 1 && spent <= budget &&
		    !walk.mem.left == (reason == KUNWIND_BUDGET_SPENT),
		    "budget: %u words after calls of code with%s%s: %s", words - 1,
		    loops ? " loops" : "out a loop", urgent ? ", urgent" : "",
		    kunwind_reason_name(want)))
		printf("# %s, %u addresses, %u units\n", kunwind_reason_name(reason), walk.count, spent);
	free(ranges);
}

/*
 * As many frames as an event may have. If all addresses differ, they do not fit
 * in the cache, and an urgent walk cannot pay for all lookups. With 64
 * different addresses it can, because the cache holds them.
 */
static void test_frames(bool distinct, enum kunwind_reason want)
{
	static unsigned long addresses[KUNWIND_MAX_FRAMES];
	static u64 stack[KUNWIND_MAX_FRAMES];
	static struct kunwind_rule_cache cache;
	static struct eh eh;
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	struct kunwind_table *table;
	struct kunwind_walk walk = {
		.ranges = ranges, .cache = &cache, .addresses = addresses,
		.capacity = ARRAY_SIZE(addresses), .budget = KUNWIND_BUDGET_URGENT,
		.mem = { .lo = STACK, .hi = STACK + sizeof(stack),
			 .delta = (u64)(uintptr_t)stack - STACK },
	};
	enum kunwind_reason reason;
	u32 i;

	eh.size = 0;
	eh_plain_fde(&eh, eh_plain_cie(&eh, "0c 07 08 90 01"), TEXT_LO, KUNWIND_MAX_FRAMES + 2, "");
	if (eh_build(&eh, 0, &table))
		abort();
	memset(&cache, 0, sizeof(cache));
	ranges->id = 1;
	ranges->nr = 1;
	ranges->range[0] = (struct kunwind_range){
		.start = CODE, .end = CODE + KUNWIND_MAX_FRAMES + 2, .bias = CODE - TEXT_LO,
		.table = table };
	for (i = 0; i < KUNWIND_MAX_FRAMES - 1; i++)
		stack[i] = CODE + 1 + (distinct ? i : i % 64);
	stack[i] = 0;
	walk.regs.r[KUNWIND_RA] = CODE;
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.valid = KUNWIND_ALL_REGS;
	reason = kunwind_walk(&walk);
	if (!tap_ok(reason == want && (walk.count == KUNWIND_MAX_FRAMES) == !distinct &&
		    /* + 1 for reading the code: a trampoline? */
		    walk.count >= KUNWIND_BUDGET_URGENT / (KUNWIND_COST_LOOKUP + 1),
		    "budget: %u frames with %s addresses, urgent: %s", KUNWIND_MAX_FRAMES,
		    distinct ? "different" : "64", kunwind_reason_name(want)))
		printf("# %s, %u addresses, %u units left\n", kunwind_reason_name(reason), walk.count,
		       walk.mem.left);
	kunwind_table_free(table);
	free(ranges);
}

int main(void)
{
	test_loops(128, false, false, KUNWIND_NO_TABLE);
	test_loops(128, true, false, KUNWIND_BUDGET_SPENT);
	test_loops(128, false, true, KUNWIND_BUDGET_SPENT);
	test_loops(8, false, true, KUNWIND_NO_TABLE);
	test_frames(false, KUNWIND_COMPLETE);
	test_frames(true, KUNWIND_BUDGET_SPENT);
	return tap_done();
}

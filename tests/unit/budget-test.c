/* SPDX-License-Identifier: MIT */
/*
 * budget-test.c - a walk costs no more than its budget, whatever a process has on its stack
 *
 * A stack full of return addresses behind calls of one function, whose code, read for each of them,
 * says that it is not this frame's. The budget is enough to ask about them all; but not where each
 * jump back in that function has a loop read once more.
 */
#include <stdio.h>
#include <string.h>

#include "../../kmod/core/kunwind_core.h"
#include "tap.h"

#define CODE	0x10000ULL
#define STACK	0x7000ULL
#define FRAME	64		/* bytes from the function's entry to the frame's address */
#define CALL	128		/* where it is called */
#define WORDS	512

static void test_loops(bool loops)
{
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	u8 code[256];
	u64 stack[WORDS];
	unsigned long addresses[2];
	enum kunwind_reason reason;
	s32 distance = -(CALL + 5);
	struct kunwind_walk walk = {
		.ranges = ranges, .addresses = addresses, .capacity = ARRAY_SIZE(addresses),
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
	stack[0] = 0;				/* the code says: here */
	for (i = 1; i < WORDS; i++)
		stack[i] = CODE + CALL + 5;
	walk.regs.r[KUNWIND_RA] = CODE + FRAME;
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP);
	reason = kunwind_walk(&walk);
	if (!tap_ok(reason == (loops ? KUNWIND_DEPTH : KUNWIND_NO_TABLE) && walk.count == 1,
		    "budget: 511 words behind calls of code with%s", loops ? " loops" : "out a loop"))
		printf("# %s, %u addresses\n", kunwind_reason_name(reason), walk.count);
	free(ranges);
}

int main(void)
{
	test_loops(false);
	test_loops(true);
	return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * return-scene.h - code of nops, an empty stack and a walk, for tests of single
 * steps without unwind information
 *
 * One mapping without a table contains all code. A test may add a second one.
 */
#ifndef _TEST_RETURN_SCENE_H
#define _TEST_RETURN_SCENE_H

#include "../../kmod/core/nocfi/exact_frame.h"
#include "../../kmod/core/nocfi/step.h"
#include "../../kmod/core/nocfi/return_address.h"
#include "tap.h"

#define CODE	0x10000ULL
#define SIZE	0x4000
#define STACK	0x7000ULL
#define WORDS	600
#define WORD(n)	(STACK + 8 * (n))
#define PLENTY	(1U << 28)

static u8 code[SIZE];
static u64 stack[WORDS];
static struct kunwind_ranges *ranges;
static struct kunwind_walk walk;

static inline void begin(void)
{
	if (!ranges)
		ranges = calloc(1, sizeof(*ranges) + 2 * sizeof(ranges->range[0]));
	ranges->id = 1;
	ranges->nr = 1;
	ranges->range[0] = (struct kunwind_range){
		.start = CODE, .end = CODE + SIZE, .reason = KUNWIND_NO_TABLE,
	};
	memset(code, 0x90, sizeof(code));
	memset(stack, 0, sizeof(stack));
	walk = (struct kunwind_walk){
		.ranges = ranges,
		.mem = { .left = PLENTY, .lo = STACK, .hi = STACK + sizeof(stack),
			 .delta = (u64)(uintptr_t)stack - STACK, .code_lo = CODE,
			 .code_hi = CODE + sizeof(code), .code_delta = (u64)(uintptr_t)code - CODE },
	};
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP);
}

static inline void bytes(u32 at, const char *hex)
{
	for (; *hex; hex += 2 + (hex[2] == ' '))
		sscanf(hex, "%2hhx", &code[at++]);
}

/* A call at @at of @to; returns the return address. */
static inline u64 call(u32 at, u32 to)
{
	s32 distance = (s32)to - (s32)(at + 5);

	code[at] = 0xe8;
	memcpy(code + at + 1, &distance, sizeof(distance));
	return CODE + at + 5;
}

/* A step from a frame at CODE + @ip that called. Returns what it cost. */
static inline u32 step(u32 ip, enum kunwind_reason *reason, struct kunwind_found *how)
{
	walk.mem.left = PLENTY;
	walk.regs.r[KUNWIND_RA] = CODE + ip;
	*reason = kunwind_nocfi_step(&walk, false, how);
	return PLENTY - walk.mem.left;
}

static inline enum kunwind_proof prove(u32 ip, u64 sp, u64 bp, bool bp_known, u64 slot, u64 ra)
{
	u32 tails = KUNWIND_PROOF_TAILS;
	struct kunwind_nocfi_frame frame = {
		.ip = CODE + ip, .sp = sp, .bp = bp, .bp_known = bp_known, .range = &ranges->range[0],
		.tails = &tails,
	};
	struct kunwind_candidate c = { .slot = slot, .ra = ra };

	walk.mem.left = PLENTY;
	kunwind_prove(&walk, &frame, &c);
	return c.proof;
}

#endif /* _TEST_RETURN_SCENE_H */

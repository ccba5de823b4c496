/* SPDX-License-Identifier: MIT */
/*
 * jit-entry-test.c - frames in code of a JIT that a routine has entered
 */
#include <stdio.h>
#include <string.h>

#include "../../kmod/core/walk/mem.h"
#include "../../kmod/core/nocfi/code_analysis.h"
#include "../../kmod/core/nocfi/jit_entry.h"
#include "nocfi-scene.h"

#define FRAME	(JIT + 0x1180)		/* the return address in the frame under test */
#define ENTRY	(JIT + 0x100)		/* the routine that makes the frame */
#define POINTER	(LIB + 0x800)		/* a word that points to it */
#define CALLS	{ LIB + 0x40, "ff 15 ba 07 00 00", 0 }	/* call *(POINTER) */
#define RET	(LIB + 0x46)
#define AGAIN	{ LIB + 0x60, "ff 15 9a 07 00 00", 0 }
#define RET_2	(LIB + 0x66)
#define LEAF	(JIT + 0x1e00)
#define ENDS	"ff e0"			/* jmp *%rax: the code of the frame says nothing */
#define TO_FRAME { FRAME - 5, NULL, LEAF }
#define IN_LEAF	{ LEAF, "c3", 0 }
#define POPS	{ LEAF, "48 83 c4 38 c3", 0 }	/* its caller's rsp is a multiple of 64 */
#define POINTS	{ POINTER, "00 01 02 00 00 00 00 00", 0 }
#define POINTS_F { POINTER, "00 01 01 00 00 00 00 00", 0 }
#define GUILE	"48 83 ec 18 48 89 1c 24 4c 89 64 24 08 49 ff e4"

/* The first frame returns to the one under test, whose rsp is AT(1). */
static const struct nocfi_case cases[] = {
	{ "a routine that jumps through a register has made the frame", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 }, { ENTRY, GUILE, 0 }, POINTS },
	  { { 0, FRAME }, { 4, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME, RET }, .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "the routine's frame has another size", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 },
	    { ENTRY, "48 83 ec 28 48 89 1c 24 4c 89 64 24 08 49 ff e4", 0 }, POINTS },
	  { { 0, FRAME }, { 4, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "the routine's frame is smaller", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 },
	    { ENTRY, "48 83 ec 08 48 89 1c 24 4c 89 64 24 08 49 ff e4", 0 }, POINTS },
	  { { 0, FRAME }, { 4, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "the routine aligns rsp", LEAF, 0,
	  { CALLS, POPS, TO_FRAME, { FRAME, ENDS, 0 },
	    { ENTRY, "53 48 81 ec 80 00 00 00 48 83 e4 c0 57 5f ff e0", 0 }, POINTS },
	  { { 7, FRAME }, { 28, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME, RET }, .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "the routine aligns rsp, too far away", LEAF, 0,
	  { CALLS, POPS, TO_FRAME, { FRAME, ENDS, 0 },
	    { ENTRY, "53 48 81 ec 80 00 00 00 48 83 e4 c0 57 5f ff e0", 0 }, POINTS },
	  { { 7, FRAME }, { 33, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "the routine pushes", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 }, { ENTRY, "41 54 53 55 ff e0", 0 }, POINTS },
	  { { 0, FRAME }, { 4, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME, RET }, .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "the routine takes rsp from memory", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 },
	    { ENTRY, "48 83 ec 18 48 8b 67 08 ff e0", 0 }, POINTS },
	  { { 0, FRAME }, { 4, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "the routine returns", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 }, { ENTRY, "48 83 ec 18 c3", 0 }, POINTS },
	  { { 0, FRAME }, { 4, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "the routine makes no frame", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 }, { ENTRY, "ff e0", 0 }, POINTS },
	  { { 0, FRAME }, { 1, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: the pointer leads to it", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME, RET }, .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "a file's routine: the frame is interrupted", FRAME, 0,
	  { CALLS, { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 3, RET } }, .no_guess = true,
	  .found = { FRAME, RET }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "a file's routine: its frame has another size", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 5, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: it jumps past conditional jumps", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 },
	    { F, "41 55 41 54 55 48 85 ff 74 1c 0f 85 c1 1c 00 00 41 ff 27", 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME, RET }, .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "a file's routine: it calls", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 }, { F, "48 83 ec 18 ff d0", 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: it jumps to a fixed place", LEAF, 0,
	  { CALLS, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 }, { F, "48 83 ec 18 eb 10", 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, RET } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: the pointer's address is in a register", LEAF, 0,
	  { { LIB + 0x40, "48 8d 05 b9 07 00 00 48 89 ef ff 10", 0 }, IN_LEAF, TO_FRAME,
	    { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, LIB + 0x4c } }, .no_guess = true,
	  .found = { LEAF, FRAME, LIB + 0x4c }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a file's routine: the pointer is in a register", LEAF, 0,
	  { { LIB + 0x40, "4c 8b 15 b9 07 00 00 50 41 ff d2", 0 }, IN_LEAF, TO_FRAME,
	    { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, LIB + 0x4b } }, .no_guess = true,
	  .found = { LEAF, FRAME, LIB + 0x4b }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a file's routine: the register is written before the call", LEAF, 0,
	  { { LIB + 0x40, "48 8d 05 b9 07 00 00 48 89 f8 ff 10", 0 }, IN_LEAF, TO_FRAME,
	    { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, LIB + 0x4c } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: the register is popped before the call", LEAF, 0,
	  { { LIB + 0x40, "48 8d 05 b9 07 00 00 58 90 90 ff 10", 0 }, IN_LEAF, TO_FRAME,
	    { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, LIB + 0x4c } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: the register is set to a number before the call", LEAF, 0,
	  { { LIB + 0x40, "48 8d 05 b9 07 00 00 b8 01 00 00 00 ff 10", 0 }, IN_LEAF, TO_FRAME,
	    { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, LIB + 0x4e } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: another register is set", LEAF, 0,
	  { { LIB + 0x40, "48 8d 0d b9 07 00 00 48 89 ef ff 10", 0 }, IN_LEAF, TO_FRAME,
	    { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, LIB + 0x4c } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: a call is between", LEAF, 0,
	  { { LIB + 0x40, "48 8d 05 b9 07 00 00 e8 00 01 00 00 ff 10", 0 }, IN_LEAF, TO_FRAME,
	    { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, LIB + 0x4e } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: a jump is between", LEAF, 0,
	  { { LIB + 0x40, "48 8d 05 b9 07 00 00 eb 01 90 ff 10", 0 }, IN_LEAF, TO_FRAME,
	    { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, LIB + 0x4c } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: the pointer's address is in the GOT", LEAF, 0,
	  { { LIB + 0x40, "48 8b 05 b9 07 00 00 48 89 ef ff 10", 0 }, IN_LEAF, TO_FRAME, { F, GUILE, 0 },
	    { POINTER, "00 09 01 00 00 00 00 00", 0 }, { POINTER + 0x100, "00 01 01 00 00 00 00 00", 0 } },
	  { { 0, FRAME }, { 4, LIB + 0x4c } }, .no_guess = true,
	  .found = { LEAF, FRAME, LIB + 0x4c }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a file's routine: the call is within an instruction", LEAF, 0,
	  { { LIB + 0x40, "48 8d 05 b9 07 00 00 81 c1 01 02 ff 10", 0 }, IN_LEAF, TO_FRAME,
	    { FRAME, ENDS, 0 }, { F, GUILE, 0 }, POINTS_F },
	  { { 0, FRAME }, { 4, LIB + 0x4d } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's routine: a JIT's code calls it", LEAF, 0,
	  { { JIT + 0x40, "ff 15 ba 07 00 00", 0 }, IN_LEAF, TO_FRAME, { FRAME, ENDS, 0 },
	    { F, GUILE, 0 }, { JIT + 0x800, "00 01 01 00 00 00 00 00", 0 } },
	  { { 0, FRAME }, { 4, JIT + 0x46 } }, .no_guess = true,
	  .found = { LEAF, FRAME }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a word of an older call of the routine is below", LEAF, 0,
	  { CALLS, AGAIN, TO_FRAME, { FRAME, ENDS, 0 }, { ENTRY, GUILE, 0 }, POINTS },
	  { { 0, FRAME }, { 2, RET }, { 4, RET_2 } }, .no_guess = true,
	  .found = { LEAF, FRAME, RET_2 }, .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "and: the only word of eight that a jumper's call precedes", LEAF, 0,
	  { { ENTRY, "48 81 ec 80 00 00 00 48 83 e4 c0 ff 15 00 00 00 00", 0 }, POPS,
	    { ENTRY + 18, NULL, LEAF }, { LIB + 0x200, NULL, F }, { F, "53 5b ff e0", 0 },
	    { ENTRY + 23, ENDS, 0 } },
	  { { 7, ENTRY + 23 }, { 28, RET_F } }, .no_guess = true,
	  .found = { LEAF, ENTRY + 23, RET_F }, .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "and: other code of the JIT calls in the same frame", LEAF, 0,
	  { { ENTRY, "48 81 ec 80 00 00 00 48 83 e4 c0", 0 }, POPS, TO_FRAME,
	    { LIB + 0x200, NULL, F }, { F, "53 5b ff e0", 0 }, { FRAME, ENDS, 0 } },
	  { { 7, FRAME }, { 28, RET_F } }, .no_guess = true,
	  .found = { LEAF, FRAME, RET_F }, .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "and: the called function does not jump through a register", LEAF, 0,
	  { { ENTRY, "48 81 ec 80 00 00 00 48 83 e4 c0 ff 15 00 00 00 00", 0 }, POPS,
	    { ENTRY + 18, NULL, LEAF }, { LIB + 0x200, NULL, F }, { F, "53 5b c3", 0 },
	    { ENTRY + 23, ENDS, 0 } },
	  { { 7, ENTRY + 23 }, { 28, RET_F } }, .no_guess = true,
	  .found = { LEAF, ENTRY + 23 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "and: the called function jumps with words on its stack", LEAF, 0,
	  { { ENTRY, "48 81 ec 80 00 00 00 48 83 e4 c0 ff 15 00 00 00 00", 0 }, POPS,
	    { ENTRY + 18, NULL, LEAF }, { LIB + 0x200, NULL, F }, { F, "53 ff e0", 0 },
	    { ENTRY + 23, ENDS, 0 } },
	  { { 7, ENTRY + 23 }, { 28, RET_F } }, .no_guess = true,
	  .found = { LEAF, ENTRY + 23 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "and: rsp is not aligned", LEAF, 0,
	  { { ENTRY, "48 81 ec 80 00 00 00 48 83 e4 c0 ff 15 00 00 00 00", 0 }, IN_LEAF,
	    { ENTRY + 18, NULL, LEAF }, { LIB + 0x200, NULL, F }, { F, "53 5b ff e0", 0 },
	    { ENTRY + 23, ENDS, 0 } },
	  { { 0, ENTRY + 23 }, { 20, RET_F } }, .no_guess = true,
	  .found = { LEAF, ENTRY + 23 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "and: two words fit", LEAF, 0,
	  { { ENTRY, "48 81 ec 80 00 00 00 48 83 e4 c0 ff 15 00 00 00 00", 0 }, POPS,
	    { ENTRY + 18, NULL, LEAF }, { LIB + 0x200, NULL, F }, { F, "53 5b ff e0", 0 },
	    { ENTRY + 23, ENDS, 0 } },
	  { { 7, ENTRY + 23 }, { 26, RET_F }, { 28, RET_F } }, .no_guess = true,
	  .found = { LEAF, ENTRY + 23 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "and: the word is outside the places that the alignment leaves", LEAF, 0,
	  { { ENTRY, "48 81 ec 80 00 00 00 48 83 e4 c0 ff 15 00 00 00 00", 0 }, POPS,
	    { ENTRY + 18, NULL, LEAF }, { LIB + 0x200, NULL, F }, { F, "53 5b ff e0", 0 },
	    { ENTRY + 23, ENDS, 0 } },
	  { { 7, ENTRY + 23 }, { 33, RET_F } }, .no_guess = true,
	  .found = { LEAF, ENTRY + 23 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
};

/* Where the routine @hex has saved rbp, as the method says. */
static s32 saved_rbp(const char *hex)
{
	const struct code codes[] = { CALLS, { F, hex, 0 }, POINTS_F };
	struct kunwind_nocfi_frame frame = { .ip = FRAME, .sp = AT(1), .range = &ranges->range[1] };
	struct kunwind_candidate c = { .rbp_at = 1 };
	unsigned long addresses[MOST];
	struct kunwind_walk walk;
	u8 trust[MOST];
	u32 i;

	clear();
	for (i = 0; i < ARRAY_SIZE(codes); i++)
		put_code(&codes[i]);
	stack[4] = RET;
	walk = walk_from(FRAME, 0, false, addresses, trust, MOST);
	walk.mem.left = 10000;
	return kunwind_jit_entered(&walk, &frame, &c) && c.slot == AT(4) ? c.rbp_at : 0;
}

#define FRAME_2	(JIT + 0x1280)

static struct kunwind_analysis_cache cache;
static struct kunwind_jit_rules rules;

/* Walks from the frame at @ra. *again: steps by the known routine; *spent: units of the budget. */
static u64 caller_of(u64 ra, u64 space, u32 *again, u32 *spent)
{
	unsigned long addresses[MOST];
	struct kunwind_walk walk;
	u8 trust[MOST];

	stack[7] = ra;
	walk = walk_from(LEAF, 0, false, addresses, trust, MOST);
	walk.mem.answers = &cache;
	walk.mem.space = space;
	kunwind_walk(&walk);
	*again = walk.others ? walk.found[KUNWIND_BY_JIT_MADE] : 0;
	*spent = kunwind_budget(&walk) - walk.mem.left;
	return walk.count > 2 ? addresses[2] : 0;
}

/* A step by JIT_ENTRY has found the routine. */
static void find_routine(void)
{
	static const struct code codes[] = {
		{ ENTRY, "48 81 ec 80 00 00 00 48 83 e4 c0", 0 }, POPS, TO_FRAME,
		{ FRAME_2 - 5, NULL, LEAF }, { LIB + 0x200, NULL, F }, { F, "53 5b ff e0", 0 },
		{ FRAME, ENDS, 0 }, { FRAME_2, ENDS, 0 },
	};
	u32 i, again, spent;

	clear();
	memset(&cache, 0, sizeof(cache));
	memset(&rules, 0, sizeof(rules));
	cache.jit = &rules;
	for (i = 0; i < ARRAY_SIZE(codes); i++)
		put_code(&codes[i]);
	stack[28] = RET_F;
	if (caller_of(FRAME, 1, &again, &spent) != RET_F || again)
		printf("# the routine was not found by the method\n");
}

static void test_again(void)
{
	u32 again, spent, first, last;
	bool kept;

	find_routine();
	tap_ok(caller_of(FRAME_2, 1, &again, &first) == RET_F && again == 1,
	       "known routine: another frame");
	caller_of(FRAME_2, 1, &again, &spent);
	kept = caller_of(FRAME_2, 1, &again, &last) == RET_F && last < first;
	printf("# %u units, then %u\n", first, last);
	tap_ok(kept, "known routine: the JIT's rules keep the step");
	tap_ok(first - last < 60, "known routine: it costs less than 60 units more than a rule");
	find_routine();
	stack[26] = RET_F;
	tap_ok(!caller_of(FRAME_2, 1, &again, &spent) && !again, "known routine: two words fit");
	find_routine();
	stack[28] = 0x1111;
	tap_ok(!caller_of(FRAME_2, 1, &again, &spent) && !again, "known routine: no word fits");
	find_routine();
	put_code(&(struct code){ ENTRY, "48 81 ec 40 00 00 00 48 83 e4 c0", 0 });
	tap_ok(!caller_of(FRAME_2, 1, &again, &spent) && !again, "known routine: its code has changed");
	find_routine();
	put_code(&(struct code){ ENTRY, "48 81 ec 80 00 00 00 48 83 e4 e0", 0 });
	tap_ok(!caller_of(FRAME_2, 1, &again, &spent) && !again, "known routine: it aligns no more");
	find_routine();
	tap_ok(caller_of(FRAME_2, 2, &again, &spent) == RET_F && !again,
	       "known routine: not in another address space");
	find_routine();
	ranges->id++;
	tap_ok(caller_of(FRAME_2, 1, &again, &spent) == RET_F && !again,
	       "known routine: not after a change of the mappings");
	ranges->id--;
	find_routine();
	put_code(&(struct code){ LEAF, "48 83 c4 30 c3", 0 });
	stack[6] = FRAME_2;
	tap_ok(!caller_of(FRAME_2, 1, &again, &spent) && !again, "known routine: rsp is not aligned");
}

static void test_method(void)
{
	test_again();
	tap_ok(decided[KUNWIND_BY_JIT_ENTRY] == 12, "the method has decided twelve cases");
	tap_ok(saved_rbp("50 55 53 ff e0") == 16, "a routine saves rbp with its second push");
	tap_ok(saved_rbp("48 83 ec 18 48 89 6c 24 08 ff e0") == 16, "a routine stores rbp");
	tap_ok(saved_rbp("31 ed 50 55 53 ff e0") == KUNWIND_CODE_RBP_LOST,
	       "a routine pushes rbp when it has another value");
	tap_ok(saved_rbp("50 41 55 53 ff e0") == KUNWIND_CODE_RBP_LOST, "a routine saves r13, not rbp");
}

int main(void)
{
	return nocfi_test(cases, ARRAY_SIZE(cases), test_method);
}

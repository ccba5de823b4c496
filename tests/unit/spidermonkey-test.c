/* SPDX-License-Identifier: MIT */
/*
 * spidermonkey-test.c - frames of SpiderMonkey's code: rsp is taken from a word of the stack,
 * returns remove arguments, and functions push the size of their frame
 */
#include <stdio.h>
#include <string.h>

#include "../../kmod/core/walk/mem.h"
#include "nocfi-scene.h"

#define FRAME	(JIT + 0x1180)		/* the return address in the frame under test */
#define LEAF	(JIT + 0x1e00)
#define ENDS	"ff e0"			/* jmp *%rax: the code of the frame says nothing */
#define TO_FRAME { FRAME - 5, NULL, LEAF }
#define IN_LEAF	{ LEAF, "c3", 0 }
#define DEEP_LEAF { LEAF, "48 83 c4 40 c3", 0 }
#define LEAF2	(JIT + 0x1605)
#define CALL_2	{ LIB + 0x260, NULL, F }
#define RET_2	(LIB + 0x265)
#define CALLER	CALL_F, { RET_F, "5b c3", 0 }, CALL_2

/* A call of C, for which rsp is aligned: and $-16, %rsp; push %rcx; sub $8, %rsp; call. */
#define WRAPPER	"48 83 c4 08 5c 48 83 c4 08 c2 10 00"
/* A stub that calls compiled code: pop %r11; shr $8, %r11; add %r11, %rsp; pop %rbp; ... */
#define STUB	"41 5b 49 c1 eb 08 49 03 e3 5d 5f 8f 04 24 c3"

#define TO_RET_2 .no_guess = true, .found = { LEAF, FRAME, RET_F, RET_2 }, \
	.trust = { REGS, CODE, CODE, CODE }, .reason = KUNWIND_NO_TABLE
#define TO_RET_F .no_guess = true, .found = { LEAF, FRAME, RET_F }, .trust = { REGS, CODE, CODE }, \
	.reason = KUNWIND_NO_TABLE
#define NO_STEP	.no_guess = true, .found = { LEAF, FRAME }, .trust = { REGS, CODE }, \
	.reason = KUNWIND_NO_OBJECT

/* The first frame returns to the one under test, whose rsp is AT(1). */
static const struct nocfi_case cases[] = {
	{ "pop %rsp: the word is 8 bytes above its place; the return removes 16", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, WRAPPER, 0 }, CALLER },
	  { { 0, FRAME }, { 2, AT(3) }, { 4, RET_F }, { 8, RET_2 } }, TO_RET_2 },
	{ "pop %rsp: the word is 16 bytes above its place", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, WRAPPER, 0 }, CALLER },
	  { { 0, FRAME }, { 2, AT(4) }, { 5, RET_F }, { 9, RET_2 } }, TO_RET_2 },
	{ "pop %rsp: the word is 24 bytes above its place", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, WRAPPER, 0 }, CALLER },
	  { { 0, FRAME }, { 2, AT(5) }, { 6, RET_F }, { 10, RET_2 } }, NO_STEP },
	{ "pop %rsp: the word is its own place", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, WRAPPER, 0 }, CALLER },
	  { { 0, FRAME }, { 2, AT(2) }, { 3, RET_F }, { 7, RET_2 } }, NO_STEP },
	{ "pop %rsp: the word above follows no call", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, WRAPPER, 0 }, CALLER },
	  { { 0, FRAME }, { 2, AT(3) }, { 4, IN_F }, { 8, RET_2 } }, NO_STEP },
	{ "pop %rsp, jmp *%rax", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, "48 83 c4 08 5c 48 83 c4 08 ff e0", 0 }, CALLER },
	  { { 0, FRAME }, { 2, AT(3) }, { 4, RET_F }, { 6, RET_2 } }, TO_RET_2 },
	{ "the size is on the stack", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, STUB, 0 }, CALLER },
	  { { 0, FRAME }, { 1, 0x1040 }, { 6, RET_F }, { 9, RET_2 } }, TO_RET_2 },
	{ "the size is no multiple of 8", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, STUB, 0 }, CALLER },
	  { { 0, FRAME }, { 1, 0x1440 }, { 6, RET_F }, { 9, RET_2 } }, NO_STEP },
	{ "the size is shifted twice", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, "41 5b 49 c1 eb 08 49 c1 eb 08 49 03 e3 5d 5f c3", 0 }, CALLER },
	  { { 0, FRAME }, { 1, 0x1040 }, { 6, RET_F }, { 8, RET_2 } }, NO_STEP },
	{ "another register is added", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, "41 5b 49 c1 eb 08 49 03 e2 5d 5f c3", 0 }, CALLER },
	  { { 0, FRAME }, { 1, 0x1040 }, { 6, RET_F }, { 8, RET_2 } }, NO_STEP },
	{ "words are popped between the size and the addition", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, "41 5e 49 c1 ee 08 41 5c 41 5c 4c 03 e4 49 03 e6 5d c3", 0 },
	    CALLER },
	  { { 0, FRAME }, { 1, 0x1040 }, { 7, RET_F }, { 9, RET_2 } }, TO_RET_2 },
	{ "the register changes before it is added", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, "41 5b 49 c1 eb 08 4c 8b d8 49 03 e3 5d 5f c3", 0 }, CALLER },
	  { { 0, FRAME }, { 1, 0x1040 }, { 6, RET_F }, { 8, RET_2 } }, NO_STEP },
	{ "pop %rsp, and the code calls before it returns", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, "48 83 c4 08 5c ff d0 48 83 c4 08 c3", 0 }, CALLER },
	  { { 0, FRAME }, { 2, AT(3) }, { 4, RET_F }, { 6, RET_2 } }, NO_STEP },
	{ "pop %rsp, and the code stores in the frame", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, "48 83 c4 08 5c 48 89 44 24 08 48 83 c4 08 c3", 0 }, CALLER },
	  { { 0, FRAME }, { 2, AT(3) }, { 4, RET_F }, { 6, RET_2 } }, NO_STEP },
	{ "pop (%rsp), and the code goes on", LEAF, AT(4),
	  { IN_LEAF, TO_FRAME, { FRAME, "48 8b e5 5d 5f 8f 04 24 48 83 c4 08 c3", 0 }, CALLER },
	  { { 0, FRAME }, { 4, AT(12) }, { 6, RET_F }, { 9, RET_2 } }, NO_STEP },
	{ "pop %rsp, and a jump and a conditional jump are on the path", LEAF, 0,
	  { IN_LEAF, TO_FRAME, { FRAME, "48 83 c4 08 5c a8 ff 74 20 eb 02 0f 0b 48 83 c4 08 c3", 0 },
	    CALLER },
	  { { 0, FRAME }, { 2, AT(3) }, { 4, RET_F }, { 6, RET_2 } }, TO_RET_2 },
	{ "pop (%rsp) moves the return address up", LEAF, AT(4),
	  { IN_LEAF, TO_FRAME, { FRAME, "48 8b e5 5d 5f 8f 04 24 c3", 0 }, CALLER },
	  { { 0, FRAME }, { 4, AT(12) }, { 6, RET_F }, { 9, RET_2 } }, TO_RET_2 },
	{ "the frame has pushed its size; the callee leaves it", LEAF, 0,
	  { DEEP_LEAF, TO_FRAME, { FRAME - 10, "68 20 20 00 00", 0 }, { FRAME, ENDS, 0 }, CALL_F },
	  { { 8, FRAME }, { 9, 0x2020 }, { 14, RET_F } }, TO_RET_F },
	{ "the frame has pushed its size; the callee removes two words", LEAF, 0,
	  { DEEP_LEAF, { LEAF2 - 5, NULL, LEAF }, { LEAF2, WRAPPER, 0 },
	    { FRAME - 10, "68 20 20 00 00 e8 00 00 00 00 ff e0", 0 }, CALL_F },
	  { { 8, LEAF2 }, { 10, AT(11) }, { 12, FRAME }, { 13, 0x2020 }, { 18, RET_F } },
	  .no_guess = true, .found = { LEAF, LEAF2, FRAME, RET_F }, .trust = { REGS, CODE, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "the frame has pushed its size; four words belong to the call, through a register", LEAF, 0,
	  { DEEP_LEAF, { FRAME - 7, "68 40 10 00 00 ff d3", 0 }, { FRAME, ENDS, 0 }, CALL_F },
	  { { 8, FRAME }, { 9, 0x1040 }, { 14, RET_F } }, TO_RET_F },
	{ "the word is not what the frame has pushed", LEAF, 0,
	  { DEEP_LEAF, TO_FRAME, { FRAME - 10, "68 20 20 00 00", 0 }, { FRAME, ENDS, 0 }, CALL_F },
	  { { 8, FRAME }, { 9, 0x2120 }, { 14, RET_F } }, NO_STEP },
	{ "the word that is pushed is no size", LEAF, 0,
	  { DEEP_LEAF, TO_FRAME, { FRAME - 10, "68 10 20 00 00", 0 }, { FRAME, ENDS, 0 }, CALL_F },
	  { { 8, FRAME }, { 9, 0x2010 }, { 13, RET_F } }, NO_STEP },
};

static void test_method(void)
{
	tap_ok(decided[KUNWIND_BY_JIT_RUN] == 8, "the method has decided eight cases");
	tap_ok(decided[KUNWIND_BY_JIT_MADE] == 3, "the pushed size has decided three");
}

int main(void)
{
	return nocfi_test(cases, ARRAY_SIZE(cases), test_method);
}

/* SPDX-License-Identifier: MIT */
/*
 * nocfi-jumps-test.c - frames without unwind information whose code ahead jumps
 * after a call (nocfi-scene.h)
 *
 * The code after a call that never returns may be another function's cold part.
 * A cold part ends with a jmp that has a 32-bit displacement. The code after
 * such a call may also belong to the same function, if a jump leads there with
 * another rsp.
 */
#include "nocfi-scene.h"

static const struct nocfi_case cases[] = {
	/* the cold parts of two functions: call; call; jmp to: add $40, %rsp; ret */
	{ "after a call that may not return, a jump: a word after a call by pointer", IN_F + 0x80, 0,
	  { { LIB + 0x300, "ff d0", 0 }, { IN_F, "e8 7b 00 00 00 e8 76 00 00 00 e9 1d 00 00 00", 0 },
	    { IN_F + 0x2c, "48 83 c4 28 c3", 0 }, { IN_F + 0x80, "c3", 0 } },
	  { { 0, IN_F + 5 }, { 6, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 0x80, IN_F + 5 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "after a call that may not return, no jump: a word after a call by pointer", IN_F + 0x80, 0,
	  { { LIB + 0x300, "ff d0", 0 }, { IN_F, "e8 7b 00 00 00 e8 76 00 00 00 48 83 c4 28 c3", 0 },
	    { IN_F + 0x80, "c3", 0 } },
	  { { 0, IN_F + 5 }, { 6, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 0x80, IN_F + 5, LIB + 0x302 }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "before a call and a jump: a signal's trampoline that no handler uses", IN_F + 5, 0,
	  { { LIB + 0x40, "b8 0f 00 00 00 0f 05", 0 },
	    { IN_F, "e8 7b 00 00 00 e8 76 00 00 00 e9 1d 00 00 00", 0 },
	    { IN_F + 0x2c, "48 83 c4 28 c3", 0 }, { IN_F + 0x80, "c3", 0 } },
	  { { 5, LIB + 0x40 }, { 6 + UCONTEXT(15), AT(60) }, { 6 + UCONTEXT(16), PROG + 0x30 },
	    { 6 + UCONTEXT(18), 0x33 } }, .no_guess = true,
	  .found = { IN_F + 5 }, .reason = KUNWIND_NO_TABLE },
	{ "before a call and a jump: a word that follows a call by pointer", IN_F + 5, 0,
	  { { LIB + 0x300, "ff d0", 0 }, { IN_F, "e8 7b 00 00 00 e8 76 00 00 00 e9 1d 00 00 00", 0 },
	    { IN_F + 0x2c, "48 83 c4 28 c3", 0 }, { IN_F + 0x80, "c3", 0 } },
	  { { 5, LIB + 0x302 } }, .no_guess = true, .found = { IN_F + 5 }, .reason = KUNWIND_NO_TABLE },
	/* sub $8, %rsp; call; jmp; ud2; add $8, %rsp; ret */
	{ "before a call and a short jump: a word after a call by pointer", IN_F, 0,
	  { { LIB + 0x300, "ff d0 48 83 c4 08 c3", 0 }, { LIB + 0x400, "ff d0", 0 },
	    { IN_F, "48 83 ec 08 e8 77 00 00 00 eb 02 0f 0b 48 83 c4 08 c3", 0 } },
	  { { 0, LIB + 0x302 }, { 2, LIB + 0x402 } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x302, LIB + 0x402 }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a short jump and a call: a called frame below a call by pointer", IN_F + 0x80, 0,
	  { { LIB + 0x300, "ff d0", 0 }, { IN_F, "e8 7b 00 00 00 eb 02 0f 0b 48 83 c4 08 c3", 0 },
	    { IN_F + 0x80, "c3", 0 } },
	  { { 0, IN_F + 5 }, { 2, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 0x80, IN_F + 5, LIB + 0x302 }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	/* call; jmp; ud2; pop %rbp; ret */
#define POPS_RBP	{ IN_F, "e8 7b 00 00 00 e9 02 00 00 00 0f 0b 5d c3", 0 }
	{ "before a call and a jump: a word above rbp, which the code restores", IN_F, AT(0),
	  { { LIB + 0x300, "ff d0", 0 }, POPS_RBP },
	  { { 1, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x302 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "before a call and a jump: a word below rbp", IN_F, AT(4),
	  { { LIB + 0x300, "ff d0", 0 }, POPS_RBP },
	  { { 1, LIB + 0x302 } }, .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "before a call and a jump: a word above rbp, which the code restores from elsewhere", IN_F, AT(1),
	  { { LIB + 0x300, "ff d0", 0 }, { IN_F, "e8 7b 00 00 00 e9 02 00 00 00 0f 0b 5d 58 c3", 0 } },
	  { { 2, LIB + 0x302 } }, .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	/* call; then another function's cold part: mov -8(%rbp), %rbx; leave; ret */
	{ "after a call that does not return, leave: a proven word below rbp is nearer", IN_F, AT(4),
	  { { LIB + 0x300, "ff d0", 0 }, { IN_F - 4, "48 83 ec 08", 0 }, { LIB + 0x200, NULL, IN_F - 4 },
	    { IN_F, "e8 7b 00 00 00 48 8b 5d f8 c9 c3", 0 } },
	  { { 1, RET_F }, { 4, 0 }, { 5, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "after a call, leave: no word below rbp is proven", IN_F, AT(4),
	  { { LIB + 0x300, "ff d0", 0 }, { IN_F, "e8 7b 00 00 00 48 8b 5d f8 c9 c3", 0 } },
	  { { 1, LIB + 0x302 }, { 4, 0 }, { 5, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x302 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* push %rax; call; nops; push %rax; jmp to itself */
	{ "a call that does not return, before another function: its caller's word is not proven",
	  IN_F + 1, 0,
	  { { LIB + 0x170, "50 e8 8a 03 00 00 66 2e 0f 1f 84 00 00 00 00 00", 0 },
	    { LIB + 0x200, NULL, LIB + 0x170 }, { IN_F, "50 eb fe", 0 } },
	  { { 2, RET_F } }, .no_guess = true, .found = { IN_F + 1 }, .reason = KUNWIND_NO_TABLE },
	{ "a call, and nops that align nothing: the caller's word is proven", LIB + 0x17c, 0,
	  { { LIB + 0x172, "50 e8 88 03 00 00 0f 1f 00 50 eb fe", 0 }, { LIB + 0x200, NULL, LIB + 0x172 } },
	  { { 2, RET_F } }, .no_guess = true,
	  .found = { LIB + 0x17c, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* The word is rejected. It follows a call, so the return is not a jump to it. */
	{ "before a call and a jump: a rejected word after a call by pointer is not skipped", IN_F, 0,
	  { { LIB + 0x300, "ff d0 48 83 c4 08 c3", 0 }, { LIB + 0x400, "ff d0", 0 },
	    { IN_F, "48 83 ec 08 e8 77 00 00 00 e9 02 00 00 00 0f 0b 48 83 c4 08 c3", 0 } },
	  { { 0, LIB + 0x302 }, { 2, LIB + 0x402 } }, .no_guess = true,
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	/* a nop follows the call, so the answer is unsure; the call before the word leads to other code */
	{ "a rejected word after a call of another function is not skipped", IN_F, 0,
	  { { LIB + 0x300, NULL, LIB + 0x500 }, { LIB + 0x305, "48 83 c4 08 c3", 0 },
	    { LIB + 0x400, "ff d0", 0 }, { LIB + 0x500, "c3", 0 },
	    { IN_F, "e8 7b 00 00 00 0f 1f 00 48 83 c4 08 c3", 0 } },
	  { { 1, LIB + 0x305 }, { 3, LIB + 0x402 } }, .no_guess = true,
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	/*
	 * 8 nops; je L; push; push; call; L: add $24, %rsp; ret. If the call
	 * returned, the return address would be 16 bytes lower.
	 */
#define NOPS	"90 90 90 90 90 90 90 90 "
#define SKIPS(jump, pops)	{ IN_F, NOPS jump " e8 6d 00 00 00 48 83 c4 " pops " c3", 0 }
#define BY_POINTER	{ LIB + 0x300, "ff d0", 0 }, { LIB + 0x400, "ff d0", 0 }
	{ "before a call that a jump skips with another rsp: the return address is the jump's", IN_F + 10, 0,
	  { BY_POINTER, SKIPS("74 09 6a 08 6a 07", "18") },
	  { { 1, LIB + 0x402 }, { 3, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 10, LIB + 0x302 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "after a call that a jump skips with another rsp: the return address is the jump's", IN_F + 0x80, 0,
	  { BY_POINTER, SKIPS("74 09 6a 08 6a 07", "18"), { IN_F + 0x80, "c3", 0 } },
	  { { 0, IN_F + 19 }, { 4, LIB + 0x402 }, { 6, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 0x80, IN_F + 19, LIB + 0x302 }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "before a call that a jump skips with the same rsp: the call returns", IN_F + 14, 0,
	  { BY_POINTER, SKIPS("6a 08 6a 07 74 05", "28") },
	  { { 3, LIB + 0x402 }, { 5, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 14, LIB + 0x302 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "before a call that no jump skips: the call returns", IN_F + 10, 0,
	  { BY_POINTER, SKIPS("90 90 6a 08 6a 07", "28") },
	  { { 1, LIB + 0x402 }, { 3, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 10, LIB + 0x302 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "before a call, and a jump to a place other than after it: the call returns", IN_F + 10, 0,
	  { BY_POINTER, SKIPS("74 0a 6a 08 6a 07", "28") },
	  { { 1, LIB + 0x402 }, { 3, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 10, LIB + 0x302 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* push; je L; add $8, %rsp; call; L: add $24, %rsp; ret */
	{ "before a call that a jump skips with a lower rsp: the call returns", IN_F + 12, 0,
	  { BY_POINTER, { IN_F, NOPS "6a 08 74 09 48 83 c4 08 e8 6b 00 00 00 48 83 c4 18 c3", 0 } },
	  { { 3, LIB + 0x402 }, { 4, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 12, LIB + 0x302 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* je B; jne L; add $24, %rsp; ret; B: push; push; call; L: add $24, %rsp; ret */
	{ "before a call in a block of its own, skipped with another rsp: the return address is the jump's",
	  IN_F + 17, 0,
	  { BY_POINTER, { IN_F, NOPS "74 07 75 0e 48 83 c4 18 c3 6a 08 6a 07 "
			       "e8 66 00 00 00 48 83 c4 18 c3", 0 } },
	  { { 1, LIB + 0x402 }, { 3, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 17, LIB + 0x302 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* jne L; ret; B: push; push; call; L: add $40, %rsp; ret; a jump to B is not found */
	{ "before a call in a block of its own, skipped from other code: the call returns", IN_F + 11, 0,
	  { BY_POINTER, { IN_F, NOPS "75 0a c3 6a 08 6a 07 e8 6c 00 00 00 48 83 c4 28 c3", 0 } },
	  { { 1, LIB + 0x402 }, { 3, LIB + 0x302 } }, .no_guess = true,
	  .found = { IN_F + 11, LIB + 0x302 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* push %rdx; call, which does not return; another function: ret */
	{ "before a call that does not return, and another function's ret: no jump to the pushed register",
	  IN_F, 0, { BY_POINTER, { IN_F, "52 e8 7a 00 00 00 c3", 0 } },
	  { { 0, LIB + 0x302 } }, .no_guess = true, .rdx = LIB + 0x402,
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
};

int main(void)
{
	return nocfi_test(cases, ARRAY_SIZE(cases), NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * nocfi-step-test.c - frames without unwind information: code and a stack by
 * hand (nocfi-scene.h)
 */
#include "nocfi-scene.h"

#define BACK	{ JIT + 0x40, "48 8b 65 f0 90", 0 }	/* mov -16(%rbp), %rsp */
#define CALL_JIT { JIT + 0x200, NULL, LIB + 0x50 }
#define TAKES_OFF "48 83 c4 10 5d 49 3b a7 40 03 00 00 77 10 c3"
#define BASE	(LIB + 0x306)	/* after a thread's first call */

/* Words 5 on of struct ucontext: struct sigcontext. */
#define UCONTEXT(n)	(5 + (n))

/*
 * mov 16(%rsp), %rdi; mov 8(%rdi), %rsi; sub (%rsp), %rsi; mov %rdi, %fs:-8;
 * mov %rsi, %rsp; mov %eax, 24(%rsp); ret
 */
#define SWITCHES_BY "48 8b 7c 24 10 48 8b 77 08 48 2b 34 24 64 48 89 3c 25 f8 ff ff ff" \
		    "48 89 f4 89 44 24 18 "	/* and how it returns */
#define SWITCHES SWITCHES_BY "c3"
/* mov 56(%rsi), %rsp; mov (%rsp), %rax; mov %rax, 56(%rsi) */
#define TAKES_RSP "48 8b 66 38 48 8b 04 24 48 89 46 38 "
#define ONE_CALL { LIB + 0x40, "c3", 0 }, { LIB + 0x178, "ff d0", 0 }
static const struct nocfi_case cases[] = {
	{ "a return instruction", IN_F, 0, { CALL_F, { IN_F, "c3", 0 } }, { { 0, RET_F } },
	  .no_guess = true, .found = { IN_F, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "a return instruction in a function that is jumped to", IN_F, 0,
	  { { LIB + 0x200, NULL, LIB + 0x400 }, { IN_F, "f2 c3", 0 } }, { { 0, RET_F } },
	  .no_guess = true, .found = { IN_F, RET_F }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a return to an address that follows no call",
	  IN_F, 0, { { IN_F, "c3", 0 } }, { { 0, RET_F } }, .found = { IN_F },
	  .reason = KUNWIND_NO_TABLE },
	{ "code that restores the flags resumes what was interrupted", IN_F, 0,
	  { CALL_F, { IN_F, "90 9d 5d c3", 0 }, { LIB + 0x300, "c3", 0 } },
	  { { 2, LIB + 0x300 }, { 3, RET_F } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x300, RET_F }, .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "code that restored the flags, at its return", IN_F + 5, 0,
	  { CALL_F, { IN_F, "90 9d 5d 41 5c c3", 0 }, { LIB + 0x300, "5b c3", 0 } },
	  { { 0, LIB + 0x300 }, { 2, RET_F } }, .no_guess = true,
	  .found = { IN_F + 5, LIB + 0x300, RET_F }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "code that will restore the flags, and has called", IN_F, 0,
	  { CALL_F, { IN_F, "c3", 0 }, { RET_F, "58 9d 5d c3", 0 }, { LIB + 0x300, "5b c3", 0 } },
	  { { 0, RET_F }, { 4, LIB + 0x300 }, { 6, RET_F } }, .no_guess = true,
	  .found = { IN_F, RET_F, LIB + 0x300, RET_F }, .trust = { REGS, CODE, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "flags that change again before the return", IN_F, 0,
	  { CALL_F, { IN_F, "90 9d 48 83 c4 08 c3", 0 }, { LIB + 0x300, "5b c3", 0 } },
	  { { 2, LIB + 0x300 }, { 4, RET_F } }, .no_guess = true,
	  .found = { IN_F, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "after a call and a nop: a word that follows a call of another function", IN_F, 0,
	  { { LIB + 0x200, NULL, LIB + 0x400 }, { IN_F, "e8 10 00 00 00 90 58 c3", 0 } },
	  { { 1, RET_F } }, .no_guess = true,
	  .found = { IN_F }, .trust = { REGS }, .reason = KUNWIND_NO_TABLE },
	{ "after a call and a nop: a word that follows a call by a register", IN_F, 0,
	  { { LIB + 0x200, "ff d0", 0 }, { IN_F, "e8 10 00 00 00 90 58 c3", 0 } },
	  { { 1, LIB + 0x202 } }, .no_guess = true, .found = { IN_F, LIB + 0x202 },
	  .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* mov 56(%rsi), %rsp; pop %rax; ret (Go's mcall() is similar) */
	{ "after rsp is read from memory: a word that follows a call of another function", IN_F + 4, 0,
	  { { LIB + 0x200, NULL, LIB + 0x400 }, { IN_F, "48 8b 66 38 58 c3", 0 } }, { { 1, RET_F } },
	  .no_guess = true, .found = { IN_F + 4 }, .trust = { REGS }, .reason = KUNWIND_NO_TABLE },
	{ "five bytes after rsp is read: a word that follows a call of another function", IN_F + 5, 0,
	  { { LIB + 0x200, NULL, LIB + 0x400 }, { IN_F, "49 8b 66 38 50 58 58 c3", 0 } }, { { 2, RET_F } },
	  .no_guess = true, .found = { IN_F + 5 }, .trust = { REGS }, .reason = KUNWIND_NO_TABLE },
	{ "after rsp is read from memory: a word that follows a call of this function", IN_F + 4, 0,
	  { CALL_F, { IN_F, "48 8b 66 38 58 c3", 0 }, { RET_F, "c3", 0 } }, { { 1, RET_F } },
	  .no_guess = true, .found = { IN_F + 4, RET_F }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "after r12 is read from memory: a word that follows a call of another function", IN_F + 4, 0,
	  { { LIB + 0x200, NULL, LIB + 0x400 }, { IN_F, "4c 8b 66 38 58 c3", 0 } }, { { 1, RET_F } },
	  .no_guess = true, .found = { IN_F + 4, RET_F }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a function that restores the flags, and was called", IN_F, 0,
	  { CALL_F, { IN_F, "90 9d c3", 0 }, { RET_F, "c3", 0 } }, { { 1, RET_F } }, .no_guess = true,
	  .found = { IN_F, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "the first instruction", F, AT(4), { CALL_F }, { { 0, RET_F }, { 4, 0 }, { 5, RET_F } },
	  .found = { F, RET_F, RET_F }, .trust = { REGS, CODE, FP }, .reason = KUNWIND_NO_TABLE },
	{ "a call through a null pointer", 0, AT(4), { { LIB + 0x200, "ff d0", 0 } }, { { 0, LIB + 0x202 } },
	  .no_guess = true, .found = { 0, LIB + 0x202 }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "an address without code, no call", NOWHERE, AT(4), { CALL_F }, { { 0, RET_F + 1 } },
	  .found = { NOWHERE }, .reason = KUNWIND_NO_OBJECT },
	{ "frame pointer", IN_F, AT(4), { CALL_F }, { { 4, 0 }, { 5, RET_F } },
	  .found = { IN_F, RET_F }, .trust = { REGS, FP }, .reason = KUNWIND_NO_TABLE },
	{ "two frame pointers", IN_F, AT(4), { CALL_F, { RET_F + 8, "ff 55 10", 0 } },
	  { { 4, AT(9) }, { 5, RET_F }, { 9, 0 }, { 10, RET_F + 11 } },
	  .found = { IN_F, RET_F, RET_F + 11 }, .trust = { REGS, FP, FP }, .reason = KUNWIND_NO_TABLE },
	{ "frame pointer, no guess allowed", IN_F, AT(4), { CALL_F }, { { 4, 0 }, { 5, RET_F } },
	  .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "frame pointer, code of a JIT", JIT + 0x180, AT(0), { { JIT + 0x10, "41 ff d2", 0 } },
	  { { 0, 0 }, { 1, JIT + 0x13 } },
	  .found = { JIT + 0x180, JIT + 0x13 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	/*
	 * a call to elsewhere stands before that word: it may be this frame's
	 * return address
	 */
	{ "frame pointer, code of a JIT, a word below it follows a call", JIT + 0x180, AT(4),
	  { { JIT + 0x10, "41 ff d2", 0 }, { JIT + 0x300, NULL, JIT + 0x20 } },
	  { { 2, JIT + 0x305 }, { 4, 0 }, { 5, JIT + 0x13 } }, .no_guess = true,
	  .found = { JIT + 0x180 }, .reason = KUNWIND_NO_OBJECT },
	{ "frame pointer, code of a JIT, too many words below it", JIT + 0x180, AT(600),
	  { { JIT + 0x10, "41 ff d2", 0 } }, { { 600, 0 }, { 601, JIT + 0x13 } }, .no_guess = true,
	  .found = { JIT + 0x180 }, .reason = KUNWIND_NO_OBJECT },
	{ "frame pointer, the one before smaller", IN_F, AT(4), { CALL_F },
	  { { 4, AT(2) }, { 5, RET_F } }, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "frame pointer, the one before smaller, caller with CFI", IN_F, AT(4), { { PROG + 0x10, NULL, F } },
	  { { 4, AT(2) }, { 5, PROG + 0x15 }, { 7, NOWHERE } },
	  .found = { IN_F, PROG + 0x15, NOWHERE }, .trust = { REGS, FP, CFI }, .reason = KUNWIND_NO_OBJECT },
	{ "frame pointer, not aligned", IN_F, AT(4) + 4, { CALL_F }, { { 4, 0 }, { 5, RET_F } },
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "frame pointer below the stack pointer", IN_F, STACK - 16, { CALL_F }, { { 0, 0 } },
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "frame pointer far away", IN_F, STACK + (2 << 20), { CALL_F }, { { 0, 0 } }, .found = { IN_F },
	  .reason = KUNWIND_NO_TABLE },
	{ "frame pointer, no call", IN_F, AT(4), { CALL_F }, { { 4, 0 }, { 5, RET_F - 1 } },
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "frame pointer, a call of something else", IN_F, AT(4),
	  { { LIB + 0x200, NULL, LIB + 0x190 } }, { { 4, 0 }, { 5, RET_F } },
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "frame pointer of the caller, no guess allowed", IN_F, AT(8),
	  { CALL_F, { LIB + 0x400, NULL, LIB + 0x50 } },
	  { { 2, RET_F }, { 8, 0 }, { 9, LIB + 0x405 } }, .no_guess = true,
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "frame pointer of the caller, scan", IN_F, AT(8), { CALL_F, { LIB + 0x400, NULL, LIB + 0x50 } },
	  { { 2, RET_F }, { 8, 0 }, { 9, LIB + 0x405 } }, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	/*
	 * a call of another function; a saved rbp that is invalid: the code
	 * ahead is used
	 */
	{ "code that leaves by rbp", IN_F, AT(4),
	  { { LIB + 0x200, NULL, LIB + 0x190 }, { IN_F, "31 c0 c9 c3", 0 } },
	  { { 4, AT(2) }, { 5, LIB + 0x205 } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x205 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* mov %rbp, %rsp; pop %rbp */
	{ "code that leaves by mov %rbp, %rsp; pop %rbp", IN_F, AT(4),
	  { { LIB + 0x200, NULL, LIB + 0x190 }, { IN_F, "31 c0 48 89 ec 5d c3", 0 } },
	  { { 4, AT(2) }, { 5, LIB + 0x205 } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x205 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* je 1f; lea -8(%rbp), %rsp; pop %rbx; pop %rbp; ret; 1: jmp back */
	{ "code that leaves by rbp, after a jump, with a saved register", IN_F, AT(4),
	  { { LIB + 0x200, NULL, LIB + 0x190 }, { IN_F, "74 07 48 8d 65 f8 5b 5d c3 eb f5", 0 } },
	  { { 4, AT(2) }, { 5, LIB + 0x205 } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x205 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "code that jumps to where it leaves by rbp", IN_F, AT(4),
	  { { LIB + 0x200, NULL, LIB + 0x190 }, { IN_F, "eb 02 06 06 c9 c3", 0 } },
	  { { 4, AT(2) }, { 5, LIB + 0x205 } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x205 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "code that only pops rbp", IN_F, AT(4),
	  { { LIB + 0x200, NULL, LIB + 0x190 }, { IN_F, "31 c0 5d c3", 0 } },
	  { { 4, AT(2) }, { 5, LIB + 0x205 } }, .no_guess = true,
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	/* push %rbp; mov %rsp, %rbp; leave */
	{ "code of the next function that makes a frame", IN_F, AT(4),
	  { { LIB + 0x200, NULL, LIB + 0x190 }, { IN_F, "55 48 89 e5 c9 c3", 0 } },
	  { { 4, AT(2) }, { 5, LIB + 0x205 } }, .no_guess = true,
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "code that returns before it leaves by rbp", IN_F, AT(4),
	  { { LIB + 0x200, NULL, LIB + 0x190 }, { IN_F, "31 c0 c3 c9 c3", 0 } },
	  { { 4, AT(2) }, { 5, LIB + 0x205 } }, .no_guess = true,
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "code that changes rbp before it leaves by rbp", IN_F, AT(4),
	  { { LIB + 0x200, NULL, LIB + 0x190 }, { IN_F, "48 89 c5 c9 c3", 0 } },
	  { { 4, AT(2) }, { 5, LIB + 0x205 } }, .no_guess = true,
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	/*
	 * F's caller at word 0; word 3 is what is at word 21 less 0x28: word 15
	 */
	{ "code that takes another stack", LIB + 0x40, 0,
	  { { LIB + 0x40, "c3", 0 }, { LIB + 0x178, "ff d0", 0 }, { LIB + 0x17a, SWITCHES, 0 }, CALL_F },
	  { { 0, LIB + 0x17a }, { 1, 0x28 }, { 3, AT(19) }, { 20, AT(20) }, { 15, RET_F } }, .no_guess = true,
	  .found = { LIB + 0x40, LIB + 0x17a, RET_F }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "code that takes another stack, rbp is popped there", LIB + 0x40, AT(5),
	  { ONE_CALL, { LIB + 0x17a, SWITCHES_BY "5d c3", 0 }, CALL_F },
	  { { 0, LIB + 0x17a }, { 1, 0x28 }, { 3, AT(19) }, { 20, AT(20) }, { 15, AT(30) },
	    { 16, RET_F }, { 30, 0 }, { 31, RET_F } },
	  .found = { LIB + 0x40, LIB + 0x17a, RET_F, RET_F }, .trust = { REGS, CODE, CODE, FP },
	  .reason = KUNWIND_NO_TABLE },
	{ "code that takes another stack, rbp becomes unknown", LIB + 0x40, AT(30),
	  { ONE_CALL, { LIB + 0x17a, SWITCHES_BY "48 89 c5 c3", 0 }, CALL_F },
	  { { 0, LIB + 0x17a }, { 1, 0x28 }, { 3, AT(19) }, { 20, AT(20) }, { 15, RET_F },
	    { 30, 0 }, { 31, RET_F } }, .no_guess = true,
	  .found = { LIB + 0x40, LIB + 0x17a, RET_F }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	/* Go's systemstack(): fs:-8 leads to AT(50), to AT(60), to AT(90), to rsp */
	{ "code that takes another stack, by thread-local storage", LIB + 0x40, 0,
	  { { LIB + 0x40, "c3", 0 }, { LIB + 0x178, "ff d0", 0 }, CALL_F,
	    { LIB + 0x17a, "64 48 8b 04 25 f8 ff ff ff 48 8b 58 30 48 8b 83 c0 00 00 00 "
	      "64 48 89 04 25 f8 ff ff ff 48 8b 60 38 48 c7 40 38 00 00 00 00 c3", 0 } },
	  { { 0, LIB + 0x17a }, { 40, AT(50) }, { 56, AT(60) }, { 84, AT(90) }, { 97, AT(100) },
	    { 100, RET_F } }, .no_guess = true, .fs = AT(41),
	  .found = { LIB + 0x40, LIB + 0x17a, RET_F }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	/* F: test %edi, %edi; je 1f; call *%rax; mov %fs:-8, %rax; mov 56(%rax), %rsp; ret; 1: jmp *%rdi */
	{ "code that takes another stack, of a function that may jump through a register", LIB + 0x40, 0,
	  { { LIB + 0x40, "c3", 0 }, CALL_F,
	    { F, "85 ff 74 12 ff d0 64 48 8b 04 25 f8 ff ff ff 48 8b 60 38 c3 90 90 ff e7", 0 } },
	  { { 0, F + 6 }, { 40, AT(50) }, { 57, AT(100) }, { 100, RET_F } }, .no_guess = true,
	  .fs = AT(41), .found = { LIB + 0x40, F + 6, RET_F }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	/* mov n(%rip), %rcx; mov %fs:(%rcx), %rax; mov 56(%rax), %rsp; ret */
	{ "code that takes another stack, by thread-local storage at a variable offset", LIB + 0x40, 0,
	  { { LIB + 0x40, "c3", 0 }, { LIB + 0x178, "ff d0", 0 }, CALL_F,
	    { LIB + 0x17a, "48 8b 0d 7f 01 00 00 64 48 8b 01 48 8b 60 38 c3", 0 },
	    { LIB + 0x300, "f8 ff ff ff ff ff ff ff", 0 } },
	  { { 0, LIB + 0x17a }, { 40, AT(50) }, { 57, AT(100) }, { 100, RET_F } }, .no_guess = true,
	  .fs = AT(41), .found = { LIB + 0x40, LIB + 0x17a, RET_F }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "code that takes another stack, by gs", LIB + 0x40, 0,
	  { { LIB + 0x40, "c3", 0 }, { LIB + 0x178, "ff d0", 0 }, CALL_F,
	    { LIB + 0x17a, "65 48 8b 04 25 f8 ff ff ff 48 8b 60 38 c3", 0 } },
	  { { 0, LIB + 0x17a }, { 40, AT(50) }, { 57, AT(100) }, { 100, RET_F } }, .no_guess = true,
	  .fs = AT(41), .found = { LIB + 0x40, LIB + 0x17a }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "code that takes another stack, by an address without a prefix", LIB + 0x40, 0,
	  { { LIB + 0x40, "c3", 0 }, { LIB + 0x178, "ff d0", 0 }, CALL_F,
	    { LIB + 0x17a, "48 8b 04 25 f8 ff ff ff 48 8b 60 38 c3", 0 } },
	  { { 0, LIB + 0x17a }, { 40, AT(50) }, { 57, AT(100) }, { 100, RET_F } }, .no_guess = true,
	  .fs = AT(41), .found = { LIB + 0x40, LIB + 0x17a }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	/* here rbp is below rsp */
	{ "a frame pointer on another stack", LIB + 0x40, AT(0),
	  { ONE_CALL, { LIB + 0x17a, TAKES_RSP "48 83 c4 18 5d c3", 0 }, CALL_F },
	  { { 0, LIB + 0x17a }, { 1, RET_F } }, .no_guess = true,
	  .found = { LIB + 0x40, LIB + 0x17a, RET_F }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a frame pointer on another stack, rbp restored by mov", LIB + 0x40, AT(0), { ONE_CALL, CALL_F,
	    { LIB + 0x17a, TAKES_RSP "75 04 90 90 90 90 48 8b 6c 24 18 48 83 c4 20 c3", 0 } },
	  { { 0, LIB + 0x17a }, { 1, RET_F } }, .no_guess = true,
	  .found = { LIB + 0x40, LIB + 0x17a, RET_F }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "a frame pointer on another stack, rbp not next to the return address", LIB + 0x40, AT(0),
	  { ONE_CALL, { LIB + 0x17a, TAKES_RSP "48 83 c4 18 5d 5b c3", 0 }, CALL_F },
	  { { 0, LIB + 0x17a }, { 1, RET_F } }, .no_guess = true,
	  .found = { LIB + 0x40, LIB + 0x17a }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "a frame pointer on another stack, rbp restored before rsp", LIB + 0x40, AT(0),
	  { ONE_CALL, { LIB + 0x17a, "48 8b 6c 24 10 " TAKES_RSP "48 83 c4 18 c3", 0 }, CALL_F },
	  { { 0, LIB + 0x17a }, { 1, RET_F } }, .no_guess = true,
	  .found = { LIB + 0x40, LIB + 0x17a }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "a frame pointer on another stack, no call of its function", LIB + 0x40, AT(0),
	  { ONE_CALL, { LIB + 0x17a, TAKES_RSP "48 83 c4 18 5d c3", 0 }, { LIB + 0x200, NULL, LIB + 0x300 } },
	  { { 0, LIB + 0x17a }, { 1, RET_F } }, .no_guess = true,
	  .found = { LIB + 0x40, LIB + 0x17a }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* word 0 again and again; a call of F before it */
	{ "code that takes another stack, in a circle", LIB + 0x40, 0,
	  { { LIB + 0x40, "c3", 0 }, { LIB + 0x178, "e8 83 ff ff ff", 0 }, { LIB + 0x17d, SWITCHES, 0 } },
	  { { 0, LIB + 0x17d }, { 1, 0xa0 }, { 3, AT(19) }, { 20, AT(20) } }, .no_guess = true,
	  .found = { LIB + 0x40, LIB + 0x17d }, .trust = { REGS, CODE }, .reason = KUNWIND_CFA_STUCK },
	{ "code that takes another stack, no call of its function", LIB + 0x40, 0,
	  { { LIB + 0x40, "c3", 0 }, { LIB + 0x178, "ff d0", 0 }, { LIB + 0x17a, SWITCHES, 0 },
	    { LIB + 0x200, NULL, LIB + 0x300 } },
	  { { 0, LIB + 0x17a }, { 1, 0x28 }, { 3, AT(19) }, { 20, AT(20) }, { 15, RET_F } }, .no_guess = true,
	  .found = { LIB + 0x40, LIB + 0x17a }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "code that takes another stack, which is not readable", LIB + 0x40, 0,
	  { { LIB + 0x40, "c3", 0 }, { LIB + 0x178, "ff d0", 0 }, { LIB + 0x17a, SWITCHES, 0 }, CALL_F },
	  { { 0, LIB + 0x17a }, { 1, 0x28 }, { 3, 8 } }, .no_guess = true,
	  .found = { LIB + 0x40, LIB + 0x17a }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	/* add $16, %rsp; pop %rbp; cmp 0x340(%r15), %rsp; ja away; ret */
	{ "a JIT's code that takes its frame off the stack", JIT + 0x180, 0,
	  { CALL_JIT, { JIT + 0x180, TAKES_OFF, 0 } },
	  { { 0, JIT + 0x205 }, { 2, AT(12) }, { 3, JIT + 0x205 }, { 12, 0 }, { 13, JIT + 0x205 } },
	  .found = { JIT + 0x180, JIT + 0x205, JIT + 0x205 },
	  .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a JIT's code that takes its frame off, no call",
	  JIT + 0x180, 0, { CALL_JIT, { JIT + 0x180, TAKES_OFF, 0 } },
	  { { 0, JIT + 0x205 }, { 2, AT(12) }, { 3, JIT + 0x206 } }, .no_guess = true,
	  .found = { JIT + 0x180 }, .reason = KUNWIND_NO_OBJECT },
	{ "a file's code that takes its frame off, called by a JIT",
	  IN_F, 0, { CALL_JIT, { IN_F, TAKES_OFF, 0 } },
	  { { 2, AT(12) }, { 3, JIT + 0x205 } }, .no_guess = true, .found = { IN_F, JIT + 0x205 },
	  .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a JIT's code that takes its frame off, called by an interpreter", JIT + 0x180, AT(9),
	  { BACK, { JIT + 0x180, TAKES_OFF, 0 } },
	  { { 2, AT(12) }, { 3, JIT + 0x40 }, { 10, AT(4) } }, .no_guess = true,
	  .found = { JIT + 0x180, JIT + 0x40 }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_OBJECT },
	/*
	 * the callee's frame at word 4; before a stub moved its return address
	 * that was at word 7
	 */
	{ "a JIT's code that takes its frame off, callee entered by a stub", JIT + 0x100, AT(4),
	  { CALL_JIT, { JIT + 0x17b, NULL, LIB + 0x50 }, { JIT + 0x180, TAKES_OFF, 0 } },
	  { { 3, AT(8) }, { 4, AT(30) }, { 5, JIT + 0x180 }, { 9, JIT + 0x205 }, { 10, AT(31) },
	    { 11, JIT + 0x205 } },
	  .found = { JIT + 0x100, JIT + 0x180, JIT + 0x205 }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_OBJECT },
	{ "a JIT's code that takes its frame off, no stack pointer of a stub", JIT + 0x100, AT(4),
	  { CALL_JIT, { JIT + 0x17b, NULL, LIB + 0x50 }, { JIT + 0x180, TAKES_OFF, 0 } },
	  { { 3, AT(4) }, { 4, AT(30) }, { 5, JIT + 0x180 }, { 9, JIT + 0x205 } },
	  .found = { JIT + 0x100, JIT + 0x180, JIT + 0x205 }, .trust = { REGS, CODE, CODE },
	  .reason = KUNWIND_NO_OBJECT },
	/* jmp to it */
	{ "a JIT's code that takes its frame off, after a jump", JIT + 0x170, 0,
	  { CALL_JIT, { JIT + 0x170, "eb 0e", 0 }, { JIT + 0x180, TAKES_OFF, 0 } },
	  { { 3, JIT + 0x205 } }, .no_guess = true, .found = { JIT + 0x170, JIT + 0x205 },
	  .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	/* je 1f; call; hlt; 1: it */
	{ "a JIT's code that takes its frame off, target of a jump", JIT + 0x178, 0,
	  { CALL_JIT, { JIT + 0x178, "74 06 e8 00 00 00 00 f4", 0 }, { JIT + 0x180, TAKES_OFF, 0 } },
	  { { 3, JIT + 0x205 } }, .no_guess = true, .found = { JIT + 0x178, JIT + 0x205 },
	  .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	/* push %rbp; sub $16, %rsp, before it */
	{ "a whole function of a JIT", JIT + 0x17b, 0,
	  { CALL_JIT, { JIT + 0x17b, "55 48 83 ec 10", 0 }, { JIT + 0x180, TAKES_OFF, 0 } },
	  { { 0, JIT + 0x205 }, { 3, JIT + 0x205 } }, .no_guess = true, .found = { JIT + 0x17b, JIT + 0x205 },
	  .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "a whole function of a JIT, after a call that does not return", LIB + 0x40, 0,
	  { { LIB + 0x40, "c3", 0 }, { JIT + 0x176, NULL, LIB + 0x40 }, CALL_JIT,
	    { JIT + 0x17b, "55 48 83 ec 10", 0 }, { JIT + 0x180, TAKES_OFF, 0 } },
	  { { 0, JIT + 0x17b }, { 1, JIT + 0x205 } }, .no_guess = true,
	  .found = { LIB + 0x40, JIT + 0x17b }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	/* leave; ret: by rbp, which is not known */
	{ "a JIT's code that leaves by rbp", JIT + 0x180, 0,
	  { CALL_JIT, { JIT + 0x180, "48 83 c4 10 c9 c3", 0 } }, { { 3, JIT + 0x205 } },
	  .no_guess = true, .found = { JIT + 0x180 }, .reason = KUNWIND_NO_OBJECT },
	/*
	 * mov -16(%rbp), %rsp: at word 12 its frame, above what it pushed for
	 * its callee
	 */
	{ "an interpreter's callee, by its frame pointer", JIT + 0x180, AT(4), { BACK },
	  { { 4, AT(12) }, { 5, JIT + 0x40 }, { 10, AT(7) } },
	  .found = { JIT + 0x180, JIT + 0x40 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "an interpreter's callee, saved rsp missing", JIT + 0x180, AT(4), { BACK },
	  { { 4, AT(12) }, { 5, JIT + 0x40 }, { 10, 0 } },
	  .found = { JIT + 0x180 }, .reason = KUNWIND_NO_OBJECT },
	{ "an interpreter's callee, saved rsp too low", JIT + 0x180, AT(4), { BACK },
	  { { 4, AT(12) }, { 5, JIT + 0x40 }, { 10, AT(5) } },
	  .found = { JIT + 0x180 }, .reason = KUNWIND_NO_OBJECT },
	{ "an interpreter's callee, saved rsp too high", JIT + 0x180, AT(4), { BACK },
	  { { 4, AT(12) }, { 5, JIT + 0x40 }, { 10, AT(12) } },
	  .found = { JIT + 0x180 }, .reason = KUNWIND_NO_OBJECT },
	{ "an interpreter's callee, frame not aligned", JIT + 0x180, AT(4), { BACK },
	  { { 4, AT(12) + 4 }, { 5, JIT + 0x40 }, { 10, AT(7) } },
	  .found = { JIT + 0x180 }, .reason = KUNWIND_NO_OBJECT },
	{ "an interpreter's callee in a file's code", IN_F, AT(4), { BACK },
	  { { 4, AT(12) }, { 5, JIT + 0x40 }, { 10, AT(7) } },
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "an interpreter in a file's code", JIT + 0x180, AT(4), { { LIB + 0x240, "48 8b 65 f0", 0 } },
	  { { 4, AT(12) }, { 5, LIB + 0x240 }, { 10, AT(7) } },
	  .found = { JIT + 0x180 }, .reason = KUNWIND_NO_OBJECT },
	{ "an interpreter's callee that pushed rbp", JIT + 0x180, AT(5), { BACK },
	  { { 2, AT(12) }, { 3, JIT + 0x40 }, { 10, AT(4) }, { 5, AT(20) }, { 6, 0x77 } },
	  .no_guess = true, .found = { JIT + 0x180, JIT + 0x40 }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_OBJECT },
	/*
	 * rbp is the caller's; of two frames that it proves the nearer is the
	 * caller
	 */
	{ "an interpreter's callee that left rbp alone", JIT + 0x180, AT(12), { BACK },
	  { { 3, JIT + 0x40 }, { 10, AT(4) }, { 12, AT(20) }, { 13, JIT + 0x40 }, { 18, AT(15) } },
	  .found = { JIT + 0x180, JIT + 0x40, JIT + 0x40 },
	  .trust = { REGS, CODE, CODE }, .reason = KUNWIND_NO_OBJECT },
	{ "an interpreter whose callee has returned", JIT + 0x180, AT(12), { BACK },
	  { { 3, JIT + 0x40 }, { 10, 0 }, { 12, AT(20) }, { 13, JIT + 0x40 }, { 18, AT(15) } },
	  .found = { JIT + 0x180, JIT + 0x40 }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_OBJECT },
	/* push %rbp; mov %rsp, %rbp; sub $24, %rsp; nop */
	{ "an old word below the frame pointer", F + 8, AT(3),
	  { CALL_F, { LIB + 0x400, NULL, LIB + 0x50 }, { F, "55 48 89 e5 48 83 ec 18 90", 0 } },
	  { { 1, LIB + 0x405 }, { 3, 0 }, { 4, RET_F } }, .no_guess = true,
	  .found = { F + 8, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "a near word below the frame pointer, code of a JIT", JIT + 0x180, AT(4),
	  { { JIT + 0x10, "41 ff d2", 0 }, { JIT + 0x40, NULL, JIT + 0x100 } },
	  { { 1, JIT + 0x45 }, { 4, 0 }, { 5, JIT + 0x13 } },
	  .found = { JIT + 0x180, JIT + 0x13 }, .trust = { REGS, FP }, .reason = KUNWIND_NO_OBJECT },

	/* push %rbx; sub $32, %rsp; nop */
	{ "return address by the function's code", F + 5, AT(9),
	  { CALL_F, { LIB + 0x400, NULL, LIB + 0x50 }, { F, "53 48 83 ec 20 90", 0 } },
	  { { 1, LIB + 0x405 }, { 5, RET_F }, { 9, 0 }, { 10, LIB + 0x405 } },
	  .found = { F + 5, RET_F, LIB + 0x405 }, .trust = { REGS, CODE, FP },
	  .reason = KUNWIND_NO_TABLE },
	/* int3, nine times; F: push %rbx; push %rax; nop. The call is by a register. */
	{ "entry that padding shows", F + 2, 0,
	  { { F - 9, "cc cc cc cc cc cc cc cc cc 53 50 90", 0 }, { LIB + 0x200, "ff d0", 0 } },
	  { { 0, LIB + 0x202 }, { 1, LIB + 0x202 }, { 2, LIB + 0x202 } }, .no_guess = true,
	  .found = { F + 2, LIB + 0x202 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "entry that padding shows, eight bytes", F + 2, 0,
	  { { F - 8, "cc cc cc cc cc cc cc cc 53 50 90", 0 }, { LIB + 0x200, "ff d0", 0 } },
	  { { 2, LIB + 0x202 } }, .no_guess = true, .found = { F + 2 }, .reason = KUNWIND_NO_TABLE },
	{ "entry that padding shows, no call", F + 2, 0,
	  { { F - 9, "cc cc cc cc cc cc cc cc cc 53 50 90", 0 } },
	  { { 2, LIB + 0x202 } }, .no_guess = true, .found = { F + 2 }, .reason = KUNWIND_NO_TABLE },
	{ "entry that padding shows, a call of another function", F + 2, 0,
	  { { F - 9, "cc cc cc cc cc cc cc cc cc 53 50 90", 0 }, { LIB + 0x200, NULL, LIB + 0x300 } },
	  { { 2, LIB + 0x205 } }, .no_guess = true, .found = { F + 2 }, .reason = KUNWIND_NO_TABLE },
	{ "entry that padding shows, after a return", F + 3, 0,
	  { { F - 9, "cc cc cc cc cc cc cc cc cc 53 50 c3 90", 0 }, { LIB + 0x200, "ff d0", 0 } },
	  { { 2, LIB + 0x202 } }, .no_guess = true, .found = { F + 3 }, .reason = KUNWIND_NO_TABLE },
	{ "entry that padding shows, code of a JIT", JIT + 0x102, 0,
	  { { JIT + 0xf7, "cc cc cc cc cc cc cc cc cc 53 50 90", 0 }, { LIB + 0x200, "ff d0", 0 } },
	  { { 2, LIB + 0x202 } }, .no_guess = true, .found = { JIT + 0x102 }, .reason = KUNWIND_NO_OBJECT },
	/* F: cmp 0x10(%r14), %rsp; push %rbp; mov %rsp, %rbp; and $-16, %rsp; nop */
	{ "entry that Go's check of the stack shows, and rbp", F + 12, AT(4),
	  { { F, "49 3b 66 10 55 48 89 e5 48 83 e4 f0 90", 0 }, { LIB + 0x200, "ff d0", 0 } },
	  { { 1, LIB + 0x202 }, { 4, 0x5555 }, { 5, LIB + 0x202 } }, .no_guess = true,
	  .found = { F + 12, LIB + 0x202 }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* push %rbp; push %rbx; nop */
	{ "return address by code that pushed rbp", F + 2, 5, { CALL_F, { F, "55 53 90", 0 } },
	  { { 1, AT(6) }, { 2, RET_F }, { 6, 0 }, { 7, RET_F } },
	  .found = { F + 2, RET_F, RET_F }, .trust = { REGS, CODE, FP }, .reason = KUNWIND_NO_TABLE },
	/*
	 * test %edi, %edi; je 1f; push %rax; pop %rax; ret; 1: push %rbx; nop
	 */
	{ "return address by code after a return", F + 8, 0,
	  { CALL_F, { F, "85 ff 74 03 50 58 c3 53 90", 0 } },
	  { { 0, RET_F }, { 1, RET_F } }, .no_guess = true,
	  .found = { F + 8, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	/* at 300: mov %ecx, %edx; jmp F; there: push %rbx; nop */
	{ "a tail call", F + 1, 0,
	  { { LIB + 0x200, NULL, LIB + 0x300 }, { LIB + 0x300, "89 ca e9 f9 fd ff ff", 0 },
	    { F, "53 90", 0 } },
	  { { 1, RET_F } }, .no_guess = true, .found = { F + 1, RET_F }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	/*
	 * at 300: push %rbx; sub $16, %rsp; test %edi, %edi; je 1f; add $16,
	 * %rsp; pop %rbx; ret; 1: add $16, %rsp; pop %rbx; jmp F
	 */
	{ "a tail call after a frame", F + 1, 0,
	  { { LIB + 0x200, NULL, LIB + 0x300 },
	    { LIB + 0x300, "53 48 83 ec 10 85 ff 74 06 48 83 c4 10 5b c3 "
	      "48 83 c4 10 5b e9 e7 fd ff ff", 0 },
	    { F, "53 90", 0 } },
	  { { 1, RET_F } }, .no_guess = true, .found = { F + 1, RET_F }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	/* at 300: push %rbx; jmp F */
	{ "a jump that leaves something on the stack", F + 1, 0,
	  { { LIB + 0x200, NULL, LIB + 0x300 }, { LIB + 0x300, "53 e9 fa fd ff ff", 0 },
	    { F, "53 90", 0 } },
	  { { 1, RET_F } }, .no_guess = true, .found = { F + 1 }, .reason = KUNWIND_NO_TABLE },
	/* push %rbp; mov %rsp, %rbp; 1: push %rax; dec %ecx; jne 1b; nop */
	{ "a frame pointer, below which a loop pushed", F + 9, AT(8),
	  { CALL_F, { LIB + 0x400, NULL, LIB + 0x50 }, { F, "55 48 89 e5 50 ff c9 75 fb 90", 0 } },
	  { { 0, LIB + 0x405 }, { 2, RET_F }, { 8, 5 }, { 9, RET_F } }, .no_guess = true,
	  .found = { F + 9, RET_F }, .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },
	{ "a frame pointer, below which a loop pushed, rbp not known", F + 9, 0,
	  { CALL_F, { F, "55 48 89 e5 50 ff c9 75 fb 90", 0 } },
	  { { 2, RET_F }, { 8, 5 }, { 9, RET_F } }, .no_guess = true,
	  .found = { F + 9 }, .reason = KUNWIND_NO_TABLE },
	/* and $-16, %rsp; nop */
	{ "code that realigned its stack", F + 4, 0, { CALL_F, { F, "48 83 e4 f0 90", 0 } },
	  { { 1, RET_F } }, .no_guess = true, .found = { F + 4 }, .reason = KUNWIND_NO_TABLE },

	{ "scan, the first call is of something else", IN_F, 0,
	  { CALL_F, { LIB + 0x300, NULL, LIB + 0x400 } },
	  { { 1, LIB + 0x305 }, { 3, LIB + 0x500 }, { 5, RET_F } },
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "scan, past a word that follows no call", IN_F, 0, { { LIB + 0x200, "ff d0", 0 } },
	  { { 3, LIB + 0x500 }, { 5, LIB + 0x202 } },
	  .found = { IN_F, LIB + 0x202 }, .trust = { REGS, SCAN }, .reason = KUNWIND_NO_TABLE },
	{ "scan, a call of a neighbour", IN_F, 0, { CALL_F }, { { 5, RET_F } },
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "scan, a call of a neighbour, code of a JIT", JIT + 0x180, 0, { { JIT + 0x10, NULL, JIT + 0x100 } },
	  { { 5, JIT + 0x15 } }, .found = { JIT + 0x180, JIT + 0x15 }, .trust = { REGS, SCAN },
	  .reason = KUNWIND_NO_OBJECT },
	{ "scan, no guess allowed", IN_F, 0, { { LIB + 0x200, "ff d0", 0 } },
	  { { 5, LIB + 0x202 } }, .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "scan, the last word", IN_F, 0, { { LIB + 0x200, "ff d0", 0 } }, { { 511, LIB + 0x202 } },
	  .found = { IN_F, LIB + 0x202 }, .trust = { REGS, SCAN }, .reason = KUNWIND_NO_TABLE },
	{ "scan, a word too far", IN_F, 0, { { LIB + 0x200, "ff d0", 0 } }, { { 512, LIB + 0x202 } },
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "scan into CFI", JIT + 0x40, 0, { { PROG + 0x10, "ff 14 25 00 00 00 00", 0 } },
	  { { 7, PROG + 0x17 }, { 9, NOWHERE } },
	  .found = { JIT + 0x40, PROG + 0x17, NOWHERE }, .trust = { REGS, SCAN, CFI },
	  .reason = KUNWIND_NO_OBJECT },

	/* endbr64; bnd jmp *0xf5(%rip): 0xb + 0xf5 after the stub's start */
	{ "a call through the PLT", F, 0,
	  { { PROG + 0x10, NULL, PROG + 0x200 },
	    { PROG + 0x200, "f3 0f 1e fa f2 ff 25 f5 00 00 00", 0 },
	    { PROG + 0x300, "00 01 01 00 00 00 00 00", 0 } },
	  { { 0, PROG + 0x15 }, { 2, NOWHERE } }, .no_guess = true,
	  .found = { F, PROG + 0x15, NOWHERE }, .trust = { REGS, CODE, CFI },
	  .reason = KUNWIND_NO_OBJECT },
	{ "a call through two jumps", F, 0,
	  { { LIB + 0x200, NULL, LIB + 0x300 }, { LIB + 0x300, "eb 0e", 0 },
	    { LIB + 0x310, "e9 eb fd ff ff", 0 } },
	  { { 0, RET_F } }, .no_guess = true, .found = { F, RET_F }, .trust = { REGS, CODE },
	  .reason = KUNWIND_NO_TABLE },
	{ "jumps in a circle", F, 0, { { LIB + 0x200, NULL, LIB + 0x300 }, { LIB + 0x300, "eb fe", 0 } },
	  { { 0, RET_F } }, .no_guess = true, .found = { F }, .reason = KUNWIND_NO_TABLE },
	/* 0x206 + 0xfa */
	{ "a call through the GOT", F, 0,
	  { { LIB + 0x200, "ff 15 fa 00 00 00", 0 }, { LIB + 0x300, "00 01 01 00 00 00 00 00", 0 } },
	  { { 0, LIB + 0x206 } }, .no_guess = true, .found = { F, LIB + 0x206 },
	  .trust = { REGS, CODE }, .reason = KUNWIND_NO_TABLE },

	{ "where a goroutine begins", IN_F, AT(4),
	  { { LIB + 0x33f, "cc 90 e8 7b 00 00 00 90", 0 }, { IN_F, "48 83 c4 08 c3", 0 } },
	  { { 1, LIB + 0x341 } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x341 }, .trust = { REGS, CODE }, .reason = KUNWIND_COMPLETE },
	/*
	 * xor %ebp, %ebp; pop %rdi; call *%r9; mov %eax, %edi; xor %eax, %eax;
	 * mov $60, %al; syscall; hlt
	 */
	{ "where a thread begins", IN_F, 0,
	  { { LIB + 0x300, "31 ed 5f 41 ff d1 89 c7 31 c0 b0 3c 0f 05 f4", 0 } },
	  { { 5, BASE } }, .no_guess = true,
	  .found = { IN_F, BASE }, .trust = { REGS, CODE }, .reason = KUNWIND_COMPLETE },
	{ "where a thread begins, rbp in use", IN_F, 0x123,
	  { { LIB + 0x300, "31 ed 5f 41 ff d1 89 c7 31 c0 b0 3c 0f 05 f4", 0 } },
	  { { 5, BASE } }, .no_guess = true,
	  .found = { IN_F, BASE }, .trust = { REGS, CODE }, .reason = KUNWIND_COMPLETE },
	{ "where a thread begins, by exit_group", IN_F, 0,
	  { { LIB + 0x300, "31 ed 5f 41 ff d1 89 c7 b8 e7 00 00 00 0f 05 0f 0b", 0 } },
	  { { 5, BASE } }, .no_guess = true,
	  .found = { IN_F, BASE }, .trust = { REGS, CODE }, .reason = KUNWIND_COMPLETE },
	{ "where no thread begins: rbp not cleared", IN_F, 0,
	  { { LIB + 0x300, "31 c0 5f 41 ff d1 89 c7 31 c0 b0 3c 0f 05 f4", 0 } },
	  { { 5, BASE } }, .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "where no thread begins: rbp used before the call", IN_F, 0,
	  { { LIB + 0x300, "31 ed 5d 41 ff d1 89 c7 31 c0 b0 3c 0f 05 f4", 0 } },
	  { { 5, BASE } }, .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "where no thread begins: another system call", IN_F, 0,
	  { { LIB + 0x300, "31 ed 5f 41 ff d1 89 c7 31 c0 b0 3d 0f 05 f4", 0 } },
	  { { 5, BASE } }, .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "where no thread begins: code goes on after the system call", IN_F, 0,
	  { { LIB + 0x300, "31 ed 5f 41 ff d1 89 c7 31 c0 b0 3c 0f 05 c3", 0 } },
	  { { 5, BASE } }, .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "where no thread begins: a call before the system call", IN_F, 0,
	  { { LIB + 0x300, "31 ed 5f 41 ff d1 ff d3 31 c0 b0 3c 0f 05 f4", 0 } },
	  { { 5, BASE } }, .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "where no thread begins: system call number not known", IN_F, 0,
	  { { LIB + 0x300, "31 ed 5f 41 ff d1 89 c7 b0 3c 0f 05 f4", 0 } },
	  { { 5, BASE } }, .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "where no thread begins: not aligned as in the psABI", IN_F, 0,
	  { { LIB + 0x300, "31 ed 5f 41 ff d1 89 c7 31 c0 b0 3c 0f 05 f4", 0 } },
	  { { 4, BASE } }, .no_guess = true, .found = { IN_F }, .reason = KUNWIND_NO_TABLE },
	{ "where no thread begins: a word that follows a call below", IN_F, 0,
	  { { LIB + 0x300, "31 ed 5f 41 ff d1 89 c7 31 c0 b0 3c 0f 05 f4", 0 },
	    { LIB + 0x400, NULL, LIB + 0x50 } },
	  { { 1, LIB + 0x405 }, { 5, BASE } }, .no_guess = true,
	  .found = { IN_F }, .reason = KUNWIND_NO_TABLE },

	/* the word at the stack pointer is struct ucontext's first */
	{ "a signal's trampoline", PROG + 0x20, 0, { { LIB + 0x40, "48 c7 c0 0f 00 00 00 0f 05", 0 } },
	  { { 1, LIB + 0x40 }, { 2 + UCONTEXT(15), AT(60) }, { 2 + UCONTEXT(16), PROG + 0x30 },
	    { 2 + UCONTEXT(18), 0x002b000000000033 }, { 61, NOWHERE } }, .no_guess = true,
	  .found = { PROG + 0x20, LIB + 0x40, PROG + 0x30, NOWHERE },
	  .trust = { REGS, CFI, SIGNAL, CFI }, .reason = KUNWIND_NO_OBJECT },
	{ "a signal's trampoline with a 32-bit mov", PROG + 0x20, 0,
	  { { LIB + 0x40, "b8 0f 00 00 00 0f 05", 0 } },
	  { { 1, LIB + 0x40 }, { 2 + UCONTEXT(15), AT(60) }, { 2 + UCONTEXT(16), PROG + 0x30 },
	    { 2 + UCONTEXT(18), 0x002b000000000033 }, { 61, NOWHERE } }, .no_guess = true,
	  .found = { PROG + 0x20, LIB + 0x40, PROG + 0x30, NOWHERE },
	  .trust = { REGS, CFI, SIGNAL, CFI }, .reason = KUNWIND_NO_OBJECT },
	{ "a signal's trampoline above rbp", IN_F, AT(4), { { LIB + 0x40, "48 c7 c0 0f 00 00 00 0f 05", 0 } },
	  { { 4, 0 }, { 5, LIB + 0x40 }, { 6 + UCONTEXT(15), AT(60) }, { 6 + UCONTEXT(16), PROG + 0x30 },
	    { 6 + UCONTEXT(18), 0x33 }, { 61, NOWHERE } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x40, PROG + 0x30, NOWHERE }, .trust = { REGS, CODE, SIGNAL, CFI },
	  .reason = KUNWIND_NO_OBJECT },
	{ "a signal's trampoline, at the entry of rt_sigreturn", LIB + 0x49, 0,
	  { { LIB + 0x40, "48 c7 c0 0f 00 00 00 0f 05", 0 } },
	  { { UCONTEXT(15), AT(60) }, { UCONTEXT(16), PROG + 0x30 }, { UCONTEXT(18), 0x33 },
	    { 61, NOWHERE } }, .no_guess = true, .found = { LIB + 0x49, PROG + 0x30, NOWHERE },
	  .trust = { REGS, SIGNAL, CFI }, .reason = KUNWIND_NO_OBJECT },
	{ "a signal's trampoline without its frame", LIB + 0x49, 0,
	  { { LIB + 0x40, "48 c7 c0 0f 00 00 00 0f 05", 0 } },
	  { { UCONTEXT(15), AT(60) }, { UCONTEXT(16), PROG + 0x30 }, { UCONTEXT(18), 0x23 } },
	  .no_guess = true, .found = { LIB + 0x49 }, .reason = KUNWIND_NO_TABLE },

	{ "a return probe", PROG + 0x20, 0, { { 0, NULL, 0 } }, { { 1, NOWHERE }, { 3, NOWHERE + 8 } },
	  .no_guess = true, .probe_slot = AT(1), .probe_return = PROG + 0x40,
	  .found = { PROG + 0x20, PROG + 0x40, NOWHERE + 8 }, .trust = { REGS, PROBE, CFI },
	  .reason = KUNWIND_NO_OBJECT },
	{ "return probe: its trampoline after a frame without code", 0, 0,
	  { { PROG + 0x3e, "ff d0", 0 } }, { { 0, NOWHERE }, { 1, NOWHERE } }, .no_guess = true,
	  .probe_slot = AT(0), .probe_return = PROG + 0x40, .found = { 0, PROG + 0x40, 0x1111 },
	  .trust = { REGS, CODE, CFI }, .reason = KUNWIND_NO_OBJECT },
	{ "signal: the stack pointer is not a user's", LIB + 0x40, 0,
	  { { LIB + 0x40, "48 c7 c0 0f 00 00 00 0f 05", 0 } },
	  { { UCONTEXT(15), 1ULL << 63 }, { UCONTEXT(16), PROG + 0x30 }, { UCONTEXT(18), 0x33 } },
	  .no_guess = true, .found = { LIB + 0x40 }, .reason = KUNWIND_UNREADABLE },
	{ "return probe: its record is left after longjmp(), and the slot has a real address", PROG + 0x20, 0,
	  { { 0, NULL, 0 } }, { { 1, NOWHERE + 16 } },
	  .no_guess = true, .probe_slot = AT(1), .probe_return = PROG + 0x40,
	  .found = { PROG + 0x20, NOWHERE + 16 }, .trust = { REGS, CFI }, .reason = KUNWIND_NO_OBJECT },
	{ "an address in no code, above the return address of a call to elsewhere", 0, 0,
	  { { LIB + 0x200, NULL, LIB + 0x300 } }, { { 0, LIB + 0x205 } },
	  .no_guess = true, .found = { 0 }, .reason = KUNWIND_NO_OBJECT },
	{ "a return probe of another frame", PROG + 0x20, 0, { { 0, NULL, 0 } }, { { 1, NOWHERE } },
	  .no_guess = true, .probe_slot = AT(3), .probe_return = PROG + 0x40,
	  .found = { PROG + 0x20, NOWHERE }, .trust = { REGS, CFI }, .reason = KUNWIND_NO_OBJECT },
	{ "a return probe's record without code", PROG + 0x20, 0, { { 0, NULL, 0 } }, { { 1, NOWHERE } },
	  .no_guess = true, .probe_slot = AT(1), .probe_return = NOWHERE + 64, .reason = KUNWIND_NO_OBJECT,
	  .found = { PROG + 0x20, NOWHERE }, .trust = { REGS, CFI } },
	{ "a return probe at a frame pointer", IN_F, AT(4), { CALL_F },
	  { { 4, 0 }, { 5, NOWHERE } }, .probe_slot = AT(5), .probe_return = RET_F,
	  .found = { IN_F, RET_F }, .trust = { REGS, FP }, .reason = KUNWIND_NO_TABLE },
};

/*
 * Each ff /2, by the manual's table of ModRM and SIB; the same bytes as /3 are
 * no call.
 */
static void test_forms(void)
{
	unsigned int modrm, sib, bad = 0, forms = 0;
	unsigned long addresses[2];
	u8 trust[2];

	for (modrm = 0; modrm < 256; modrm++)
		for (sib = 0; sib < 256; sib += 1) {
			unsigned int mod = modrm >> 6, rm = modrm & 7, reg = modrm >> 3 & 7;
			u8 bytes[7] = { 0xff, modrm, 0x90, 0x90, 0x90, 0x90, 0x90 };
			struct kunwind_walk walk;
			unsigned int len = 2;

			if ((reg != 2 && reg != 3) || (mod != 3 && rm == 4 ? false : sib))
				continue;
			if (mod != 3 && rm == 4)
				bytes[len++] = sib;
			len += mod == 1;
			if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
				len += 4;
			clear();
			put(LIB + 0x200, bytes, len);
			stack[3] = LIB + 0x200 + len;
			walk = walk_from(IN_F, 0, true, addresses, trust, 2);
			kunwind_walk(&walk);
			forms++;
			if ((walk.count == 2) != (reg == 2) && bad++ < 3)
				printf("# ff %02x %02x, %u bytes: %u frames\n", modrm, sib, len,
				       walk.count);
		}
	tap_ok(!bad && forms == 2 * (8 + 3 * 7 + 3 * 256),
	       "no CFI: calls are recognized among %u forms of the opcode ff", forms);
}

static u64 random_number(void)
{
	static u64 seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 33;
}

static u64 random_code(void)
{
	return LIB + random_number() % 3 * (JIT - LIB) + random_number() % MAPPED;
}

/* Random code and stack: each walk ends, reads in bounds, and has a reason. */
static void test_random(void)
{
	static unsigned long addresses[256];
	static u8 trust[256];
	unsigned int round, i, frames = 0, bad = 0;

	for (round = 0; round < 3000; round++) {
		struct kunwind_walk walk;

		if (!(round % 16)) {
			for (i = 0; i < sizeof(code); i++)
				code[i] = "\xe8\xff\xff\xd0\x15\xe9\xeb\xff\x00\x00\x00\x00\xf3"
					  "\x0f\x05\x48\x10\x55\xc3\x25"[random_number() % 20];
		}
		for (i = 0; i < WORDS; i++)
			stack[i] = random_number() % 2 ? random_code() :
				   random_number() % 4 ? AT(random_number() % WORDS) :
							 random_number();
		walk = walk_from(random_code(), AT(random_number() % WORDS), round & 1, addresses,
				 trust, 256);
		if (kunwind_walk(&walk) >= KUNWIND_NR_REASONS || walk.count < 1 || walk.count > 256)
			bad++;
		for (i = 1; i < walk.count; i++) {
			bad += trust[i] == REGS || trust[i] >= KUNWIND_NR_TRUSTS ||
			       (!(round & 1) && trust[i] == SCAN);
			frames += trust[i] != CFI;
		}
		for (i = walk.count + 1; i < 256; i++)
			bad += trust[i] != CFI;
	}
	if (!tap_ok(!bad && frames > 1000, "no CFI: walks of random code and stacks end in bounds"))
		printf("# %u bad, %u frames\n", bad, frames);
}
int main(void)
{
	unsigned int i;

	if (!nocfi_begin())
		return 1;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		test_case(&cases[i]);
	for (i = KUNWIND_BY_CFI + 1; i < KUNWIND_NR_METHODS; i++)
		tap_ok(decided[i], "method %s: decides a frame of these cases", kunwind_method_name(i));
	test_forms();
	test_random();
	nocfi_end();
	return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * nocfi-begin-test.c - stacks that end, complete, where a thread, a goroutine or a
 * fiber began (nocfi-scene.h)
 */
#include "nocfi-scene.h"

#define BASE	(LIB + 0x306)	/* after a thread's first call */

static const struct nocfi_case cases[] = {
	{ "where a goroutine begins", IN_F, AT(4),
	  { { LIB + 0x33f, "cc 90 e8 7b 00 00 00 90", 0 }, { IN_F, "48 83 c4 08 c3", 0 } },
	  { { 1, LIB + 0x341 } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x341 }, .trust = { REGS, CODE }, .reason = KUNWIND_COMPLETE },
	/* make_fcontext(): push %rbp; jmp *%rbx; xor %rdi, %rdi; call _exit; hlt */
	{ "where a fiber begins", IN_F, AT(4),
	  { { LIB + 0x33d, "55 ff e3 48 31 ff e8 7b 00 00 00 f4", 0 }, { IN_F, "48 83 c4 08 c3", 0 } },
	  { { 1, LIB + 0x340 } }, .no_guess = true,
	  .found = { IN_F, LIB + 0x340 }, .trust = { REGS, CODE }, .reason = KUNWIND_COMPLETE },
	{ "the code where a fiber begins", LIB + 0x340, 0,
	  { { LIB + 0x33f, "c3 48 31 ff e8 7b 00 00 00 f4", 0 } },
	  { { 0, NOWHERE } }, .no_guess = true, .found = { LIB + 0x340 }, .reason = KUNWIND_NO_TABLE },
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
};

int main(void)
{
	return nocfi_test(cases, ARRAY_SIZE(cases), NULL);
}

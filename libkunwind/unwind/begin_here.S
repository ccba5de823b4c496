/* SPDX-License-Identifier: MIT */
/*
 * begin_here.S - kunwind_walk_begin_here(): store the registers that the caller has after
 * this call returns
 *
 * As libkunwind/control/capture.S, but into the walk itself. rdi is the walk.
 */
#include "begin_here.h"

	.text
	.globl	kunwind_walk_begin_here
	.type	kunwind_walk_begin_here, @function
	.p2align 4
kunwind_walk_begin_here:
	.cfi_startproc
	endbr64
	movq	(%rsp), %rax			/* return address */
	leaq	8(%rsp), %rcx			/* the caller's rsp */
	movq	%rbx, UNWIND_REGS_AT + 3*8(%rdi)
	movq	%rbp, UNWIND_REGS_AT + 6*8(%rdi)
	movq	%rcx, UNWIND_REGS_AT + 7*8(%rdi)
	movq	%r12, UNWIND_REGS_AT + 12*8(%rdi)
	movq	%r13, UNWIND_REGS_AT + 13*8(%rdi)
	movq	%r14, UNWIND_REGS_AT + 14*8(%rdi)
	movq	%r15, UNWIND_REGS_AT + 15*8(%rdi)
	movq	%rax, UNWIND_REGS_AT + 16*8(%rdi)
	jmp	unwind_begin_here
	.cfi_endproc
	.size	kunwind_walk_begin_here, . - kunwind_walk_begin_here

	.hidden	unwind_begin_here
	.section .note.GNU-stack, "", @progbits

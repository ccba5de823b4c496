/* SPDX-License-Identifier: MIT */
/*
 * begin_here.S - kunwind_walk_begin_here(): store the registers that the caller has after
 * this call returns
 *
 * As libkunwind/control/capture.S.
 */
	.text
	.globl	kunwind_walk_begin_here
	.type	kunwind_walk_begin_here, @function
	.p2align 4
kunwind_walk_begin_here:
	.cfi_startproc
	endbr64
	movq	(%rsp), %rax			/* return address */
	leaq	8(%rsp), %rcx			/* the caller's rsp */
	subq	$136, %rsp			/* 17 words; keeps rsp 16-byte aligned */
	.cfi_adjust_cfa_offset 136
	movq	%rbx, 3*8(%rsp)
	movq	%rbp, 6*8(%rsp)
	movq	%rcx, 7*8(%rsp)
	movq	%r12, 12*8(%rsp)
	movq	%r13, 13*8(%rsp)
	movq	%r14, 14*8(%rsp)
	movq	%r15, 15*8(%rsp)
	movq	%rax, 16*8(%rsp)
	movq	%rsp, %rdx			/* third argument */
	call	unwind_begin_here
	addq	$136, %rsp
	.cfi_adjust_cfa_offset -136
	ret
	.cfi_endproc
	.size	kunwind_walk_begin_here, . - kunwind_walk_begin_here

	.hidden	unwind_begin_here
	.section .note.GNU-stack, "", @progbits

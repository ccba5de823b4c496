/* SPDX-License-Identifier: MIT */
/*
 * capture.S - kunwind_callstack(): store the caller's registers, get the stack
 *
 * The registers are those that the caller has right after this call returns:
 * rip is the return address, rsp is above it, and the callee-saved registers
 * have the caller's values. Therefore the walk starts in the calling function
 * and does not see the library. Source: x86-64 psABI 3.2.1 (registers), figure
 * 3.36 (numbers).
 */
	.text
	.globl	kunwind_callstack
	.type	kunwind_callstack, @function
	.p2align 4
kunwind_callstack:
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
	movq	%rsp, %rcx			/* fourth argument: regs */
	call	kunwind_callstack_captured
	addq	$136, %rsp
	.cfi_adjust_cfa_offset -136
	ret
	.cfi_endproc
	.size	kunwind_callstack, . - kunwind_callstack

	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/*
 * stubs.S - for each point a function of its name, which compares the stacks and
 * then jumps to the real function
 *
 * The real function gets all arguments, and the stack as it was. An unwinder or
 * getcontext() there sees the real caller, so the program does the same as
 * without this library.
 */
	.altmacro
	.set	number, 0

.macro	stub	name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	.irp	reg, rdi, rsi, rdx, rcx, r8, r9, rax
	pushq	%\reg
	.cfi_adjust_cfa_offset 8
	.endr
	movl	$number, %edi
	call	others_point
	.irp	reg, rax, r9, r8, rcx, rdx, rsi, rdi
	popq	%\reg
	.cfi_adjust_cfa_offset -8
	.endr
	movq	others_real@GOTPCREL(%rip), %r11
	jmp	*number*8(%r11)
	.cfi_endproc
	.size	\name, . - \name
	.set	number, number + 1
.endm

#define POINT(name) stub name;
	.text
#include "points.h"
	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/*
 * context.S - by_r12(array, nr, size, compare): calls qsort() while its CFA is
 * in r12; only qsort()'s own CFI gives the place where it saves r12
 */
	.text
	.globl	by_r12
	.type	by_r12, @function
by_r12:
	.cfi_startproc
	push	%r12
	.cfi_def_cfa_offset 16
	.cfi_offset %r12, -16
	mov	%rsp, %r12
	.cfi_def_cfa_register %r12
	sub	$128, %rsp
	and	$-64, %rsp
	call	qsort@PLT
	mov	%r12, %rsp
	.cfi_def_cfa_register %rsp
	pop	%r12
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	by_r12, . - by_r12
	.section .note.GNU-stack, "", @progbits

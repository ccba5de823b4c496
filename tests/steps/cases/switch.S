/* SPDX-License-Identifier: MIT */
/*
 * switch.S - on_stack(top, fn): calls fn on another stack, with CFI that leads
 * back (as in the Rust crate psm)
 */
	.text
	.globl	on_stack
	.type	on_stack, @function
on_stack:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	%rdi, %rsp
	call	*%rsi
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	on_stack, . - on_stack
	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/*
 * signal.S - a handler without CFI that has a frame pointer; a restorer without
 * CFI directly after a function with CFI (as in dietlibc); a restorer inside a
 * function, whose CFI covers it (as in Breakpad)
 */
	/* a function whose CFA is not where a trampoline's signal frame is */
	.macro begin_with_cfi
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	push	%r12
	.cfi_def_cfa_offset 24
	ud2
	.endm

	.text
	.globl	bare_handler, before_restorer, bare_restorer, inside_restorer
	.type	bare_handler, @function
bare_handler:
	push	%rbp
	mov	%rsp, %rbp
	sub	$16, %rsp
	call	handled
	leave
	ret
	.size	bare_handler, . - bare_handler

	.type	before_restorer, @function
before_restorer:
	begin_with_cfi
	.cfi_endproc
	.size	before_restorer, . - before_restorer
	.type	bare_restorer, @function
bare_restorer:
	mov	$15, %rax
	syscall
	.size	bare_restorer, . - bare_restorer
	.type	around_restorer, @function
around_restorer:
	begin_with_cfi
inside_restorer:
	mov	$15, %eax
	syscall
	ud2
	.cfi_endproc
	.size	around_restorer, . - around_restorer
	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/*
 * bare.S - functions without CFI, called from C that has CFI (bare-main.c)
 *
 * Each calls the function that it gets as its argument.
 */
	.text
	.globl	bare_pointer, bare_leaf, bare_push, bare_frame, bare_push_ret, bare_many, bare_saves
	.globl	bare_resume
	.type	bare_pointer, @function
/* Calls through a pointer, and does not change rbp. */
bare_pointer:
	sub	$24, %rsp
	call	*%rdi
	add	$24, %rsp
	ret
	.size	bare_pointer, . - bare_pointer

	.type	bare_leaf, @function
bare_leaf:
	lea	1(%rdi), %rax
	nop
	ret
	.size	bare_leaf, . - bare_leaf

	.type	bare_push, @function
bare_push:
	push	%rbx
	push	%r12
	mov	%rdi, %rbx
	call	*%rbx
	pop	%r12
	pop	%rbx
	ret
	.size	bare_push, . - bare_push

	.type	bare_frame, @function
bare_frame:
	push	%rbp
	mov	%rsp, %rbp
	sub	$32, %rsp
	call	*%rdi
	leave
	ret
	.size	bare_frame, . - bare_frame

/* Jumps to a pushed address by ret. */
	.type	bare_push_ret, @function
bare_push_ret:
	push	%rdi
	nop
	ret
	.size	bare_push_ret, . - bare_push_ret

/* Jumps by ret to an address after a call (as Guile's code does). */
	.type	bare_resume, @function
bare_resume:
	lea	1f(%rip), %rax
	push	%rax
	ret
	call	*%rdi
1:	nop
	ret
	.size	bare_resume, . - bare_resume

/* Calls another function without CFI, directly. */
	.type	bare_many, @function
bare_many:
	push	%rbx
	mov	%rdi, %rbx
	call	.Lsecond
	pop	%rbx
	ret
	.size	bare_many, . - bare_many
	.type	.Lsecond, @function
.Lsecond:
	sub	$40, %rsp
	call	*%rbx
	add	$40, %rsp
	ret
	.size	.Lsecond, . - .Lsecond

/* Uses rbp as a general register. */
	.type	bare_saves, @function
bare_saves:
	push	%rbp
	push	%rbx
	sub	$8, %rsp
	mov	%rdi, %rbp
	call	*%rbp
	add	$8, %rsp
	pop	%rbx
	pop	%rbp
	ret
	.size	bare_saves, . - bare_saves
	.section .note.GNU-stack, "", @progbits

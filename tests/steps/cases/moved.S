/* SPDX-License-Identifier: MIT */
/*
 * moved.S - functions without CFI that move their return address: the caller's rsp is then
 * not the address above it
 *
 * Each gets a function to call, or NULL. In the first three, the arguments that follow the return
 * address are the function's own, which it also removes.
 */
	.text
	.globl	moved_push, moved_sub, moved_copy, moved_back, moved_twice, moved_up, moved_word
	.globl	moved_frame, moved_loop
	.type	moved_push, @function
moved_push:
	pop	%rcx
	push	%rdi
	push	%rsi
	push	%rcx
	push	%rbx
	mov	%rdi, %rbx
	call	*%rbx
	pop	%rbx
	ret	$16
	.size	moved_push, . - moved_push

	.type	moved_sub, @function
moved_sub:
	pop	%rax
	sub	$32, %rsp
	push	%rax
	sub	$8, %rsp
	call	*%rdi
	add	$8, %rsp
	ret	$32
	.size	moved_sub, . - moved_sub

	.type	moved_copy, @function
moved_copy:
	mov	(%rsp), %rax
	sub	$16, %rsp
	mov	%rax, (%rsp)
	push	%rbx
	call	*%rdi
	pop	%rbx
	ret	$16
	.size	moved_copy, . - moved_copy

/* It is back in its place before the return. */
	.type	moved_back, @function
moved_back:
	pop	%rcx
	sub	$16, %rsp
	push	%rcx
	push	%rbx
	call	*%rdi
	pop	%rbx
	pop	%rcx
	add	$16, %rsp
	push	%rcx
	ret
	.size	moved_back, . - moved_back

	.type	moved_twice, @function
moved_twice:
	pop	%rcx
	push	%rdi
	push	%rcx
	sub	$8, %rsp
	call	*%rdi
	add	$8, %rsp
	pop	%rcx
	push	(%rsp)
	push	%rcx
	call	*8(%rsp)
	ret	$16
	.size	moved_twice, . - moved_twice

/* Its caller has put two words on the stack, which it removes. */
	.type	moved_up, @function
moved_up:
	push	%rbx
	call	*16(%rsp)
	pop	%rbx
	pop	%rcx
	lea	16(%rsp), %rsp
	push	%rcx
	ret
	.size	moved_up, . - moved_up

	.type	moved_word, @function
moved_word:
	push	(%rsp)
	push	%rbx
	sub	$8, %rsp
	call	*%rdi
	add	$8, %rsp
	pop	%rbx
	ret	$8
	.size	moved_word, . - moved_word

	.type	moved_frame, @function
moved_frame:
	pop	%rdx
	push	%rdi
	push	%rdi
	push	%rdx
	push	%rbp
	mov	%rsp, %rbp
	push	%rbx
	push	%rdi
	call	*%rdi
	test	%eax, %eax
	je	1f
	mov	-8(%rbp), %rbx
	leave
	ret	$16
1:	xor	%eax, %eax
	mov	-8(%rbp), %rbx
	leave
	ret	$16
	.size	moved_frame, . - moved_frame

	.type	moved_loop, @function
moved_loop:
	pop	%rdx
	push	%rdi
	push	%rdi
	push	%rdx
	push	%rbx
	mov	$3, %ebx
1:	mov	16(%rsp), %rdi
	call	*%rdi
	dec	%ebx
	jne	1b
	pop	%rbx
	ret	$16
	.size	moved_loop, . - moved_loop
	.section .note.GNU-stack, "", @progbits

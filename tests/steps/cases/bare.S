/* SPDX-License-Identifier: MIT */
/*
 * bare.S - functions without CFI, called from C that has CFI (bare-main.c)
 *
 * Each calls the function that it gets as its argument.
 */
	.text
	.globl	bare_pointer, bare_leaf, bare_push, bare_frame, bare_push_ret, bare_many, bare_saves
	.globl	bare_resume, bare_kept, bare_kept_inside, bare_kept_push, bare_held
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

/* Keep the old rsp when they align rsp: in memory, as libjpeg-turbo, dav1d and libvpx do. */
	.type	bare_kept, @function
bare_kept:
	push	%rbp
	mov	%rsp, %rax
	sub	$4, %rsp
	and	$-32, %rsp
	mov	%rax, (%rsp)
	mov	%rsp, %rbp
	lea	-64(%rbp), %rsp
	push	%r10
	sub	$24, %rsp
	call	*%rdi
	add	$24, %rsp
	pop	%r10
	mov	%rbp, %rsp
	pop	%rsp
	pop	%rbp
	ret
	.size	bare_kept, . - bare_kept

	.type	bare_kept_inside, @function
bare_kept_inside:
	push	%rbx
	push	%r13
	mov	%rsp, %r13
	and	$-64, %rsp
	sub	$0x140, %rsp
	mov	%r13, 0x110(%rsp)
	xor	%r13d, %r13d
	movaps	%xmm0, 0x100(%rsp)
	call	*%rdi
	mov	0x110(%rsp), %rsp
	pop	%r13
	pop	%rbx
	ret
	.size	bare_kept_inside, . - bare_kept_inside

	.type	bare_kept_push, @function
bare_kept_push:
	mov	%rsp, %rax
	and	$-16, %rsp
	lea	-8(%rsp), %rsp
	push	%rax
	sub	$0x100, %rsp
	call	*%rdi
	add	$0x100, %rsp
	pop	%rsp
	ret
	.size	bare_kept_push, . - bare_kept_push

/* In a register, as dav1d and x265 do. */
	.type	bare_held, @function
bare_held:
	mov	%rsp, %r9
	sub	$0x100, %rsp
	and	$-64, %rsp
	xor	%eax, %eax
	mov	$3, %ecx
1:	movaps	%xmm0, (%rsp)
	add	%ecx, %eax
	dec	%ecx
	jne	1b
	mov	%r9, %rsp
	ret
	.size	bare_held, . - bare_held

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

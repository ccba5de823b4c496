/* SPDX-License-Identifier: MIT */
/*
 * again.S - save() keeps its return address in memory during a call, and pushes
 * it back; again() makes that call return a second time (as longjmp() does in
 * musl's sigsetjmp()). In save(), only the code after the push has CFI.
 */
	.text
	.globl	save, again
	.type	save, @function
save:
	pop	(%rdi)
	mov	%rbx, 8(%rdi)
	mov	%rdi, %rbx
	call	note
	push	(%rbx)
	.cfi_startproc
	mov	8(%rbx), %rbx
	nop
	ret
	.cfi_endproc
	.size	save, . - save

	.type	note, @function
note:
	.cfi_startproc
	mov	(%rsp), %rdx
	mov	%rdx, 16(%rdi)
	lea	8(%rsp), %rdx
	mov	%rdx, 24(%rdi)
	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	note, . - note

	.type	again, @function
again:
	mov	%rdi, %rbx
	mov	$1, %eax
	mov	24(%rbx), %rsp
	jmp	*16(%rbx)
	.size	again, . - again
	.section .note.GNU-stack, "", @progbits

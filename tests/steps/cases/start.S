/* SPDX-License-Identifier: MIT */
/*
 * start.S - a program without libc and without CFI: frames near the entry's rsp
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	xor	%ebp, %ebp
	mov	$3, %edi
	call	first
	mov	%eax, %edi
	mov	$231, %eax
	syscall
	hlt
	.size	_start, . - _start
	.type	first, @function
first:
	call	second
	ret
	.size	first, . - first
	.type	second, @function
second:
	push	%rbx
	mov	%edi, %ebx
	call	third
	pop	%rbx
	ret
	.size	second, . - second
	.type	third, @function
third:
	lea	(%rdi, %rdi), %eax
	nop
	ret
	.size	third, . - third
	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/*
 * entry.S - for cases without libc: the entry point, with CFI that ends the
 * stack, calls main()
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined %rip
	xor	%ebp, %ebp
	call	main
	mov	%eax, %edi
	mov	$231, %eax
	syscall
	hlt
	.cfi_endproc
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits

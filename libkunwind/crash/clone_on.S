/* SPDX-License-Identifier: MIT */
/*
 * clone_on.S - start a process that shares the memory of this one, on a stack of its own
 *
 * long crash_clone_on(unsigned long flags, void *top, void (*function)(void *), void *data);
 *
 * Returns the process id, or a negative errno value. The new process ends when the function
 * returns.
 */
	.text
	.globl crash_clone_on
	.hidden crash_clone_on
	.type crash_clone_on, @function
crash_clone_on:
	.cfi_startproc
	endbr64
	sub $16, %rsi
	mov %rdx, (%rsi)
	mov %rcx, 8(%rsi)
	xor %edx, %edx
	xor %r10d, %r10d
	xor %r8d, %r8d
	mov $56, %eax			/* clone */
	syscall
	test %rax, %rax
	jz 1f
	ret
	.cfi_undefined %rip
1:	xor %ebp, %ebp
	pop %rax
	pop %rdi
	call *%rax
	xor %edi, %edi
	mov $231, %eax			/* exit_group */
	syscall
	hlt
	.cfi_endproc
	.size crash_clone_on, . - crash_clone_on
	.section .note.GNU-stack, "", @progbits

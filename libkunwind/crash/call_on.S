/* SPDX-License-Identifier: MIT */
/*
 * call_on.S - call a function on another stack, so that a signal handler can end the call
 *
 * bool crash_call_on(void *top, void (*function)(void *), void *data, struct crash_return *back);
 *
 * Keeps in *back where the call returns to: the stack pointer, which is not 0 while the function
 * runs, and an address. Returns true; false if a handler has set these two registers. The CFA is
 * by rbp, so debuggers walk through the switch.
 */
	.text
	.globl crash_call_on
	.hidden crash_call_on
	.type crash_call_on, @function
crash_call_on:
	.cfi_startproc
	endbr64
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	.cfi_offset %rbx, -24
	.cfi_offset %r12, -32
	.cfi_offset %r13, -40
	.cfi_offset %r14, -48
	.cfi_offset %r15, -56
	mov %rcx, %rbx
	lea 1f(%rip), %rax
	mov %rax, 8(%rcx)
	mov %rsp, (%rcx)
	mov %rdi, %rsp
	mov %rdx, %rdi
	call *%rsi
	mov (%rbx), %rsp
	movq $0, (%rbx)
	mov $1, %eax
	jmp 2f
	.cfi_def_cfa %rsp, 56
	/* rsp is the only register that is known here */
1:	xor %eax, %eax
2:	pop %r15
	.cfi_def_cfa_offset 48
	.cfi_restore %r15
	pop %r14
	.cfi_def_cfa_offset 40
	.cfi_restore %r14
	pop %r13
	.cfi_def_cfa_offset 32
	.cfi_restore %r13
	pop %r12
	.cfi_def_cfa_offset 24
	.cfi_restore %r12
	pop %rbx
	.cfi_def_cfa_offset 16
	.cfi_restore %rbx
	pop %rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size crash_call_on, . - crash_call_on
	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/*
 * frames.h - functions for stacks.cc with frames that no compiler makes, in
 * assembly of x86-64 and of i386
 *
 * first_byte() faults at its first byte: the row of that byte must be used, not
 * that of the byte before. The other functions are explained by their comments.
 * CFA offsets are absolute, because clang's assembler does not reset its
 * adjustments at .cfi_restore_state, and would write negative offsets.
 */
#ifndef FRAMES_H
#define FRAMES_H

#ifdef __x86_64__
asm(R"(
	.pushsection .text
	.type before_first_byte, @function
before_first_byte:
	.cfi_startproc
	sub	$72, %rsp
	.cfi_adjust_cfa_offset 72
	nop
	.cfi_endproc
	.size before_first_byte, . - before_first_byte
	.type first_byte, @function
first_byte:
	.cfi_startproc
	ud2
	ret
	.cfi_endproc
	.size first_byte, . - first_byte
	.type drap_by_expression, @function
drap_by_expression:			# the CFA is found in memory, as with DRAP
	.cfi_startproc
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and	$-64, %rsp
	push	-8(%r10)
	push	%rbp
	mov	%rsp, %rbp
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00	# rbp at *(rbp + 0)
	push	%r10
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06	# CFA = *(rbp - 8)
	push	%rbx
	xor	%ebx, %ebx
	sub	$16, %rsp
	call	*%rdi
	add	$16, %rsp
	pop	%rbx
	pop	%r10
	.cfi_def_cfa %r10, 0
	pop	%rbp
	.cfi_restore %rbp
	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size drap_by_expression, . - drap_by_expression
	.type return_in_register, @function
return_in_register:			# as vfork does it: the return address is in rbp
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	8(%rsp), %rbp
	.cfi_register %rip, %rbp
	movq	$0, 8(%rsp)
	sub	$16, %rsp
	.cfi_def_cfa_offset 32
	call	*%rdi
	add	$16, %rsp
	.cfi_def_cfa_offset 16
	mov	%rbp, 8(%rsp)
	.cfi_offset %rip, -8
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size return_in_register, . - return_in_register
	.type early_return, @function
early_return:				# two epilogues: remember and restore the state
	.cfi_startproc
	push	%r12
	.cfi_def_cfa_offset 16
	.cfi_offset %r12, -16
	push	%r13
	.cfi_def_cfa_offset 24
	.cfi_offset %r13, -24
	sub	$8, %rsp
	.cfi_def_cfa_offset 32
	test	%rdi, %rdi
	jnz	1f
	.cfi_remember_state
	add	$8, %rsp
	.cfi_def_cfa_offset 24
	pop	%r13
	.cfi_def_cfa_offset 16
	pop	%r12
	.cfi_def_cfa_offset 8
	ret
	.cfi_restore_state
1:	xor	%r12d, %r12d
	xor	%r13d, %r13d
	call	*%rdi
	add	$8, %rsp
	.cfi_def_cfa_offset 24
	pop	%r13
	.cfi_def_cfa_offset 16
	pop	%r12
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size early_return, . - early_return
	.popsection
)");
#else
asm(R"(
	.pushsection .text
	.type before_first_byte, @function
before_first_byte:
	.cfi_startproc
	sub	$72, %esp
	.cfi_adjust_cfa_offset 72
	nop
	.cfi_endproc
	.size before_first_byte, . - before_first_byte
	.type first_byte, @function
first_byte:
	.cfi_startproc
	ud2
	ret
	.cfi_endproc
	.size first_byte, . - first_byte
	.type drap_by_expression, @function
drap_by_expression:			# the CFA is found in memory, as with DRAP
	.cfi_startproc
	mov	4(%esp), %eax
	lea	4(%esp), %ecx
	.cfi_def_cfa %ecx, 0
	and	$-64, %esp
	push	-4(%ecx)
	push	%ebp
	mov	%esp, %ebp
	.cfi_escape 0x10, 0x05, 0x02, 0x75, 0x00	# ebp at *(ebp + 0)
	push	%ecx
	.cfi_escape 0x0f, 0x03, 0x75, 0x7c, 0x06	# CFA = *(ebp - 4)
	push	%ebx
	xor	%ebx, %ebx
	sub	$16, %esp
	call	*%eax
	add	$16, %esp
	pop	%ebx
	pop	%ecx
	.cfi_def_cfa %ecx, 0
	pop	%ebp
	.cfi_restore %ebp
	lea	-4(%ecx), %esp
	.cfi_def_cfa %esp, 4
	ret
	.cfi_endproc
	.size drap_by_expression, . - drap_by_expression
	.type return_in_register, @function
return_in_register:			# as vfork does it: the return address is in ebp
	.cfi_startproc
	mov	4(%esp), %eax
	push	%ebp
	.cfi_def_cfa_offset 8
	.cfi_offset %ebp, -8
	mov	4(%esp), %ebp
	.cfi_register %eip, %ebp
	movl	$0, 4(%esp)
	sub	$8, %esp
	.cfi_def_cfa_offset 16
	call	*%eax
	add	$8, %esp
	.cfi_def_cfa_offset 8
	mov	%ebp, 4(%esp)
	.cfi_offset %eip, -4
	pop	%ebp
	.cfi_def_cfa_offset 4
	.cfi_restore %ebp
	ret
	.cfi_endproc
	.size return_in_register, . - return_in_register
	.type early_return, @function
early_return:				# two epilogues: remember and restore the state
	.cfi_startproc
	mov	4(%esp), %eax
	push	%ebx
	.cfi_def_cfa_offset 8
	.cfi_offset %ebx, -8
	push	%esi
	.cfi_def_cfa_offset 12
	.cfi_offset %esi, -12
	sub	$4, %esp
	.cfi_def_cfa_offset 16
	test	%eax, %eax
	jnz	1f
	.cfi_remember_state
	add	$4, %esp
	.cfi_def_cfa_offset 12
	pop	%esi
	.cfi_def_cfa_offset 8
	pop	%ebx
	.cfi_def_cfa_offset 4
	ret
	.cfi_restore_state
1:	xor	%ebx, %ebx
	xor	%esi, %esi
	call	*%eax
	add	$4, %esp
	.cfi_def_cfa_offset 12
	pop	%esi
	.cfi_def_cfa_offset 8
	pop	%ebx
	.cfi_def_cfa_offset 4
	ret
	.cfi_endproc
	.size early_return, . - early_return
	.popsection
)");
#endif

extern "C" {
void first_byte();
void drap_by_expression(void (*)());
void return_in_register(void (*)());
void early_return(void (*)());
}

#endif /* FRAMES_H */

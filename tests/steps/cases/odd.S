/* SPDX-License-Identifier: MIT */
/*
 * odd.S - CFI that is legal and rare. Each build defines one of ODD_COLUMN,
 * ODD_REGISTER, ODD_STATES and ODD_OPCODE, because an object that cannot be
 * read loses the CFI of all its functions.
 */
	.text
	.globl	odd
	.type	odd, @function
odd:
	.cfi_startproc
#ifdef ODD_COLUMN
	.cfi_return_column 17
	.cfi_offset 17, -8
#endif
#ifdef ODD_REGISTER
	/* DW_CFA_undefined 300 */
	.cfi_escape 0x07, 0xac, 0x02
#endif
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
#ifdef ODD_STATES
	.rept	20
	.cfi_remember_state
	nop
	.endr
#endif
	call	*%rdi
#ifdef ODD_STATES
	.rept	20
	.cfi_restore_state
	nop
	.endr
#endif
	pop	%rbx
	.cfi_def_cfa_offset 8
#ifdef ODD_OPCODE
	nop
	/* An unknown opcode: the rows before it are valid. */
	.cfi_escape 0x17
#endif
	ret
	.cfi_endproc
	.size	odd, . - odd
	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * expr.h - check the DWARF expressions of CFI
 *
 * The builder checks each expression once. The evaluator (expr_eval.h) runs it
 * in the walk. Acceptable operations are literals, constants, registers, stack
 * operations, arithmetic, logic, comparisons, dereferences, nop, the CFA, and
 * branches. Branches must go forward, so an expression of n bytes ends after at
 * most n operations. Source: DWARF 5, 2.5.1, 6.4.2, 7.7.1.
 *
 * Two kinds of expression are not acceptable. The first kind is invalid: an
 * operand past the end, an operation on an empty stack, a branch into an
 * operation, an opcode that DWARF 5 does not define. The second kind is legal
 * but "unknown" to kunwind: operations that need debug information or
 * relocation (DW_OP_addr, fbreg, call*, piece, entry_value, typed and vendors'
 * operations), registers above the return address except the base of fs, branches back, code that
 * nothing reaches, paths that meet with different stack depths, and what
 * exceeds the limits below. In both cases only the rows with the expression
 * have no rule (cfi_program.h).
 */
#ifndef _KUNWIND_EXPR_H
#define _KUNWIND_EXPR_H

#include "../kunwind_core.h"

#define KUNWIND_EXPR_MAX_LEN	256	/* bytes */
#define KUNWIND_EXPR_MAX_DEPTH	32	/* entries of its stack */

enum kunwind_op {
	KUNWIND_OP_DEREF	= 0x06,
	KUNWIND_OP_CONST1U	= 0x08,
	KUNWIND_OP_CONST1S	= 0x09,
	KUNWIND_OP_CONST2U	= 0x0a,
	KUNWIND_OP_CONST2S	= 0x0b,
	KUNWIND_OP_CONST4U	= 0x0c,
	KUNWIND_OP_CONST4S	= 0x0d,
	KUNWIND_OP_CONST8U	= 0x0e,
	KUNWIND_OP_CONST8S	= 0x0f,
	KUNWIND_OP_CONSTU	= 0x10,
	KUNWIND_OP_CONSTS	= 0x11,
	KUNWIND_OP_DUP		= 0x12,
	KUNWIND_OP_DROP		= 0x13,
	KUNWIND_OP_OVER		= 0x14,
	KUNWIND_OP_PICK		= 0x15,
	KUNWIND_OP_SWAP		= 0x16,
	KUNWIND_OP_ROT		= 0x17,
	KUNWIND_OP_ABS		= 0x19,
	KUNWIND_OP_AND		= 0x1a,
	KUNWIND_OP_DIV		= 0x1b,
	KUNWIND_OP_MINUS	= 0x1c,
	KUNWIND_OP_MOD		= 0x1d,
	KUNWIND_OP_MUL		= 0x1e,
	KUNWIND_OP_NEG		= 0x1f,
	KUNWIND_OP_NOT		= 0x20,
	KUNWIND_OP_OR		= 0x21,
	KUNWIND_OP_PLUS		= 0x22,
	KUNWIND_OP_PLUS_UCONST	= 0x23,
	KUNWIND_OP_SHL		= 0x24,
	KUNWIND_OP_SHR		= 0x25,
	KUNWIND_OP_SHRA		= 0x26,
	KUNWIND_OP_XOR		= 0x27,
	KUNWIND_OP_BRA		= 0x28,
	KUNWIND_OP_EQ		= 0x29,
	KUNWIND_OP_GE		= 0x2a,
	KUNWIND_OP_GT		= 0x2b,
	KUNWIND_OP_LE		= 0x2c,
	KUNWIND_OP_LT		= 0x2d,
	KUNWIND_OP_NE		= 0x2e,
	KUNWIND_OP_SKIP		= 0x2f,
	KUNWIND_OP_LIT0		= 0x30,
	KUNWIND_OP_LIT31	= 0x4f,
	KUNWIND_OP_REG0		= 0x50,
	KUNWIND_OP_REG31	= 0x6f,
	KUNWIND_OP_BREG0	= 0x70,
	KUNWIND_OP_BREG31	= 0x8f,
	KUNWIND_OP_REGX		= 0x90,
	KUNWIND_OP_BREGX	= 0x92,
	KUNWIND_OP_DEREF_SIZE	= 0x94,
	KUNWIND_OP_NOP		= 0x96,
	KUNWIND_OP_CALL_FRAME_CFA = 0x9c,
};

/* Forms that a rule can represent without the expression itself. */
enum kunwind_expr_shape {
	KUNWIND_EXPR_ANY,
	KUNWIND_EXPR_DEREF,	/* breg REG OFF; deref; maybe plus_uconst ADD */
	KUNWIND_EXPR_PLT,	/* see kunwind_expr_check() */
};

struct kunwind_expr_info {
	u32 regs;		/* KUNWIND_REG() bits of the registers that it reads */
	u8 shape;		/* enum kunwind_expr_shape */
	bool unknown;		/* not to be evaluated; the other members are then undefined */
	u8 reg;			/* DEREF */
	s32 off;		/* DEREF, PLT: as in struct kunwind_rule */
};

/**
 * kunwind_expr_check() - check whether an expression is acceptable
 * @initial: the CFA is pushed first (true except for the CFA's own expression)
 * @i386: the expression is of 32-bit code; info->regs and info->reg have
 *	kunwind's register numbers in any case
 *
 * Checks every operation, the target of every branch, and the stack depth on
 * every path, up to the end or to the first unknown operation. Time is linear
 * in @len; takes 600 bytes of stack; neither sleeps nor allocates.
 *
 * Return: KUNWIND_OK and *info (info->unknown: legal but not to be evaluated),
 * or KUNWIND_E_EXPRESSION.
 */
enum kunwind_build_error __must_check
kunwind_expr_check(const u8 *expr, size_t len, bool initial, bool i386,
		   struct kunwind_expr_info *info);

#endif /* _KUNWIND_EXPR_H */

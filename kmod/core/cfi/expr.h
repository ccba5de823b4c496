/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * expr.h - DWARF expressions of CFI: which are acceptable, and what they need
 *
 * An expression is checked once, while the table is built; the evaluator
 * (expr_eval.h) then runs it in the walk. Acceptable are literals, constants,
 * registers, stack, arithmetic, logic, comparison, dereference, nop, the CFA,
 * and branches that only go forward: so it ends after at most its length in
 * operations. Source: DWARF 5, 2.5.1, 6.4.2, 7.7.1.
 *
 * Two kinds of expression are not acceptable: what contradicts itself (an
 * operand past the end, an empty stack, a branch into an operation), and
 * what is legal but not for us, "unknown": operations that need
 * debug information or relocation (DW_OP_addr, fbreg, call*, piece,
 * entry_value, typed and vendors' operations), registers above the return
 * address, branches back, and what exceeds the limits below. Either way only the rows with
 * the expression are without a rule (program.h).
 */
#ifndef _KUNWIND_EXPR_H
#define _KUNWIND_EXPR_H

#include "../kunwind_core.h"

#define KUNWIND_EXPR_MAX_LEN	256	/* bytes */
#define KUNWIND_EXPR_MAX_DEPTH	32	/* numbers on its stack */

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

/* Shapes that a rule can hold without the expression itself. */
enum kunwind_expr_shape {
	KUNWIND_EXPR_ANY,
	KUNWIND_EXPR_DEREF,	/* breg REG OFF; deref */
	KUNWIND_EXPR_PLT,	/* see kunwind_expr_check() */
};

struct kunwind_expr_info {
	u32 regs;		/* KUNWIND_REG() bits of the registers that it reads */
	u8 shape;		/* enum kunwind_expr_shape */
	bool unknown;		/* legal, not to be evaluated; all else is then of no meaning */
	u8 reg;			/* DEREF */
	s32 off;		/* DEREF: bytes; PLT: threshold, 0 to 31 */
};

/**
 * kunwind_expr_check() - is an expression acceptable?
 * @initial: whether the CFA is pushed first (all but the CFA's own expression)
 * @i386: it is of 32-bit code; info->regs and reg are ours all the same
 *
 * Checks every operation, each branch's target, and the depth of the stack on
 * every path, up to where it ends or becomes unknown. Linear in @len; 600
 * bytes of stack.
 * Return: KUNWIND_OK and *info, or KUNWIND_E_EXPRESSION.
 */
enum kunwind_refusal __must_check
kunwind_expr_check(const u8 *expr, size_t len, bool initial, bool i386,
		   struct kunwind_expr_info *info);

#endif /* _KUNWIND_EXPR_H */

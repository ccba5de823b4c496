/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * expr_eval.h - evaluate a DWARF expression in the walk
 *
 * Each user includes this file (full_rule.c, tests), because it reads memory by
 * the inline functions of kunwind_deps.h. Any context, NMI included. No window
 * may be open. Each operation moves forward by at least one byte, so the
 * evaluation ends after at most @len operations. This file does not trust the
 * table's bytes: it checks all bounds again that expr.c checked when the table
 * was built. Stack: 400 bytes.
 */
#ifndef _KUNWIND_EXPR_EVAL_H
#define _KUNWIND_EXPR_EVAL_H

#include "../cfi/bytes.h"
#include "../cfi/expr.h"
#include "../x86/i386.h"
#include "mem.h"

/*
 * Converts a number to the form that the expression's stack holds. In 32-bit
 * code, it is sign-extended from 32 bits, so that signed operations are the
 * same as in 64-bit code.
 */
static __always_inline u64 kunwind_expr_fit(bool i386, u64 val)
{
	return i386 ? (u64)(s32)val : val;
}

/* Converts a number of the stack for unsigned operations and for use as an address. */
static __always_inline u64 kunwind_expr_unsigned(bool i386, u64 val)
{
	return i386 ? (u32)val : val;
}

/* Replaces two numbers (@a below @b) by one. False: @op is unknown, or divides by 0. */
static __always_inline bool kunwind_expr_binary(u8 op, bool i386, u64 a, u64 b, u64 *result)
{
	switch (op) {
	case KUNWIND_OP_AND:
		*result = a & b;
		return true;
	case KUNWIND_OP_DIV:
		if (!b)
			return false;
		/* The smallest number divided by -1 would trap. */
		*result = b == ~0ULL ? -a : (u64)((s64)a / (s64)b);
		return true;
	case KUNWIND_OP_MINUS:
		*result = a - b;
		return true;
	case KUNWIND_OP_MOD:
		if (!b)
			return false;
		*result = kunwind_expr_unsigned(i386, a) % kunwind_expr_unsigned(i386, b);
		return true;
	case KUNWIND_OP_MUL:
		*result = a * b;
		return true;
	case KUNWIND_OP_OR:
		*result = a | b;
		return true;
	case KUNWIND_OP_PLUS:
		*result = a + b;
		return true;
	case KUNWIND_OP_SHL:
		*result = b < 64 ? a << b : 0;
		return true;
	case KUNWIND_OP_SHR:
		*result = b < 64 ? kunwind_expr_unsigned(i386, a) >> b : 0;
		return true;
	case KUNWIND_OP_SHRA:
		*result = (u64)((s64)a >> (b < 64 ? b : 63));
		return true;
	case KUNWIND_OP_XOR:
		*result = a ^ b;
		return true;
	case KUNWIND_OP_EQ:
		*result = a == b;
		return true;
	case KUNWIND_OP_GE:
		*result = (s64)a >= (s64)b;
		return true;
	case KUNWIND_OP_GT:
		*result = (s64)a > (s64)b;
		return true;
	case KUNWIND_OP_LE:
		*result = (s64)a <= (s64)b;
		return true;
	case KUNWIND_OP_LT:
		*result = (s64)a < (s64)b;
		return true;
	case KUNWIND_OP_NE:
		*result = a != b;
		return true;
	}
	return false;
}

/**
 * kunwind_expr_eval() - evaluate an expression of a table
 * @mem: the memory reader; no window may be open
 * @regs: registers of the frame; KUNWIND_RA is its program counter
 * @initial: the CFA, to be pushed first; NULL for the CFA's own expression
 * @i386: the expression is of 32-bit code, and has the register numbers of the
 *	i386 psABI
 * @result: top of the stack at the end
 *
 * Return: KUNWIND_COMPLETE; KUNWIND_REG_UNKNOWN, KUNWIND_UNREADABLE, or
 * KUNWIND_CORRUPT (bytes that expr.c would not accept; division by zero).
 */
static enum kunwind_reason kunwind_walk_attr
kunwind_expr_eval(struct kunwind_mem *mem, const u8 *expr, u16 len,
		  const struct kunwind_regs *regs, const u64 *initial, bool i386, u64 *result)
{
	struct kunwind_bytes b = { .at = expr, .end = expr + len };
	u64 stack[KUNWIND_EXPR_MAX_DEPTH];
	const unsigned int no_reg = ~0U;
	unsigned int sp = 0;	/* numbers on the stack */

	if (initial)
		stack[sp++] = kunwind_expr_fit(i386, *initial);

	while (b.at < b.end) {
		unsigned int need, reg = no_reg, i;
		u8 op = kunwind_bytes_u8(&b);
		bool push = false;
		u64 val = 0, base;

		switch (op) {
		case KUNWIND_OP_LIT0 ... KUNWIND_OP_LIT31:
			val = op - KUNWIND_OP_LIT0;
			push = true;
			break;
		case KUNWIND_OP_REG0 ... KUNWIND_OP_REG31:
			reg = op - KUNWIND_OP_REG0;
			break;
		case KUNWIND_OP_BREG0 ... KUNWIND_OP_BREG31:
			reg = op - KUNWIND_OP_BREG0;
			val = kunwind_bytes_sleb(&b);
			break;
		case KUNWIND_OP_REGX:
		case KUNWIND_OP_BREGX:
			base = kunwind_bytes_uleb(&b);
			val = op == KUNWIND_OP_BREGX ? kunwind_bytes_sleb(&b) : 0;
			if (base == KUNWIND_FS_BASE && !i386) {
				base = kunwind_mem_fs(mem);
				if (!base)
					return KUNWIND_REG_UNKNOWN;
				val += base;
				push = true;
				break;
			}
			if (base >= KUNWIND_NR_REGS)
				return KUNWIND_CORRUPT;
			reg = base;
			break;
		case KUNWIND_OP_CONST1U:
			val = kunwind_bytes_u8(&b);
			push = true;
			break;
		case KUNWIND_OP_CONST1S:
			val = (s8)kunwind_bytes_u8(&b);
			push = true;
			break;
		case KUNWIND_OP_CONST2U:
			val = kunwind_bytes_u16(&b);
			push = true;
			break;
		case KUNWIND_OP_CONST2S:
			val = (s16)kunwind_bytes_u16(&b);
			push = true;
			break;
		case KUNWIND_OP_CONST4U:
			val = kunwind_bytes_u32(&b);
			push = true;
			break;
		case KUNWIND_OP_CONST4S:
			val = (s32)kunwind_bytes_u32(&b);
			push = true;
			break;
		case KUNWIND_OP_CONST8U:
		case KUNWIND_OP_CONST8S:
			val = kunwind_bytes_u64(&b);
			push = true;
			break;
		case KUNWIND_OP_CONSTU:
			val = kunwind_bytes_uleb(&b);
			push = true;
			break;
		case KUNWIND_OP_CONSTS:
			val = kunwind_bytes_sleb(&b);
			push = true;
			break;
		case KUNWIND_OP_CALL_FRAME_CFA:
			if (!initial)
				return KUNWIND_CORRUPT;
			val = *initial;
			push = true;
			break;
		case KUNWIND_OP_DUP:
		case KUNWIND_OP_OVER:
		case KUNWIND_OP_PICK:
			i = op == KUNWIND_OP_PICK ? kunwind_bytes_u8(&b) : op == KUNWIND_OP_OVER;
			if (i >= sp)
				return KUNWIND_CORRUPT;
			val = stack[kunwind_index(sp - 1 - i, (unsigned int)KUNWIND_EXPR_MAX_DEPTH)];
			push = true;
			break;
		case KUNWIND_OP_DROP:
			if (!sp)
				return KUNWIND_CORRUPT;
			sp--;
			break;
		case KUNWIND_OP_SWAP:
			if (sp < 2)
				return KUNWIND_CORRUPT;
			val = stack[sp - 1];
			stack[sp - 1] = stack[sp - 2];
			stack[sp - 2] = val;
			break;
		case KUNWIND_OP_ROT:
			if (sp < 3)
				return KUNWIND_CORRUPT;
			val = stack[sp - 1];
			stack[sp - 1] = stack[sp - 2];
			stack[sp - 2] = stack[sp - 3];
			stack[sp - 3] = val;
			break;
		case KUNWIND_OP_DEREF:
		case KUNWIND_OP_DEREF_SIZE:
			need = op == KUNWIND_OP_DEREF ? kunwind_word(i386) : kunwind_bytes_u8(&b);
			if (!sp || (need != 1 && need != 2 && need != 4 && need != 8))
				return KUNWIND_CORRUPT;
			val = kunwind_expr_unsigned(i386, stack[sp - 1]);
			if (!kunwind_read_size(mem, val, need, &val))
				return KUNWIND_UNREADABLE;
			stack[sp - 1] = kunwind_expr_fit(i386, val);
			break;
		case KUNWIND_OP_ABS:
		case KUNWIND_OP_NEG:
			if (!sp)
				return KUNWIND_CORRUPT;
			if (op == KUNWIND_OP_NEG || (s64)stack[sp - 1] < 0)
				stack[sp - 1] = kunwind_expr_fit(i386, -stack[sp - 1]);
			break;
		case KUNWIND_OP_NOT:
			if (!sp)
				return KUNWIND_CORRUPT;
			stack[sp - 1] = ~stack[sp - 1];
			break;
		case KUNWIND_OP_PLUS_UCONST:
			val = kunwind_bytes_uleb(&b);
			if (!sp)
				return KUNWIND_CORRUPT;
			stack[sp - 1] = kunwind_expr_fit(i386, stack[sp - 1] + val);
			break;
		case KUNWIND_OP_SKIP:
		case KUNWIND_OP_BRA:
			/* Forward only. kunwind_bytes_skip() checks the end. */
			i = kunwind_bytes_u16(&b);
			if (i > 0x7fff)
				return KUNWIND_CORRUPT;
			if (op == KUNWIND_OP_BRA) {
				if (!sp)
					return KUNWIND_CORRUPT;
				if (!stack[--sp])
					break;
			}
			kunwind_bytes_skip(&b, i);
			break;
		case KUNWIND_OP_NOP:
			break;
		default:
			if (sp < 2 || !kunwind_expr_binary(op, i386, stack[sp - 2], stack[sp - 1],
							   &val))
				return KUNWIND_CORRUPT;
			stack[--sp - 1] = kunwind_expr_fit(i386, val);
			break;
		}

		if (reg != no_reg) {
			reg = kunwind_reg_of(i386, reg);
			if (reg >= KUNWIND_NR_REGS)
				return KUNWIND_CORRUPT;
			if (!(regs->valid & KUNWIND_REG(reg)))
				return KUNWIND_REG_UNKNOWN;
			val += regs->r[kunwind_index(reg, (unsigned int)KUNWIND_NR_REGS)];
			push = true;
		}
		if (push) {
			if (sp == KUNWIND_EXPR_MAX_DEPTH)
				return KUNWIND_CORRUPT;
			stack[kunwind_index(sp, (unsigned int)KUNWIND_EXPR_MAX_DEPTH)] =
				kunwind_expr_fit(i386, val);
			sp++;
		}
	}
	if (b.bad || !sp)
		return KUNWIND_CORRUPT;
	*result = kunwind_expr_unsigned(i386, stack[sp - 1]);
	return KUNWIND_COMPLETE;
}

#endif /* _KUNWIND_EXPR_EVAL_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * expr.c - check a DWARF expression while a table is built; see expr.h
 *
 * One pass from the first byte to the last. Branches go forward only, so when
 * the pass reaches a branch's target all branches to it have been seen: they
 * and the code that falls into it must agree on the stack's depth. Targets
 * that the pass steps over lie inside an operation and are refused; so is
 * code that nothing reaches.
 */
#include "expr.h"
#include "bytes.h"

#define MAX_BRANCHES	8	/* whose targets are still ahead, at any one time */

struct target {
	const u8 *at;
	unsigned int depth;
};

/* Depth needed, and its change. */
struct effect {
	u8 takes, gives;
};

/* Operand of a register; false when the register is none that we follow. */
static bool reg_use(u64 reg, u32 *regs)
{
	if (reg >= KUNWIND_NR_REGS)
		return false;
	*regs |= KUNWIND_REG(reg);
	return true;
}

/* All but branches: reads the operands behind @op. False: not acceptable. */
static bool op_effect(struct kunwind_bytes *b, u8 op, bool initial, unsigned int depth,
		      struct effect *effect, u32 *regs)
{
	unsigned int size;

	*effect = (struct effect){ .takes = 0, .gives = 1 };
	switch (op) {
	case KUNWIND_OP_LIT0 ... KUNWIND_OP_LIT31:
		return true;
	case KUNWIND_OP_REG0 ... KUNWIND_OP_REG31:
		return reg_use(op - KUNWIND_OP_REG0, regs);
	case KUNWIND_OP_BREG0 ... KUNWIND_OP_BREG31:
		kunwind_bytes_sleb(b);
		return reg_use(op - KUNWIND_OP_BREG0, regs);
	case KUNWIND_OP_REGX:
		return reg_use(kunwind_bytes_uleb(b), regs);
	case KUNWIND_OP_BREGX:
		if (!reg_use(kunwind_bytes_uleb(b), regs))
			return false;
		kunwind_bytes_sleb(b);
		return true;
	case KUNWIND_OP_CONST1U:
	case KUNWIND_OP_CONST1S:
		kunwind_bytes_skip(b, 1);
		return true;
	case KUNWIND_OP_CONST2U:
	case KUNWIND_OP_CONST2S:
		kunwind_bytes_skip(b, 2);
		return true;
	case KUNWIND_OP_CONST4U:
	case KUNWIND_OP_CONST4S:
		kunwind_bytes_skip(b, 4);
		return true;
	case KUNWIND_OP_CONST8U:
	case KUNWIND_OP_CONST8S:
		kunwind_bytes_skip(b, 8);
		return true;
	case KUNWIND_OP_CONSTU:
		kunwind_bytes_uleb(b);
		return true;
	case KUNWIND_OP_CONSTS:
		kunwind_bytes_sleb(b);
		return true;
	case KUNWIND_OP_CALL_FRAME_CFA:
		return initial;	/* the CFA cannot be made from itself */
	case KUNWIND_OP_DUP:
		*effect = (struct effect){ .takes = 1, .gives = 2 };
		return true;
	case KUNWIND_OP_OVER:
		*effect = (struct effect){ .takes = 2, .gives = 3 };
		return true;
	case KUNWIND_OP_PICK:
		return kunwind_bytes_u8(b) < depth;
	case KUNWIND_OP_DROP:
		*effect = (struct effect){ .takes = 1, .gives = 0 };
		return true;
	case KUNWIND_OP_SWAP:
		*effect = (struct effect){ .takes = 2, .gives = 2 };
		return true;
	case KUNWIND_OP_ROT:
		*effect = (struct effect){ .takes = 3, .gives = 3 };
		return true;
	case KUNWIND_OP_DEREF_SIZE:
		size = kunwind_bytes_u8(b);
		*effect = (struct effect){ .takes = 1, .gives = 1 };
		return size == 1 || size == 2 || size == 4 || size == 8;
	case KUNWIND_OP_PLUS_UCONST:
		kunwind_bytes_uleb(b);
		*effect = (struct effect){ .takes = 1, .gives = 1 };
		return true;
	case KUNWIND_OP_DEREF:
	case KUNWIND_OP_ABS:
	case KUNWIND_OP_NEG:
	case KUNWIND_OP_NOT:
		*effect = (struct effect){ .takes = 1, .gives = 1 };
		return true;
	case KUNWIND_OP_AND ... KUNWIND_OP_MUL:
	case KUNWIND_OP_OR:
	case KUNWIND_OP_PLUS:
	case KUNWIND_OP_SHL ... KUNWIND_OP_XOR:
	case KUNWIND_OP_EQ ... KUNWIND_OP_NE:
		*effect = (struct effect){ .takes = 2, .gives = 1 };
		return true;
	case KUNWIND_OP_NOP:
		*effect = (struct effect){ .takes = 0, .gives = 0 };
		return true;
	}
	return false;
}

/* DW_OP_breg REG OFF; DW_OP_deref */
static bool shape_deref(const u8 *expr, size_t len, struct kunwind_expr_info *info)
{
	struct kunwind_bytes b = { .at = expr, .end = expr + len };
	u8 op = kunwind_bytes_u8(&b);
	s64 off = kunwind_bytes_sleb(&b);

	if (op < KUNWIND_OP_BREG0 || op >= KUNWIND_OP_BREG0 + KUNWIND_NR_REGS ||
	    kunwind_bytes_u8(&b) != KUNWIND_OP_DEREF || b.bad || b.at != b.end ||
	    off != (s32)off)
		return false;
	info->reg = op - KUNWIND_OP_BREG0;
	info->off = off;
	return true;
}

/*
 * What GNU ld writes for a PLT section, 16-byte entries of which a push at
 * byte N - 1 or so moves the stack: CFA = rsp + 8 + ((rip & 15) >= N) * 8.
 */
static bool shape_plt(const u8 *expr, size_t len, struct kunwind_expr_info *info)
{
	static const u8 head[] = {
		KUNWIND_OP_BREG0 + KUNWIND_RSP, 8, KUNWIND_OP_BREG0 + KUNWIND_RA, 0,
		KUNWIND_OP_LIT0 + 15, KUNWIND_OP_AND,
	};
	static const u8 tail[] = {
		KUNWIND_OP_GE, KUNWIND_OP_LIT0 + 3, KUNWIND_OP_SHL, KUNWIND_OP_PLUS,
	};
	u8 lit;

	if (len != sizeof(head) + 1 + sizeof(tail))
		return false;
	lit = expr[sizeof(head)];
	if (memcmp(expr, head, sizeof(head)) ||
	    memcmp(expr + sizeof(head) + 1, tail, sizeof(tail)) ||
	    lit < KUNWIND_OP_LIT0 || lit > KUNWIND_OP_LIT31)
		return false;
	info->off = lit - KUNWIND_OP_LIT0;
	return true;
}

enum kunwind_refusal
kunwind_expr_check(const u8 *expr, size_t len, bool initial, struct kunwind_expr_info *info)
{
	struct kunwind_bytes b = { .at = expr, .end = expr + len };
	struct target targets[MAX_BRANCHES];
	unsigned int nr_targets = 0, depth = initial, i;
	bool reached = true;

	*info = (struct kunwind_expr_info){ .shape = KUNWIND_EXPR_ANY };
	if (len > KUNWIND_EXPR_MAX_LEN)
		return KUNWIND_E_EXPRESSION;

	for (;;) {
		struct effect effect;
		u8 op;

		/* branches that end here */
		for (i = 0; i < nr_targets;) {
			if (targets[i].at > b.at) {
				i++;
				continue;
			}
			if (targets[i].at < b.at || (reached && targets[i].depth != depth))
				return KUNWIND_E_EXPRESSION;
			depth = targets[i].depth;
			reached = true;
			targets[i] = targets[--nr_targets];
		}
		if (!reached)
			return KUNWIND_E_EXPRESSION;
		if (b.at == b.end)
			break;

		op = kunwind_bytes_u8(&b);
		if (op == KUNWIND_OP_BRA || op == KUNWIND_OP_SKIP) {
			u16 distance = kunwind_bytes_u16(&b);

			if (b.bad || distance > kunwind_bytes_left(&b) ||
			    nr_targets == MAX_BRANCHES)
				return KUNWIND_E_EXPRESSION;
			if (op == KUNWIND_OP_BRA) {
				if (!depth)
					return KUNWIND_E_EXPRESSION;
				depth--;
			}
			reached = op == KUNWIND_OP_BRA;
			targets[nr_targets++] = (struct target){ b.at + distance, depth };
			continue;
		}
		if (!op_effect(&b, op, initial, depth, &effect, &info->regs) || b.bad ||
		    depth < effect.takes ||
		    depth - effect.takes + effect.gives > KUNWIND_EXPR_MAX_DEPTH)
			return KUNWIND_E_EXPRESSION;
		depth = depth - effect.takes + effect.gives;
	}
	if (!depth)
		return KUNWIND_E_EXPRESSION;

	if (!initial && shape_deref(expr, len, info))
		info->shape = KUNWIND_EXPR_DEREF;
	else if (!initial && shape_plt(expr, len, info))
		info->shape = KUNWIND_EXPR_PLT;
	return KUNWIND_OK;
}

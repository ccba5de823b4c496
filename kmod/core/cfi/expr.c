// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * expr.c - check a DWARF expression while a table is built; see expr.h
 *
 * The check is one pass from the first byte to the last. Branches go forward
 * only, so when the pass reaches the target of a branch, it has seen all
 * branches to this target. They and the code that falls into the target must
 * agree on the stack depth; otherwise the expression is unknown. An expression
 * with code that nothing reaches is unknown, too. A target that the pass steps
 * over lies inside an operation, and the expression is refused.
 */
#include "expr.h"
#include "bytes.h"
#include "../x86/i386.h"

#define MAX_BRANCHES	8	/* most branches with targets that the pass has not reached */

struct target {
	const u8 *at;
	unsigned int depth;
};

/* Stack entries that an operation takes and gives. */
struct effect {
	u8 takes, gives;
};

enum verdict { BAD, GOOD, UNKNOWN };

/*
 * Adds register @number to *regs, except the base of fs, which all frames of a thread share.
 * Any other above the return address is unknown.
 */
static enum verdict reg_use(u64 number, bool i386, u32 *regs)
{
	u64 reg = kunwind_reg_of(i386, number);

	if (number == KUNWIND_FS_BASE && !i386)
		return GOOD;
	if (reg >= KUNWIND_NR_REGS)
		return UNKNOWN;
	*regs |= KUNWIND_REG(reg);
	return GOOD;
}

/* Operations of DWARF 5 (7.7.1) and of vendors that are not evaluated. */
static enum verdict op_other(u8 op)
{
	switch (op) {
	case 0x03:		/* addr */
	case 0x18:		/* xderef */
	case 0x91:		/* fbreg */
	case 0x93:		/* piece */
	case 0x95:		/* xderef_size */
	case 0x97 ... 0x9b:	/* push_object_address, call2, call4, call_ref, form_tls_address */
	case 0x9d ... 0xa9:	/* bit_piece to reinterpret */
	case 0xe0 ... 0xff:	/* lo_user to hi_user */
		return UNKNOWN;
	}
	return BAD;
}

/* Checks operation @op, unless it is a branch, and reads its operands. */
static enum verdict op_effect(struct kunwind_bytes *b, u8 op, bool initial, bool i386,
			      unsigned int depth, struct effect *effect, u32 *regs)
{
	enum verdict verdict;
	unsigned int size;

	*effect = (struct effect){ .takes = 0, .gives = 1 };
	switch (op) {
	case KUNWIND_OP_LIT0 ... KUNWIND_OP_LIT31:
		return GOOD;
	case KUNWIND_OP_REG0 ... KUNWIND_OP_REG31:
		return reg_use(op - KUNWIND_OP_REG0, i386, regs);
	case KUNWIND_OP_BREG0 ... KUNWIND_OP_BREG31:
		kunwind_bytes_sleb(b);
		return reg_use(op - KUNWIND_OP_BREG0, i386, regs);
	case KUNWIND_OP_REGX:
		return reg_use(kunwind_bytes_uleb(b), i386, regs);
	case KUNWIND_OP_BREGX:
		verdict = reg_use(kunwind_bytes_uleb(b), i386, regs);
		kunwind_bytes_sleb(b);
		return verdict;
	case KUNWIND_OP_CONST1U:
	case KUNWIND_OP_CONST1S:
		kunwind_bytes_skip(b, 1);
		return GOOD;
	case KUNWIND_OP_CONST2U:
	case KUNWIND_OP_CONST2S:
		kunwind_bytes_skip(b, 2);
		return GOOD;
	case KUNWIND_OP_CONST4U:
	case KUNWIND_OP_CONST4S:
		kunwind_bytes_skip(b, 4);
		return GOOD;
	case KUNWIND_OP_CONST8U:
	case KUNWIND_OP_CONST8S:
		kunwind_bytes_skip(b, 8);
		return GOOD;
	case KUNWIND_OP_CONSTU:
		kunwind_bytes_uleb(b);
		return GOOD;
	case KUNWIND_OP_CONSTS:
		kunwind_bytes_sleb(b);
		return GOOD;
	case KUNWIND_OP_CALL_FRAME_CFA:
		return initial ? GOOD : BAD;	/* the CFA cannot be computed from itself */
	case KUNWIND_OP_DUP:
		*effect = (struct effect){ .takes = 1, .gives = 2 };
		return GOOD;
	case KUNWIND_OP_OVER:
		*effect = (struct effect){ .takes = 2, .gives = 3 };
		return GOOD;
	case KUNWIND_OP_PICK:
		return kunwind_bytes_u8(b) < depth ? GOOD : BAD;
	case KUNWIND_OP_DROP:
		*effect = (struct effect){ .takes = 1, .gives = 0 };
		return GOOD;
	case KUNWIND_OP_SWAP:
		*effect = (struct effect){ .takes = 2, .gives = 2 };
		return GOOD;
	case KUNWIND_OP_ROT:
		*effect = (struct effect){ .takes = 3, .gives = 3 };
		return GOOD;
	case KUNWIND_OP_DEREF_SIZE:
		size = kunwind_bytes_u8(b);
		*effect = (struct effect){ .takes = 1, .gives = 1 };
		if (!size || size > 8)
			return BAD;
		return size & (size - 1) ? UNKNOWN : GOOD;
	case KUNWIND_OP_PLUS_UCONST:
		kunwind_bytes_uleb(b);
		*effect = (struct effect){ .takes = 1, .gives = 1 };
		return GOOD;
	case KUNWIND_OP_DEREF:
	case KUNWIND_OP_ABS:
	case KUNWIND_OP_NEG:
	case KUNWIND_OP_NOT:
		*effect = (struct effect){ .takes = 1, .gives = 1 };
		return GOOD;
	case KUNWIND_OP_AND ... KUNWIND_OP_MUL:
	case KUNWIND_OP_OR:
	case KUNWIND_OP_PLUS:
	case KUNWIND_OP_SHL ... KUNWIND_OP_XOR:
	case KUNWIND_OP_EQ ... KUNWIND_OP_NE:
		*effect = (struct effect){ .takes = 2, .gives = 1 };
		return GOOD;
	case KUNWIND_OP_NOP:
		*effect = (struct effect){ .takes = 0, .gives = 0 };
		return GOOD;
	}
	return op_other(op);
}

/* DW_OP_breg REG OFF; DW_OP_deref; in 64-bit code maybe DW_OP_plus_uconst ADD */
static bool shape_deref(const u8 *expr, size_t len, bool i386, struct kunwind_expr_info *info)
{
	struct kunwind_bytes b = { .at = expr, .end = expr + len };
	u8 op = kunwind_bytes_u8(&b);
	const s64 off = kunwind_bytes_sleb(&b);
	const u64 reg = kunwind_reg_of(i386, op - KUNWIND_OP_BREG0);
	u64 add = 0;

	if (op < KUNWIND_OP_BREG0 || reg >= KUNWIND_NR_REGS ||
	    kunwind_bytes_u8(&b) != KUNWIND_OP_DEREF || b.bad ||
	    off < -KUNWIND_DEREF_OFFS || off >= KUNWIND_DEREF_OFFS)
		return false;
	if (b.at != b.end && (i386 || kunwind_bytes_u8(&b) != KUNWIND_OP_PLUS_UCONST))
		return false;
	if (b.at != b.end)
		add = kunwind_bytes_uleb(&b);
	if (b.bad || b.at != b.end || add >= KUNWIND_DEREF_ADDS || add & 7)
		return false;
	info->reg = reg;
	info->off = (s32)((u32)off << 8 | (u32)add / 8);
	return true;
}

/*
 * The expression that GNU ld writes for a PLT section. The section has 16-byte
 * entries, in which a push at about byte N - 1 moves the stack pointer:
 * CFA = rsp + 8 + ((rip & 15) >= N) * 8
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

enum kunwind_build_error
kunwind_expr_check(const u8 *expr, size_t len, bool initial, bool i386,
		   struct kunwind_expr_info *info)
{
	struct kunwind_bytes b = { .at = expr, .end = expr + len };
	struct target targets[MAX_BRANCHES];
	const u8 *nearest = NULL;	/* the lowest target, or an address below it */
	unsigned int nr_targets = 0, depth = initial, i;
	bool reached = true;

	*info = (struct kunwind_expr_info){ .shape = KUNWIND_EXPR_ANY };
	if (len > KUNWIND_EXPR_MAX_LEN)
		goto unknown;

	for (;;) {
		enum verdict verdict;
		struct effect effect;
		u8 op;

		/* branches whose target is here; one search for each branch */
		for (i = 0; nr_targets && b.at >= nearest && i < nr_targets;) {
			if (targets[i].at > b.at) {
				i++;
				continue;
			}
			if (targets[i].at < b.at)
				return KUNWIND_E_EXPRESSION;
			if (reached && targets[i].depth != depth)
				goto unknown;
			depth = targets[i].depth;
			reached = true;
			targets[i] = targets[--nr_targets];
		}
		if (nr_targets && b.at >= nearest) {
			nearest = targets[0].at;
			for (i = 1; i < nr_targets; i++)
				nearest = min(nearest, targets[i].at);
		}
		if (!reached)
			goto unknown;
		if (b.at == b.end)
			break;

		op = kunwind_bytes_u8(&b);
		if (op == KUNWIND_OP_BRA || op == KUNWIND_OP_SKIP) {
			s16 distance = kunwind_bytes_u16(&b);

			if (b.bad || distance > b.end - b.at || distance < expr - b.at)
				return KUNWIND_E_EXPRESSION;
			if (op == KUNWIND_OP_BRA) {
				if (!depth)
					return KUNWIND_E_EXPRESSION;
				depth--;
			}
			if (distance < 0 || nr_targets == MAX_BRANCHES)
				goto unknown;
			reached = op == KUNWIND_OP_BRA;
			nearest = nr_targets ? min(nearest, b.at + distance) : b.at + distance;
			targets[nr_targets++] = (struct target){ b.at + distance, depth };
			continue;
		}
		verdict = op_effect(&b, op, initial, i386, depth, &effect, &info->regs);
		if (verdict == BAD || b.bad || (verdict == GOOD && depth < effect.takes))
			return KUNWIND_E_EXPRESSION;
		depth = depth - effect.takes + effect.gives;
		if (verdict == UNKNOWN || depth > KUNWIND_EXPR_MAX_DEPTH)
			goto unknown;
	}
	if (!depth)
		return KUNWIND_E_EXPRESSION;

	if (!initial && shape_deref(expr, len, i386, info))
		info->shape = KUNWIND_EXPR_DEREF;
	else if (!initial && !i386 && shape_plt(expr, len, info))
		info->shape = KUNWIND_EXPR_PLT;
	return KUNWIND_OK;

unknown:
	*info = (struct kunwind_expr_info){ .unknown = true };
	return KUNWIND_OK;
}

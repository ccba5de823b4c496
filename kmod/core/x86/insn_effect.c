// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * insn_effect.c - what an instruction of x86-64 does to rsp, rbp and rip; see
 * insn_effect.h
 *
 * Any context. Uses only its arguments.
 */
#include "insn_effect.h"

#define RSP 4 /* ModRM's numbers */
#define RBP 5
#define UNNAMED KUNWIND_NO_REG

/* The registers of ModRM. UNNAMED: the operand is memory. */
static u8 reg_of(const struct kunwind_insn *insn)
{
	return (insn->modrm >> 3 & 7) | insn->reg_high << 3;
}

static u8 rm_of(const struct kunwind_insn *insn)
{
	return insn->modrm >> 6 == 3 ? (insn->modrm & 7) | insn->rm_high << 3 : UNNAMED;
}

/* The register that the opcode's low bits name. */
static u8 low_of(const struct kunwind_insn *insn)
{
	return (insn->op & 7) | insn->rm_high << 3;
}

static bool writes_one(const struct kunwind_insn *insn, u8 number)
{
	const u8 op = insn->op, form = insn->modrm >> 3 & 7;

	if (op < 0x40) { /* add, or, adc, sbb, and, sub, xor, cmp: to rm, to reg, to rax */
		if (op >> 3 == 7 || (op & 7) > 3)
			return false;
		return (op & 2 ? reg_of(insn) : rm_of(insn)) == number;
	}
	switch (op) {
	case 0x58 ... 0x5f: /* pop */
	case 0x91 ... 0x97: /* xchg */
	case 0xb0 ... 0xbf: /* mov $n */
		return low_of(insn) == number;
	case 0x63: /* movsxd */
	case 0x69: /* imul */
	case 0x6b:
	case 0x8a ... 0x8b: /* mov */
	case 0x8d: /* lea */
		return reg_of(insn) == number;
	case 0x80 ... 0x83: /* as above, with $n */
		return form != 7 && rm_of(insn) == number;
	case 0x86 ... 0x87: /* xchg */
		return reg_of(insn) == number || rm_of(insn) == number;
	case 0x88 ... 0x89: /* mov */
	case 0x8c:
	case 0x8f: /* pop */
	case 0xc0 ... 0xc1: /* shifts */
	case 0xc6 ... 0xc7: /* mov $n */
	case 0xd0 ... 0xd3:
		return rm_of(insn) == number;
	case 0xc8: /* enter */
		return true;
	case 0xf6 ... 0xf7: /* not, neg; the others write rax and rdx */
		return (form == 2 || form == 3) && rm_of(insn) == number;
	case 0xfe ... 0xff: /* inc, dec */
		return form < 2 && rm_of(insn) == number;
	}
	return false;
}

/*
 * Whether the operand is a byte. Then the numbers of rsp and rbp mean ah and ch if the
 * instruction has no REX.
 */
static bool of_byte(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	if (insn->map)
		return insn->map == 1 && !insn->vex && (op >> 4 == 9 || op == 0xb0 || op == 0xc0);
	if (op < 0x90)
		return !(op & 1) && op != 0x8c;
	return (op >= 0xb0 && op < 0xb8) || op == 0xc0 || op == 0xc6 || op == 0xd0 || op == 0xd2 ||
	       op == 0xf6 || op == 0xfe;
}

/*
 * Whether the instruction may write register @number by an operand. rsp and rbp
 * have no implied writes but those that rsp_effect() and rbp_effect() handle.
 */
static bool may_write(const struct kunwind_insn *insn, u8 number)
{
	if (number == RSP && of_byte(insn)) /* no program writes spl */
		return false;
	return insn->map ? kunwind_insn_writes_more(insn, number) : writes_one(insn, number);
}

static void flow_of(const struct kunwind_insn *insn, struct kunwind_insn_effect *e)
{
	const u8 op = insn->op, form = insn->modrm >> 3 & 7;

	if (insn->vex || insn->map > 1)
		return;
	if (insn->map == 1) {
		if (op >> 4 == 8)
			e->flow = KUNWIND_FLOW_BRANCH;
		else if (op == 0x0b || op == 0xb9 || op == 0xff) /* ud2, ud1, ud0 */
			e->flow = KUNWIND_FLOW_STOP;
		e->distance = insn->imm;
		return;
	}
	switch (op) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		e->flow = KUNWIND_FLOW_BRANCH;
		break;
	case 0xc2 ... 0xc3:
		e->flow = KUNWIND_FLOW_RETURN;
		break;
	case 0xca ... 0xcc: /* lret, int3 */
	case 0xcf: /* iret */
	case 0xf4:
		e->flow = KUNWIND_FLOW_STOP;
		break;
	case 0xc7: /* xbegin: another way to the distance, with the same registers */
		if (insn->modrm == 0xf8)
			e->flow = KUNWIND_FLOW_BRANCH;
		break;
	case 0xe8: /* call to the next instruction: popped() */
		e->flow = insn->imm ? KUNWIND_FLOW_CALL : KUNWIND_FLOW_NEXT;
		e->direct = insn->imm;
		break;
	case 0xe9:
	case 0xeb:
		e->flow = KUNWIND_FLOW_JUMP;
		break;
	case 0xff:
		if (form == 2 || form == 3)
			e->flow = KUNWIND_FLOW_CALL;
		else if (form == 4 || form == 5)
			e->flow = insn->modrm == 0x25 ? KUNWIND_FLOW_STOP : KUNWIND_FLOW_ANY;
		break;
	default:
		return;
	}
	e->distance = insn->imm;
}

/* Instructions of the one-byte map that push and pop, in bytes by which they raise rsp. */
static s32 popped(const struct kunwind_insn *insn)
{
	switch (insn->op) {
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0x9c:
		return -8;
	case 0x58 ... 0x5f:
	case 0x8f:
	case 0x9d:
		return 8;
	case 0xe8: /* call to the next instruction: pushes rip */
		return insn->imm ? 0 : -8;
	case 0xff:
		return (insn->modrm >> 3 & 7) == 6 ? -8 : 0;
	}
	return 0;
}

static bool is_lea(const struct kunwind_insn *insn)
{
	return !insn->map && insn->op == 0x8d && insn->wide && !insn->short_address &&
	       insn->modrm >> 6 != 3;
}

/* Whether the memory operand is disp(%rbp). */
static bool on_rbp(const struct kunwind_insn *insn)
{
	return insn->modrm >> 6 < 3 && insn->modrm >> 6 && (insn->modrm & 7) == RBP &&
	       !insn->rm_high;
}

/* Whether it is mov %from, %to of whole registers. */
static bool moves(const struct kunwind_insn *insn, u8 from, u8 to)
{
	if (insn->map || !insn->wide || insn->modrm >> 6 != 3)
		return false;
	return (insn->op == 0x89 && reg_of(insn) == from && rm_of(insn) == to) ||
	       (insn->op == 0x8b && rm_of(insn) == from && reg_of(insn) == to);
}

/* The base of the memory operand, or UNNAMED. */
static u8 base_of(const struct kunwind_insn *insn)
{
	const u8 mod = insn->modrm >> 6, rm = insn->modrm & 7;
	const u8 low = rm == RSP ? insn->sib & 7 : rm;

	/* Without a displacement, the number of rbp means rip or no base. */
	if (!insn->has_modrm || mod == 3 || (!mod && low == RBP))
		return UNNAMED;
	return low | insn->rm_high << 3;
}

static void rsp_effect(const struct kunwind_insn *insn, struct kunwind_insn_effect *e)
{
	const u8 op = insn->op, form = insn->modrm >> 3 & 7;
	s32 up;

	if (insn->map == 4 && (op == 0x8f || (op == 0xff && form == 6))) { /* pop2, push2 */
		e->off = op == 0x8f ? 16 : -16;
		return;
	}
	if (insn->map == 1 && !insn->vex && (op == 0xa0 || op == 0xa8)) { /* push %fs, %gs */
		e->off = -8;
		return;
	}
	if (insn->map == 1 && !insn->vex && (op == 0xa1 || op == 0xa9)) {
		e->off = 8;
		return;
	}
	up = insn->map ? 0 : popped(insn);
	if (up) {
		e->off = up;
		/* pop %rsp */
		if ((op == 0x5c && !insn->rm_high) || (op == 0x8f && rm_of(insn) == RSP))
			e->rsp = KUNWIND_RSP_SET;
		return;
	}
	if (!insn->map && op == 0xc9) { /* leave */
		e->rsp = KUNWIND_RSP_FROM_RBP;
		e->off = 8;
		return;
	}
	if (!may_write(insn, RSP))
		return;
	e->rsp = KUNWIND_RSP_MOVED;
	if (insn->map)
		return;
	if (moves(insn, RBP, RSP)) {
		e->rsp = KUNWIND_RSP_FROM_RBP;
	} else if ((op == 0x81 || op == 0x83) && insn->wide && (form == 0 || form == 5)) {
		e->rsp = KUNWIND_RSP_ADD;
		/* sub $INT_MIN would overflow; no frame is as large */
		e->off = form == 0 ? insn->imm : -(s32)(u32)max(insn->imm, -0x7fffffff);
	} else if ((op == 0x81 || op == 0x83) && insn->wide && form == 4 && insn->imm < 0) {
		e->rsp = KUNWIND_RSP_ALIGNED;
	} else if (is_lea(insn) && insn->on_rsp) {
		e->rsp = KUNWIND_RSP_ADD;
		e->off = insn->disp;
	} else if (is_lea(insn) && on_rbp(insn)) {
		e->rsp = KUNWIND_RSP_FROM_RBP;
		e->off = insn->disp;
	} else if (op == 0x89 || op == 0x8b || (op == 0x8d && (insn->modrm & 7) != RSP)) {
		e->rsp = KUNWIND_RSP_SET; /* mov from a register or memory, lea on a register */
		if (is_lea(insn)) {
			e->base = base_of(insn);
			e->off = insn->disp;
		} else if (insn->wide && op != 0x8d && insn->modrm >> 6 == 3) {
			e->base = op == 0x89 ? reg_of(insn) : rm_of(insn);
		}
	}
}

static void load_effect(const struct kunwind_insn *insn, struct kunwind_insn_effect *e)
{
	if (!insn->map && insn->op >> 3 == 11) { /* pop */
		e->loads = KUNWIND_LOADS_BY_RSP;
		return;
	}
	if (insn->map || insn->op != 0x8b || !insn->wide || insn->segment || insn->short_address)
		return;
	if (insn->on_rsp)
		e->loads = KUNWIND_LOADS_BY_RSP;
	else if (on_rbp(insn))
		e->loads = KUNWIND_LOADS_BY_RBP;
	else
		return;
	e->at = insn->disp;
}

static void rbp_effect(const struct kunwind_insn *insn, struct kunwind_insn_effect *e)
{
	const u8 op = insn->op;

	if (!insn->map && op == 0x55 && !insn->rm_high) {
		e->rbp = KUNWIND_RBP_STORED;
	} else if (!insn->map && op == 0x5d && !insn->rm_high) {
		e->rbp = KUNWIND_RBP_LOADED;
	} else if (!insn->map && op == 0xc9) {
		e->rbp = KUNWIND_RBP_LEFT;
	} else if (moves(insn, RSP, RBP)) {
		e->rbp = KUNWIND_RBP_FROM_RSP;
	} else if (is_lea(insn) && insn->on_rsp && reg_of(insn) == RBP) {
		e->rbp = KUNWIND_RBP_FROM_RSP;
		e->at = insn->disp;
	} else if (!insn->map && insn->wide && insn->on_rsp && reg_of(insn) == RBP &&
		   (op == 0x89 || op == 0x8b)) {
		e->rbp = op == 0x89 ? KUNWIND_RBP_STORED : KUNWIND_RBP_LOADED;
		e->at = insn->disp;
	} else if (may_write(insn, RBP)) {
		e->rbp = KUNWIND_RBP_WRITTEN;
	}
}

/* rbx, rbp, r12 to r15; not those above 15 */
static u16 saved(u8 number)
{
	return number < 16 ? 1U << number & 0xf028 : 0;
}

static void names_of(const struct kunwind_insn *insn, struct kunwind_insn_effect *e)
{
	const bool moves = !insn->map && insn->wide && insn->modrm >> 6 == 3;
	const u8 base = base_of(insn);

	e->named = insn->has_modrm ? saved(reg_of(insn)) | saved(rm_of(insn)) | saved(base) :
				     saved(low_of(insn)); /* too many, for some opcodes */
	e->read = saved(base);
	if (moves && insn->op == 0x89)
		e->read = saved(reg_of(insn));
	else if (moves && insn->op == 0x8b)
		e->read = saved(rm_of(insn));
}

void kunwind_insn_effect(const struct kunwind_insn *insn, struct kunwind_insn_effect *effect)
{
	*effect = (struct kunwind_insn_effect){ .base = UNNAMED };
	flow_of(insn, effect);
	rsp_effect(insn, effect);
	rbp_effect(insn, effect);
	load_effect(insn, effect);
	names_of(insn, effect);
}

/* Whether it writes a register that it does not name: rax, rcx, rdx, rbx, rsi, rdi or r11. */
static bool implies(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	if (insn->map == 3)
		return op == 0x61 || op == 0x63; /* pcmpestri, pcmpistri */
	if (insn->map)
		return insn->map > 3 || (insn->map == 1 && !insn->vex &&
					 (op < 0x0d || op >> 4 == 3 || op == 0xa2 || op == 0xb0 ||
					  op == 0xb1 || op == 0xc7));
	if (op < 0x40) /* arithmetic of rax with $n; prefixes */
		return (op & 7) > 3;
	switch (op) {
	case 0x50 ... 0x5f:
	case 0x63:
	case 0x68 ... 0x6b:
	case 0x70 ... 0x90:
	case 0xb0 ... 0xc1:
	case 0xc6 ... 0xc7:
	case 0xd0 ... 0xd3:
	case 0xe9:
	case 0xeb:
	case 0xfe ... 0xff:
		return false;
	case 0xf6 ... 0xf7: /* mul, div */
		return (insn->modrm >> 3 & 7) > 3;
	}
	return true;
}

bool kunwind_insn_keeps(const struct kunwind_insn *insn, u8 number)
{
	if ((number < 8 || number == 11) && implies(insn))
		return false;
	/* A byte may be ah to bh, which have the numbers of rsp to rdi. Rows 4 to 7 have no bytes. */
	if (number < 4 && (insn->map || (insn->op >> 6) != 1) && of_byte(insn))
		return false;
	/* xchg %r8, %rax; int, which may clobber r8 to r11 */
	if (!insn->map && ((insn->op == 0x90 && insn->rm_high) || insn->op == 0xcd))
		return false;
	return !may_write(insn, number);
}

u8 kunwind_insn_copies_rsp(const struct kunwind_insn *insn, s32 *at)
{
	u8 reg = UNNAMED;

	*at = 0;
	if (is_lea(insn) && insn->on_rsp) {
		reg = reg_of(insn);
		*at = insn->disp;
	} else if (!insn->map && insn->wide && insn->modrm >> 6 == 3) {
		if (insn->op == 0x89 && reg_of(insn) == RSP)
			reg = rm_of(insn);
		else if (insn->op == 0x8b && rm_of(insn) == RSP)
			reg = reg_of(insn);
	}
	return reg < 16 && reg != RSP && reg != RBP ? reg : UNNAMED;
}

bool kunwind_insn_stores(const struct kunwind_insn *insn, u8 number, s32 *at)
{
	*at = 0;
	if (insn->map)
		return false;
	if (insn->op >> 3 == 10) /* push */
		return low_of(insn) == number;
	*at = insn->disp;
	return insn->op == 0x89 && insn->wide && insn->on_rsp && reg_of(insn) == number;
}

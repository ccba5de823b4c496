// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * insn_effect.c - what an instruction of x86-64 does to rsp, rbp and rip; see
 * insn_effect.h
 *
 * Any context, NMI included. Uses only its arguments. Stack: 100 bytes.
 */
#include "../walk/mem.h"
#include "insn_effect.h"

#define RSP 4 /* ModRM's numbers */
#define RBP 5
#define UNNAMED KUNWIND_NO_REG

/* The registers of ModRM. UNNAMED: the operand is memory. */
static u8 kunwind_walk_attr reg_of(const struct kunwind_insn *insn)
{
	return (insn->modrm >> 3 & 7) | insn->reg_high << 3;
}

static u8 kunwind_walk_attr rm_of(const struct kunwind_insn *insn)
{
	return insn->modrm >> 6 == 3 ? (insn->modrm & 7) | insn->rm_high << 3 : UNNAMED;
}

/* The register that the opcode's low bits name. */
static u8 kunwind_walk_attr low_of(const struct kunwind_insn *insn)
{
	return (insn->op & 7) | insn->rm_high << 3;
}

static bool kunwind_walk_attr writes_one(const struct kunwind_insn *insn, u8 number)
{
	const u8 op = insn->op, form = insn->modrm >> 3 & 7;

	if (op < 0x40) { /* add, or, adc, sbb, and, sub, xor, cmp: to rm, to reg, to rax */
		if (op >> 3 == 7 || (op & 7) > 3)
			return false;
		return (op & 2 ? reg_of(insn) : rm_of(insn)) == number;
	}
	switch (op) {
	case 0x40 ... 0x4f: /* inc, dec of 32-bit code */
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
		return number == RSP || number == RBP;
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
static bool kunwind_walk_attr of_byte(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	if (insn->map)
		return insn->map == 1 && !insn->vex && (op >> 4 == 9 || op == 0xb0 || op == 0xc0);
	if (op < 0x90)
		return !(op & 1) && op != 0x8c;
	return (op >= 0xb0 && op < 0xb8) || op == 0xc0 || op == 0xc6 || op == 0xd0 || op == 0xd2 ||
	       op == 0xf6 || op == 0xfe;
}

bool kunwind_walk_attr kunwind_insn_writes(const struct kunwind_insn *insn, u8 number)
{
	if (number == RSP && of_byte(insn)) /* no program writes spl */
		return false;
	return insn->map ? kunwind_insn_writes_more(insn, number) : writes_one(insn, number);
}

/*
 * Whether the instruction can only write registers that ModRM names, and names
 * neither rsp nor rbp: most instructions are such.
 */
static bool kunwind_walk_attr is_plain(const struct kunwind_insn *insn)
{
	/* 00-3f, 63, 69, 6b, 80-8e, 90-93, 96-99, a0-b4, b6-bb, be-c1, c6, d0-d3, f6, f7, fe */
	static const u32 plain[8] = { ~0U,	  ~0U,	      0,	0xa08,
				      0x03cf7fff, 0xcfdfffff, 0xf0043, 0x40c00000 };

	return !insn->map && plain[insn->op >> 5] >> (insn->op & 31) & 1 &&
	       (reg_of(insn) & ~1) != RSP && (rm_of(insn) & ~1) != RSP;
}

static bool kunwind_walk_attr is_lea(const struct kunwind_insn *insn)
{
	return !insn->map && insn->op == 0x8d && insn->wide && !insn->short_address &&
	       insn->modrm >> 6 != 3;
}

/* Whether the memory operand is disp(%rbp). */
static bool kunwind_walk_attr on_rbp(const struct kunwind_insn *insn)
{
	return insn->modrm >> 6 < 3 && insn->modrm >> 6 && (insn->modrm & 7) == RBP &&
	       !insn->rm_high;
}

/* Whether it is mov %from, %to of whole registers. */
static bool kunwind_walk_attr moves(const struct kunwind_insn *insn, u8 from, u8 to)
{
	if (insn->map || !insn->wide || insn->modrm >> 6 != 3)
		return false;
	return (insn->op == 0x89 && reg_of(insn) == from && rm_of(insn) == to) ||
	       (insn->op == 0x8b && rm_of(insn) == from && reg_of(insn) == to);
}

/* The base of the memory operand, or UNNAMED. */
static u8 kunwind_walk_attr base_of(const struct kunwind_insn *insn)
{
	const u8 mod = insn->modrm >> 6, rm = insn->modrm & 7;
	const u8 low = rm == RSP ? insn->sib & 7 : rm;

	/* Without a displacement, the number of rbp means rip or no base. */
	if (!insn->has_modrm || mod == 3 || (!mod && low == RBP))
		return UNNAMED;
	return low | insn->rm_high << 3;
}

/* An instruction that writes rsp by an operand. */
static void kunwind_walk_attr write_rsp(const struct kunwind_insn *insn, struct kunwind_insn_effect *e)
{
	const u8 op = insn->op, form = insn->modrm >> 3 & 7;

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
		e->off = insn->imm;
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

/* An instruction that may write or save rsp or rbp by an operand. */
static void kunwind_walk_attr named_effect(const struct kunwind_insn *insn,
					   struct kunwind_insn_effect *e)
{
	const u8 op = insn->op;

	if (kunwind_insn_writes(insn, RSP))
		write_rsp(insn, e);
	if (moves(insn, RSP, RBP)) {
		e->rbp = KUNWIND_RBP_FROM_RSP;
	} else if (is_lea(insn) && insn->on_rsp && reg_of(insn) == RBP) {
		e->rbp = KUNWIND_RBP_FROM_RSP;
		e->at = insn->disp;
	} else if (!insn->map && insn->wide && insn->on_rsp && reg_of(insn) == RBP &&
		   (op == 0x89 || op == 0x8b)) {
		e->rbp = op == 0x89 ? KUNWIND_RBP_STORED : KUNWIND_RBP_LOADED;
		e->at = insn->disp;
	} else if (is_lea(insn) && on_rbp(insn) && reg_of(insn) == RBP && !insn->disp) {
		/* lea 0(%rbp), %rbp, by which Mono aligns its calls: rbp is kept */
	} else if (kunwind_insn_writes(insn, RBP)) {
		e->rbp = KUNWIND_RBP_WRITTEN;
	}
}

static void kunwind_walk_attr pop(struct kunwind_insn_effect *e, u8 reg)
{
	if (reg == RSP)
		e->rsp = KUNWIND_RSP_SET;
	if (reg == RBP) {
		e->rbp = KUNWIND_RBP_LOADED;
		e->at = e->off;
	}
	e->words++;
	e->off += 8;
}

static void kunwind_walk_attr push(struct kunwind_insn_effect *e, u8 reg)
{
	if (e->rbp)
		e->at += 8;
	if (reg == RBP)
		e->rbp = KUNWIND_RBP_STORED;
	e->words--;
	e->off -= 8;
}

static void kunwind_walk_attr flow(struct kunwind_insn_effect *e, u8 kind, s32 distance)
{
	e->flow = kind;
	e->distance = distance;
}

/* The one-byte map. */
static void kunwind_walk_attr one_byte(const struct kunwind_insn *insn, struct kunwind_insn_effect *e)
{
	const u8 form = insn->modrm >> 3 & 7;

	switch (insn->op) {
	case 0x40 ... 0x4f: /* 32-bit code: inc and dec */
		if (low_of(insn) == RSP)
			e->rsp = KUNWIND_RSP_MOVED;
		else if (low_of(insn) == RBP)
			e->rbp = KUNWIND_RBP_WRITTEN;
		break;
	case 0x50 ... 0x57:
		push(e, low_of(insn));
		break;
	case 0x68:
	case 0x6a:
	case 0x9c:
		push(e, UNNAMED);
		break;
	case 0x58 ... 0x5f:
		pop(e, low_of(insn));
		break;
	case 0x8f:
		pop(e, rm_of(insn));
		break;
	case 0x9d:
		pop(e, UNNAMED);
		break;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		flow(e, KUNWIND_FLOW_BRANCH, insn->imm);
		break;
	case 0xc2 ... 0xc3:
		flow(e, KUNWIND_FLOW_RETURN, 0);
		break;
	case 0xca ... 0xcc: /* lret, int3 */
	case 0xcf: /* iret */
	case 0xf4:
		flow(e, KUNWIND_FLOW_STOP, 0);
		break;
	case 0xc7: /* xbegin: another way to the distance, with the same registers */
		if (insn->modrm == 0xf8)
			flow(e, KUNWIND_FLOW_BRANCH, insn->imm);
		else
			named_effect(insn, e);
		break;
	case 0xc9:
		pop(e, UNNAMED);
		e->rsp = KUNWIND_RSP_FROM_RBP;
		e->rbp = KUNWIND_RBP_LEFT;
		break;
	case 0xe8:
		if (!insn->imm) { /* the next instruction: pushes rip */
			push(e, UNNAMED);
			break;
		}
		flow(e, KUNWIND_FLOW_CALL, insn->imm);
		e->direct = true;
		break;
	case 0xe9:
	case 0xeb:
		flow(e, KUNWIND_FLOW_JUMP, insn->imm);
		break;
	case 0xff:
		if (form == 6)
			push(e, UNNAMED);
		else if (form == 2 || form == 3)
			flow(e, KUNWIND_FLOW_CALL, 0);
		else if (form == 4 || form == 5)
			flow(e, insn->modrm == 0x25 ? KUNWIND_FLOW_STOP : KUNWIND_FLOW_ANY, 0);
		else
			named_effect(insn, e);
		break;
	default:
		named_effect(insn, e);
	}
}

/* The maps after 0f, without VEX. */
static void kunwind_walk_attr two_bytes(const struct kunwind_insn *insn, struct kunwind_insn_effect *e)
{
	switch (insn->op) {
	case 0x80 ... 0x8f:
		flow(e, KUNWIND_FLOW_BRANCH, insn->imm);
		break;
	case 0x0b: /* ud2, ud1, ud0 */
	case 0xb9:
	case 0xff:
		flow(e, KUNWIND_FLOW_STOP, 0);
		break;
	case 0xa0: /* fs, gs */
	case 0xa8:
		push(e, UNNAMED);
		break;
	case 0xa1:
	case 0xa9:
		pop(e, UNNAMED);
		break;
	default:
		named_effect(insn, e);
	}
}

/* APX: push2 and pop2 */
static void kunwind_walk_attr apx(const struct kunwind_insn *insn, struct kunwind_insn_effect *e)
{
	if (insn->op == 0xff && (insn->modrm >> 3 & 7) == 6) {
		push(e, insn->third);
		push(e, rm_of(insn));
	} else if (insn->op == 0x8f) {
		pop(e, insn->third);
		pop(e, rm_of(insn));
	} else {
		named_effect(insn, e);
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

/* rbx, rbp, r12 to r15; not those above 15 */
static u16 kunwind_walk_attr saved(u8 number)
{
	return number < 16 ? 1U << number & 0xf028 : 0;
}

static void kunwind_walk_attr names_of(const struct kunwind_insn *insn, struct kunwind_insn_effect *e)
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

void kunwind_walk_attr kunwind_insn_stack_effect(const struct kunwind_insn *insn,
						 struct kunwind_insn_effect *effect)
{
	*effect = (struct kunwind_insn_effect){ .base = UNNAMED };
	effect->plain = is_plain(insn);
	if (effect->plain)
		return;
	if (!insn->map)
		one_byte(insn, effect);
	else if (insn->map == 1 && !insn->vex)
		two_bytes(insn, effect);
	else if (insn->map == 4)
		apx(insn, effect);
	else
		named_effect(insn, effect);
}

bool kunwind_walk_attr kunwind_insn_pay_effect(const struct kunwind_text *text)
{
	return text->left % 4 || kunwind_pay(text->mem, 1);
}

void kunwind_insn_effect(const struct kunwind_insn *insn, struct kunwind_insn_effect *effect)
{
	kunwind_insn_stack_effect(insn, effect);
	load_effect(insn, effect);
	names_of(insn, effect);
}

/* Whether it writes a register that it does not name: rax, rcx, rdx, rbx, rsi, rdi or r11. */
static bool kunwind_walk_attr implies(const struct kunwind_insn *insn)
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

bool kunwind_walk_attr kunwind_insn_keeps(const struct kunwind_insn *insn, u8 number)
{
	if ((number < 8 || number == 11) && implies(insn))
		return false;
	/* A byte may be ah to bh, which have the numbers of rsp to rdi. Rows 4 to 7 have no bytes. */
	if (number < 4 && (insn->map || (insn->op >> 6) != 1) && of_byte(insn))
		return false;
	/* xchg %r8, %rax; int, which may clobber r8 to r11 */
	if (!insn->map && ((insn->op == 0x90 && insn->rm_high) || insn->op == 0xcd))
		return false;
	return !kunwind_insn_writes(insn, number);
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

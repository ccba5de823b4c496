// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * insn_writes.c - which general registers an instruction of the maps after 0f,
 * of VEX, EVEX, XOP or APX writes
 *
 * Only operands that the instruction names count, unlike those of cpuid. Forms that
 * write a vector register or memory do not count. Of APX's
 * instructions in map 4, each register that they name counts as written, unless
 * they name the one that they write apart (to_third). Sources: as in
 * insn_decode.c. Any context.
 *
 * What it does not do: the one-byte map (insn_effect.c).
 */
#include "insn_decode.h"

#define REG	0x01	/* the register in ModRM.reg */
#define RM	0x02	/* ModRM.rm, if that is a register */
#define LOW	0x04	/* the register that the opcode names */
#define THIRD	0x08	/* the register in vvvv */
#define FORMS	0x10	/* only some values of ModRM.reg */
#define SCALAR	0x20	/* only with the prefix f2 or f3: others write MMX registers */
#define MOVD	0x30	/* not with the prefix f3, which makes it a move of vector registers */
#define VMREAD	0x40	/* only without a prefix */
#define WHEN	0xf0

static const u8 map_0f[256] = {
	[0x00 ... 0x01] = FORMS | RM, [0x02 ... 0x03] = REG, [0x1e] = FORMS | RM,
	[0x2c ... 0x2d] = SCALAR | REG, [0x40 ... 0x50] = REG,
	[0x78] = VMREAD | RM, [0x7e] = MOVD | RM, [0x90 ... 0x9f] = RM,
	[0xa4 ... 0xa5] = RM, [0xab] = RM, [0xac ... 0xad] = RM, [0xae] = FORMS | RM,
	[0xaf] = REG, [0xb0 ... 0xb1] = RM, [0xb2] = REG, [0xb3] = RM, [0xb4 ... 0xb8] = REG,
	[0xba] = FORMS | RM, [0xbb] = RM, [0xbc ... 0xbf] = REG, [0xc0 ... 0xc1] = RM | REG,
	[0xc5] = REG, [0xc7] = FORMS | RM, [0xc8 ... 0xcf] = LOW, [0xd7] = REG,
};

/* The values of ModRM.reg, as bits, with which the instruction writes a general register. */
static u8 kunwind_walk_attr forms_of(const struct kunwind_insn *insn)
{
	switch (insn->op) {
	case 0x00:			/* sldt, str */
		return 0x03;
	case 0x01:			/* smsw */
		return 0x10;
	case 0x1e:			/* rdssp; endbr64 has the same opcode */
		return insn->prefix == 0xf3 ? 0x02 : 0;
	case 0xae:			/* rdfsbase, rdgsbase */
		return insn->prefix == 0xf3 ? 0x03 : 0;
	case 0xba:			/* bts, btr, btc */
		return 0xe0;
	default:			/* c7: rdrand, rdseed, rdpid */
		return 0xc0;
	}
}

/* The operands that an instruction of the map 0f writes, if they are general registers. */
static u8 kunwind_walk_attr writes_0f(const struct kunwind_insn *insn)
{
	const u8 what = map_0f[insn->op];
	bool holds = true;

	switch (what & WHEN) {
	case FORMS:
		holds = forms_of(insn) >> (insn->modrm >> 3 & 7) & 1;
		break;
	case SCALAR:
		holds = insn->prefix >= 0xf2;
		break;
	case MOVD:
		holds = insn->prefix != 0xf3;
		break;
	case VMREAD:
		holds = !insn->prefix;
		break;
	}
	return holds ? what & ~WHEN : 0;
}

/* The same for the maps 0f 38 and 0f 3a without VEX. */
static u8 kunwind_walk_attr writes_long(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	if (insn->map == 3)		/* pextrb, pextrw, pextrd, extractps */
		return op >= 0x14 && op <= 0x17 ? RM : 0;
	switch (op) {
	case 0x8a: case 0x8b:		/* movrs */
	case 0xf0:			/* movbe, crc32 */
		return REG;
	case 0xf1:			/* crc32; else movbe to memory */
		return insn->prefix == 0xf2 ? REG : 0;
	case 0xf6:			/* adcx, adox; else wrss to memory */
		return insn->prefix ? REG : 0;
	}
	return 0;
}

/* The same for VEX, EVEX and XOP. */
static u8 kunwind_walk_attr writes_vex(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	switch (insn->map) {
	case 1: case 5:
		if (op == 0x2c || op == 0x2d || op == 0x78 || op == 0x79)
			return insn->prefix >= 0xf2 ? REG : 0;
		if (op == 0x7e)
			return insn->prefix == 0x66 ? RM : 0;
		/* movmskps, kmov, pextrw, pmovmskb */
		return op == 0x50 || op == 0x93 || op == 0xc5 || op == 0xd7 ? REG : 0;
	case 2:
		if (op == 0xf3)		/* blsr and the like */
			return THIRD;
		if (op == 0xf6)		/* mulx */
			return REG | THIRD;
		/* cmpccxadd; andn, bzhi, pext, pdep, bextr, shlx and the like */
		return op >> 4 == 0xe || op == 0xf2 || op == 0xf5 || op == 0xf7 ? REG : 0;
	case 3:				/* rorx, pextrb and the like */
		return op == 0xf0 ? REG : op >= 0x14 && op <= 0x17 ? RM : 0;
	case 4:
		if (op == 0x8f)		/* pop2 */
			return RM | THIRD;
		if (op == 0xff && (insn->modrm >> 3 & 7) == 6)	/* push2 */
			return 0;
		return insn->to_third ? THIRD : REG | RM;
	case 7:				/* rdmsr, urdmsr */
		return RM;
	case 9:				/* blcfill and the like; slwpcb */
		return op == 1 || op == 2 ? THIRD : op == 0x12 ? RM : 0;
	case 10:			/* bextr */
		return op == 0x10 ? REG : 0;
	}
	return 0;
}

bool kunwind_walk_attr kunwind_insn_writes_more(const struct kunwind_insn *insn, u8 number)
{
	const u8 what = insn->vex ? writes_vex(insn) :
			insn->map == 1 ? writes_0f(insn) : writes_long(insn);

	if (!what)
		return false;
	return (what & REG && ((insn->modrm >> 3 & 7) | insn->reg_high << 3) == number) ||
	       (what & RM && insn->modrm >> 6 == 3 &&
		((insn->modrm & 7) | insn->rm_high << 3) == number) ||
	       (what & LOW && ((insn->op & 7) | insn->rm_high << 3) == number) ||
	       (what & THIRD && insn->third == number);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code.c - how deep a function's stack is at one of its instructions
 *
 * For code without unwind information (bare.c): from the function's entry, to
 * which a call is known to lead, instructions are read up to the one in question,
 * and what each does to rsp is summed up: push, pop, add, sub, lea, leave. Where
 * jumps lead forwards is kept with the depth there, so that behind a return or
 * a jump the sum goes on with what was true where the code there is reached from.
 *
 * x86-64 (Intel SDM volume 2, appendix A): lengths of all instructions that
 * compilers emit, VEX and EVEX included. What is not understood (a realigned
 * stack, an invalid byte, a jump table's target met first) is answered by "not
 * known"; what is answered is a fact of the code, unless data lies in its midst.
 *
 * Bounds: MOST_INSNS instructions. Any context; memory is read by the seam's
 * reader. Stack: 300 bytes.
 */
#include "walk.h"

#define MOST_INSNS	1024
#define MOST_TARGETS	12
#define WINDOW		4	/* words of code at a time */
#define BEHIND		4	/* words of zeros that the decoder may look at behind them */
#define LONGEST		15
#define UNKNOWN		(-1)

struct insn {
	u32 length;
	u8 map;			/* 0: one byte; 1: 0f; 2: 0f 38; 3: 0f 3a; 4 and up: EVEX's own */
	u8 op;
	u8 modrm;		/* 0 when there is none */
	bool wide;		/* REX.W */
	bool reg_high, rm_high;	/* REX.R, REX.B */
	bool vex;
	s32 imm;		/* of 1, 2 or 4 bytes; distance of a branch */
	s32 disp;
};

/* One bit for each opcode of a map, as bytes of eight from 00 up. */
static const u8 one_byte_modrm[32] = {
	0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x00, 0x00, 0x00, 0x00, 0x08, 0x0a, 0x00,
	0x00, 0xfb, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc3, 0x00, 0x0f, 0xff, 0x00, 0x00,
	0xc0, 0xc0,
};
static const u8 one_byte_invalid[32] = {
	0xc0, 0x40, 0xc0, 0xc0, 0x80, 0x80, 0x80, 0x80, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00,
	0x00, 0x04, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x70, 0x00, 0x00, 0x04,
	0x00, 0x00,
};
static const u8 two_byte_none[32] = {
	0xe0, 0x4b, 0x00, 0x00, 0x00, 0x00, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80,
	0x00, 0xff, 0xff, 0x00, 0x00, 0x07, 0x07, 0x00, 0x00, 0x00, 0xff, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00,
};

static __always_inline bool bit_of(const u8 *map, u8 op)
{
	return map[op >> 3] >> (op & 7) & 1;
}

static s32 kunwind_walk_attr number(const u8 *p, u32 size)
{
	u32 val = 0, i;

	for (i = 0; i < size; i++)
		val |= (u32)p[i] << 8 * i;
	return size == 1 ? (s8)val : size == 2 ? (s16)val : (s32)val;
}

/* Bytes of immediate operand. */
static u32 kunwind_walk_attr immediate_size(const struct insn *insn, bool short_operand)
{
	u32 full = short_operand && !insn->wide ? 2 : 4;
	u8 op = insn->op, reg = insn->modrm >> 3 & 7;

	if (insn->map == 3)
		return 1;
	if (insn->map == 1) {
		if (op >= 0x80 && op <= 0x8f && !insn->vex)
			return 4;
		return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba ||
		       op == 0xc2 || (op >= 0xc4 && op <= 0xc6) || op == 0x0f;
	}
	if (insn->map)
		return 0;
	if (op < 0x40)
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? full : 0;
	if ((op >= 0x70 && op <= 0x7f) || (op >= 0xb0 && op <= 0xb7) || (op >= 0xe0 && op <= 0xe7))
		return 1;
	if (op >= 0xb8 && op <= 0xbf)
		return insn->wide ? 8 : full;
	switch (op) {
	case 0x6a: case 0x6b: case 0x80: case 0x83: case 0xa8: case 0xc0: case 0xc1: case 0xc6:
	case 0xcd: case 0xeb:
		return 1;
	case 0xc2: case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0x68: case 0x69: case 0x81: case 0xa9: case 0xc7:
		return full;
	case 0xe8: case 0xe9:
		return 4;
	case 0xa0: case 0xa1: case 0xa2: case 0xa3:
		return 8;
	case 0xf6:
		return reg < 2 ? 1 : 0;
	case 0xf7:
		return reg < 2 ? full : 0;
	}
	return 0;
}

/* Prefix bytes and opcode; returns where ModRM or the immediate begins, 0 if it is none. */
static u32 kunwind_walk_attr opcode(const u8 *p, struct insn *insn, bool *short_operand)
{
	u32 n = 0;

	for (; n < LONGEST - 4; n++) {
		if (p[n] == 0x66)
			*short_operand = true;
		else if (p[n] != 0x67 && p[n] != 0x2e && p[n] != 0x36 && p[n] != 0x3e && p[n] != 0x26 &&
			 p[n] != 0x64 && p[n] != 0x65 && p[n] != 0xf0 && p[n] != 0xf2 &&
			 p[n] != 0xf3)
			break;
	}
	if ((p[n] & 0xf0) == 0x40) {
		insn->wide = p[n] & 8;
		insn->reg_high = p[n] & 4;
		insn->rm_high = p[n] & 1;
		n++;
	}
	if (p[n] == 0xc5) {
		insn->vex = true;
		insn->map = 1;
		n += 2;
	} else if (p[n] == 0xc4) {
		insn->vex = true;
		insn->map = p[n + 1] & 0x1f;
		n += 3;
	} else if (p[n] == 0x62) {
		insn->vex = true;
		insn->map = p[n + 1] & 7;
		n += 4;
	} else if (p[n] == 0x0f) {
		insn->map = 1;
		if (p[++n] == 0x38 || p[n] == 0x3a)
			insn->map = p[n++] == 0x38 ? 2 : 3;
	}
	if (insn->vex && !insn->map)
		return 0;
	insn->op = p[n++];
	return n;
}

/* @p: of what is there, and 8 * BEHIND bytes more that may be looked at. */
static bool kunwind_walk_attr decode(const u8 *p, struct insn *insn)
{
	bool short_operand = false, modrm;
	u32 n, size;

	*insn = (struct insn){ };
	n = opcode(p, insn, &short_operand);
	if (!n)
		return false;
	if (!insn->map && bit_of(one_byte_invalid, insn->op))
		return false;
	if (insn->map == 0)
		modrm = bit_of(one_byte_modrm, insn->op);
	else if (insn->map == 1)
		modrm = insn->vex ? insn->op != 0x77 : !bit_of(two_byte_none, insn->op);
	else
		modrm = true;
	if (modrm) {
		u32 mod, rm;

		insn->modrm = p[n++];
		mod = insn->modrm >> 6;
		rm = insn->modrm & 7;
		size = mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
		if (mod != 3 && rm == 4) {
			if (mod == 0 && (p[n] & 7) == 5)
				size = 4;
			n++;
		}
		insn->disp = number(p + n, size);
		n += size;
	}
	size = immediate_size(insn, short_operand);
	insn->imm = number(p + n, min(size, 4U));
	insn->length = n + size;
	return insn->length <= LONGEST;
}

/* What is known on the way through a function. */
struct way {
	s32 depth;		/* bytes pushed since the entry, or UNKNOWN */
	s32 frame;		/* the same where rbp was made the frame pointer */
	s32 rbp_at;		/* and behind the push of rbp */
	u32 nr;			/* targets */
	u16 at[MOST_TARGETS];	/* bytes from the entry */
	s16 depth_at[MOST_TARGETS];
};

/* A jump to @at, forwards, comes with the depth that is now. */
static void kunwind_walk_attr jump_to(struct way *way, s64 here, s64 at)
{
	u32 i;

	if (way->depth == UNKNOWN || way->depth > 0x7fff || at < here || at > 0xffff)
		return;
	for (i = 0; i < way->nr; i++)
		if (way->at[i] < here || way->at[i] == at)
			break;
	if (i == MOST_TARGETS)
		return;
	if (i == way->nr)
		way->nr++;
	way->at[i] = at;
	way->depth_at[i] = way->depth;
}

static bool kunwind_walk_attr jumped_to(struct way *way, u32 here)
{
	u32 i;

	for (i = 0; i < way->nr; i++)
		if (way->at[i] == here) {
			way->depth = way->depth_at[i];
			return true;
		}
	return false;
}

/* An instruction of the one-byte map that has rsp as ModRM's register or memory operand. */
static void kunwind_walk_attr move_by_modrm(struct way *way, const struct insn *insn)
{
	const u8 op = insn->op, mod = insn->modrm >> 6;
	const u8 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;
	const u8 rm = (insn->modrm & 7) | insn->rm_high << 3;

	if (op == 0x89 && mod == 3 && reg == 4 && rm == 5) {		/* mov %rsp, %rbp */
		way->frame = way->depth;
	} else if (op == 0x8b && mod == 3 && reg == 5 && rm == 4) {
		way->frame = way->depth;
	} else if ((op == 0x89 && mod == 3 && rm == 4 && reg == 5) ||
		   (op == 0x8b && mod == 3 && reg == 4 && rm == 5)) {	/* mov %rbp, %rsp */
		way->depth = way->frame;
	} else if (op == 0x83 || op == 0x81) {
		if (mod != 3 || rm != 4 || (insn->modrm >> 3 & 7) == 7)
			return;
		if ((insn->modrm >> 3 & 7) == 5)
			way->depth += insn->imm;
		else if ((insn->modrm >> 3 & 7) == 0)
			way->depth -= insn->imm;
		else
			way->depth = UNKNOWN;
	} else if (op == 0x8d && reg == 4) {				/* lea n(%rsp), %rsp */
		if ((mod == 1 || mod == 2) && rm == 4)
			way->depth -= insn->disp;
		else
			way->depth = UNKNOWN;
	} else if (op < 0x40) {
		/* arithmetic: into r/m by its even and odd first two forms, into reg by the next */
		if (op >= 0x38)
			return;
		if ((op & 7) < 2 ? mod == 3 && rm == 4 : reg == 4)
			way->depth = UNKNOWN;
	} else if ((op == 0x89 || op == 0x87 || op == 0xc7 || op == 0xc1) && mod == 3 && rm == 4) {
		way->depth = UNKNOWN;
	} else if ((op == 0x8b || op == 0x87 || op == 0x63) && reg == 4) {
		way->depth = UNKNOWN;
	}
}

/* @end: offset of the instruction behind this one. */
static void kunwind_walk_attr move(struct way *way, const struct insn *insn, u32 end)
{
	const u8 reg = insn->modrm >> 3 & 7;

	if (insn->map == 1 && insn->op >= 0x80 && insn->op <= 0x8f && !insn->vex)
		jump_to(way, end, (s64)end + insn->imm);
	if (insn->map == 1 && insn->op == 0x0b)				/* ud2 */
		way->depth = UNKNOWN;
	if (insn->map)
		return;
	switch (insn->op) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		jump_to(way, end, (s64)end + insn->imm);
		return;
	case 0xe9:
	case 0xeb:
		jump_to(way, end, (s64)end + insn->imm);
		way->depth = UNKNOWN;
		return;
	case 0xc2:
	case 0xc3:
	case 0xf4:
		way->depth = UNKNOWN;
		return;
	}
	if (way->depth == UNKNOWN)
		return;
	switch (insn->op) {
	case 0x50 ... 0x57:
		way->depth += 8;
		if (insn->op == 0x55 && !insn->rm_high && way->rbp_at == UNKNOWN)
			way->rbp_at = way->depth;
		return;
	case 0x68:
	case 0x6a:
	case 0x9c:
		way->depth += 8;
		return;
	case 0x58 ... 0x5f:
		way->depth = insn->op == 0x5c && !insn->rm_high ? UNKNOWN : way->depth - 8;
		return;
	case 0x8f:
	case 0x9d:
		way->depth -= 8;
		return;
	case 0xc9:							/* leave */
		way->depth = way->frame == UNKNOWN ? UNKNOWN : way->frame - 8;
		return;
	case 0xc8:							/* enter */
	case 0x94:							/* xchg %rsp, %rax */
		way->depth = UNKNOWN;
		return;
	case 0xff:
		if (reg == 6)
			way->depth += 8;
		else if (reg == 4)
			way->depth = UNKNOWN;
		return;
	}
	if (bit_of(one_byte_modrm, insn->op))
		move_by_modrm(way, insn);
}

/* Up to WINDOW words of code from @at on; returns the bytes read. */
static u32 kunwind_walk_attr read_code(struct kunwind_mem *mem, u64 at, u64 *words)
{
	u64 word;
	u32 n;

	if (!kunwind_mem_begin(mem, at))
		return 0;
	for (n = 0; n < WINDOW; n++) {
		kunwind_mem_read(mem, word, at + 8 * n, fault);
		words[n] = word;
	}
fault:
	kunwind_mem_end(mem);
	return 8 * n;
}

s32 kunwind_walk_attr kunwind_code_depth(struct kunwind_mem *mem, u64 from, u64 to, s32 *rbp_at)
{
	struct way way = { .frame = UNKNOWN, .rbp_at = UNKNOWN };
	u64 words[WINDOW + BEHIND] = { };
	u32 read = 0, used = 0, count;
	struct insn insn;
	u64 at = from;

	for (count = 0; at < to && count < MOST_INSNS; count++) {
		if (read < used + LONGEST) {
			read = read_code(mem, at, words);
			used = 0;
		}
		if (!decode((const u8 *)words + used, &insn) || insn.length > read - used)
			return UNKNOWN;
		used += insn.length;
		at += insn.length;
		move(&way, &insn, at - from);
		if (!jumped_to(&way, at - from) && way.depth < 0)
			way.depth = UNKNOWN;
	}
	*rbp_at = way.rbp_at;
	return at == to ? way.depth : UNKNOWN;
}

u64 kunwind_walk_attr kunwind_code_tail(struct kunwind_mem *mem, u64 from)
{
	struct way way = { .frame = UNKNOWN, .rbp_at = UNKNOWN };
	u64 words[WINDOW + BEHIND] = { };
	u32 read = read_code(mem, from, words), used;
	struct insn insn;

	for (used = 0; used < read; used += insn.length) {
		if (!decode((const u8 *)words + used, &insn) || insn.length > read - used)
			return 0;
		if (!insn.map && (insn.op == 0xe9 || insn.op == 0xeb))
			return from + used + insn.length + (s64)insn.imm;
		move(&way, &insn, used + insn.length);
		if (way.depth)
			return 0;
	}
	return 0;
}

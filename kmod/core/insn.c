// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * insn.c - instructions of x86-64: how long they are, and their operands
 *
 * By the Intel SDM, volume 2, appendix A: lengths of all instructions that
 * compilers emit, VEX and EVEX included; of the others most are told to be none.
 *
 * Any context; memory is read by the seam's reader, KUNWIND_TEXT_WORDS at a time. Each
 * instruction and each such read is a unit of the walk's budget.
 * What it does not do: tell what an instruction does (code.c).
 */
#include "insn.h"
#include "walk.h"

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
static u32 kunwind_walk_attr immediate_size(const struct kunwind_insn *insn, bool short_operand)
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
static u32 kunwind_walk_attr opcode(const u8 *p, struct kunwind_insn *insn, bool *short_operand)
{
	u32 n = 0;

	for (; n < KUNWIND_INSN_LONGEST - 4; n++) {
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
		insn->index_high = p[n] & 2;
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

/* @p: of what is there, and 8 * KUNWIND_TEXT_BEHIND bytes more that may be looked at. */
static bool kunwind_walk_attr decode(const u8 *p, struct kunwind_insn *insn)
{
	bool short_operand = false;
	u32 n, size;

	*insn = (struct kunwind_insn){ };
	n = opcode(p, insn, &short_operand);
	if (!n)
		return false;
	if (!insn->map && bit_of(one_byte_invalid, insn->op))
		return false;
	if (insn->map == 0)
		insn->has_modrm = bit_of(one_byte_modrm, insn->op);
	else if (insn->map == 1)
		insn->has_modrm = insn->vex ? insn->op != 0x77 : !bit_of(two_byte_none, insn->op);
	else
		insn->has_modrm = true;
	if (insn->has_modrm) {
		u32 mod, rm;

		insn->modrm = p[n++];
		mod = insn->modrm >> 6;
		rm = insn->modrm & 7;
		size = mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
		if (mod != 3 && rm == 4) {
			if (mod == 0 && (p[n] & 7) == 5)
				size = 4;
			insn->on_rsp = p[n] == 0x24 && !insn->rm_high && !insn->index_high;
			n++;
		}
		insn->disp = number(p + n, size);
		n += size;
	}
	size = immediate_size(insn, short_operand);
	insn->imm = number(p + n, min(size, 4U));
	insn->length = n + size;
	return insn->length <= KUNWIND_INSN_LONGEST;
}

/* Up to KUNWIND_TEXT_WORDS words of code from @at on; returns the bytes read. */
static u32 kunwind_walk_attr read_code(struct kunwind_mem *mem, u64 at, u64 *words)
{
	u64 word;
	u32 n;

	if (!kunwind_mem_begin(mem, at))
		return 0;
	for (n = 0; n < KUNWIND_TEXT_WORDS; n++) {
		kunwind_mem_read(mem, word, at + 8 * n, fault);
		words[kunwind_index(n, (u32)KUNWIND_TEXT_WORDS)] = word;
	}
fault:
	kunwind_mem_end(mem);
	return 8 * n;
}

bool kunwind_walk_attr kunwind_insn_next(struct kunwind_text *text, u64 at,
					 struct kunwind_insn *insn)
{
	if (!text->left || !kunwind_pay(text->mem, 1))
		return false;
	text->left--;
	if (text->read < text->used + KUNWIND_INSN_LONGEST) {
		if (!kunwind_pay(text->mem, 1))
			return false;
		text->read = read_code(text->mem, at, text->words);
		text->used = 0;
	}
	if (!decode((const u8 *)text->words + text->used, insn) ||
	    insn->length > text->read - text->used)
		return false;
	text->used += insn->length;
	return true;
}

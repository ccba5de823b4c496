// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * insn_decode.c - decode the length and operands of instructions of x86-64 and
 * of 32-bit code
 *
 * The decoder knows the lengths of all instructions that compilers emit, VEX
 * and EVEX included (Intel SDM, volume 2, appendix A). It refuses most others
 * as invalid. In 32-bit code, the bytes of REX are inc and dec, and 16-bit
 * addressing is refused.
 *
 * Any context. No window may be open: code is read KUNWIND_TEXT_WORDS at a
 * time, in a window of its own. One unit of the walk's budget pays for an
 * instruction, one for such a read, and one for each four prefixes. This file
 * does not say what an instruction does (code_analysis.c).
 */
#include "../walk/mem.h"
#include "code_hash.h"
#include "insn_decode.h"

/* What follows an opcode: ModRM, and the size of an immediate operand (bytes, or one of these). */
#define IMMEDIATE	0x0f
#define FULL		5	/* 2 or 4 */
#define WIDEST		6	/* 2, 4 or 8 */
#define TEST		7	/* 1 if ModRM says that it is test, else 0 */
#define TEST_FULL	9
#define MODRM		0x10
#define INVALID		0x20
#define PREFIX		0x40
#define ESCAPE		0x80	/* 0f, VEX or EVEX */

#define ARITHMETIC(op)	[(op) ... (op) + 3] = MODRM, [(op) + 4] = 1, [(op) + 5] = FULL

static const u8 one_byte[256] = {
	ARITHMETIC(0x00), ARITHMETIC(0x08), ARITHMETIC(0x10), ARITHMETIC(0x18),
	ARITHMETIC(0x20), ARITHMETIC(0x28), ARITHMETIC(0x30), ARITHMETIC(0x38),
	[0x06 ... 0x07] = INVALID, [0x0e] = INVALID, [0x0f] = ESCAPE,
	[0x16 ... 0x17] = INVALID, [0x1e ... 0x1f] = INVALID,
	[0x26] = PREFIX, [0x27] = INVALID, [0x2e] = PREFIX, [0x2f] = INVALID,
	[0x36] = PREFIX, [0x37] = INVALID, [0x3e] = PREFIX, [0x3f] = INVALID,
	[0x60 ... 0x61] = INVALID, [0x62] = ESCAPE, [0x63] = MODRM, [0x64 ... 0x67] = PREFIX,
	[0x68] = FULL, [0x69] = MODRM | FULL, [0x6a] = 1, [0x6b] = MODRM | 1,
	[0x70 ... 0x7f] = 1,
	[0x80] = MODRM | 1, [0x81] = MODRM | FULL, [0x82] = INVALID, [0x83] = MODRM | 1,
	[0x84 ... 0x8f] = MODRM,
	[0x9a] = INVALID,
	[0xa0 ... 0xa3] = 8, [0xa8] = 1, [0xa9] = FULL,
	[0xb0 ... 0xb7] = 1, [0xb8 ... 0xbf] = WIDEST,
	[0xc0 ... 0xc1] = MODRM | 1, [0xc2] = 2, [0xc4 ... 0xc5] = ESCAPE,
	[0xc6] = MODRM | 1, [0xc7] = MODRM | FULL, [0xc8] = 3, [0xca] = 2, [0xcd] = 1,
	[0xce] = INVALID,
	[0xd0 ... 0xd3] = MODRM, [0xd4 ... 0xd6] = INVALID, [0xd8 ... 0xdf] = MODRM,
	[0xe0 ... 0xe7] = 1, [0xe8 ... 0xe9] = 4, [0xea] = INVALID, [0xeb] = 1,
	[0xf0] = PREFIX, [0xf2 ... 0xf3] = PREFIX,
	[0xf6] = MODRM | TEST, [0xf7] = MODRM | TEST_FULL, [0xfe ... 0xff] = MODRM,
};

/* Opcodes after 0f. */
static const u8 two_byte[256] = {
	[0x00 ... 0x04] = MODRM, [0x0a] = MODRM, [0x0c ... 0x0d] = MODRM, [0x0f] = MODRM | 1,
	[0x10 ... 0x2f] = MODRM, [0x38 ... 0x6f] = MODRM, [0x70 ... 0x73] = MODRM | 1,
	[0x74 ... 0x76] = MODRM, [0x78 ... 0x7f] = MODRM, [0x80 ... 0x8f] = 4,
	[0x90 ... 0x9f] = MODRM, [0xa3] = MODRM, [0xa4] = MODRM | 1, [0xa5 ... 0xa7] = MODRM,
	[0xab] = MODRM, [0xac] = MODRM | 1, [0xad ... 0xb9] = MODRM, [0xba] = MODRM | 1,
	[0xbb ... 0xc1] = MODRM, [0xc2] = MODRM | 1, [0xc3] = MODRM, [0xc4 ... 0xc6] = MODRM | 1,
	[0xc7] = MODRM, [0xd0 ... 0xff] = MODRM,
};

/* The signed number of @size bytes at @p. Four bytes must be readable. */
static __always_inline s32 number(const u8 *p, u32 size)
{
	s32 val;

	memcpy(&val, p, sizeof(val));
	return size == 1 ? (s8)val : size == 4 ? val :
	       size == 2 ? (s16)val : val & ((1 << 8 * size) - 1);
}

/*
 * Returns what follows an opcode that begins with 0f, VEX or EVEX at p[@n];
 * bits 8 and up are the index of the opcode's last byte.
 */
static noinline u32 kunwind_walk_attr escaped(const u8 *p, u32 n, struct kunwind_insn *insn)
{
	const u8 first = p[n];
	u32 kind = MODRM;

	if (first == 0x0f) {
		insn->map = p[++n] == 0x38 ? 2 : p[n] == 0x3a ? 3 : 1;
		n += insn->map > 1;
	} else {
		insn->vex = true;
		insn->map = first == 0xc5 ? 1 : p[n + 1] & (first == 0xc4 ? 0x1f : 7);
		n += first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4;
	}
	insn->op = p[n];
	if (insn->map == 1)
		kind = !insn->vex ? two_byte[insn->op] :
		       insn->op == 0x77 ? 0 : MODRM | (two_byte[insn->op] & 1);
	else if (insn->map == 3)
		kind |= 1;
	else if (!insn->map)
		kind = INVALID;
	return kind | n << 8;
}

/* Decodes the instruction at @p; may read up to 8 * KUNWIND_TEXT_BEHIND bytes after the code. */
static __always_inline bool decode(struct kunwind_mem *mem, bool i386, const u8 *p,
				   struct kunwind_insn *insn)
{
	u32 n = 0, size, kind = one_byte[*p], full = 4;

	*insn = (struct kunwind_insn){ };
	while (unlikely(kind & PREFIX) && n < KUNWIND_INSN_LONGEST - 4) {
		if (p[n] == 0x66)
			full = 2;
		if ((p[n] & 0xfe) == 0x64)
			insn->segment = p[n];
		if (unlikely(i386) && p[n] == 0x67)
			return false;
		kind = one_byte[p[++n]];
	}
	if (unlikely(n > 3))
		kunwind_pay(mem, n / 4);
	if (unlikely(i386)) {
		insn->wide = full == 4;
		/* bound, les and lds have a memory operand, unlike VEX and EVEX; then mov moffs */
		if (((p[n] & 0xfe) == 0xc4 || p[n] == 0x62) && p[n + 1] < 0xc0)
			kind = MODRM;
		else if ((p[n] & 0xfc) == 0xa0)
			kind = 4;
	} else if ((p[n] & 0xf0) == 0x40) {
		insn->wide = p[n] & 8;
		insn->reg_high = p[n] & 4;
		insn->index_high = p[n] & 2;
		insn->rm_high = p[n] & 1;
		if (insn->wide)
			full = 4;
		kind = one_byte[p[++n]];
	}
	insn->op = p[n];
	if (kind & ESCAPE) {
		kind = escaped(p, n, insn);
		n = kind >> 8;
	}
	n++;
	if (unlikely(kind & INVALID))
		return false;
	if (kind & MODRM) {
		u32 mod, rm;

		insn->has_modrm = true;
		insn->modrm = p[n++];
		mod = insn->modrm >> 6;
		rm = insn->modrm & 7;
		if (mod != 3) {
			size = mod == 1 ? 1 : mod == 2 || rm == 5 ? 4 : 0;
			if (rm == 4) {
				if (mod == 0 && (p[n] & 7) == 5)
					size = 4;
				insn->on_rsp = p[n] == 0x24 && !insn->rm_high && !insn->index_high;
				insn->absolute = !mod && (p[n] & 0x3f) == 0x25 && !insn->index_high;
				n++;
			}
			if (size)
				insn->disp = number(p + n, size);
			n += size;
		}
	}
	size = kind & IMMEDIATE;
	if (size) {
		if (size == FULL)
			size = full;
		else if (size == WIDEST)
			size = insn->wide && !i386 ? 8 : full;
		else if (size == TEST)
			size = insn->modrm & 0x30 ? 0 : 1;
		else if (size == TEST_FULL)
			size = insn->modrm & 0x30 ? 0 : full;
		insn->imm = number(p + n, min(size, 4U));
		n += size;
	}
	insn->length = n;
	return n <= KUNWIND_INSN_LONGEST;
}

/* Reads up to KUNWIND_TEXT_WORDS words of code from @at; returns the bytes read. */
static noinline u32 kunwind_walk_attr read_code(struct kunwind_mem *mem, u64 at, u64 *words)
{
	u64 word;
	u32 n;

	if (!kunwind_mem_begin(mem, at))
		return 0;
	for (n = 0; n < KUNWIND_TEXT_WORDS; n++) {
		kunwind_mem_read(mem, word, at + 8 * n, fault);
		words[kunwind_index(n, (u32)KUNWIND_TEXT_WORDS)] = word;
	}
	kunwind_mem_end(mem);
	return 8 * n;
fault:
	kunwind_mem_end(mem);
	kunwind_pay(mem, KUNWIND_COST_FAULT);
	return 8 * n;
}

bool kunwind_walk_attr kunwind_insn_next(struct kunwind_text *text, u64 at,
					 struct kunwind_insn *insn)
{
	u8 *first;

	if (!text->left || !kunwind_pay(text->mem, 1))
		return false;
	text->left--;
	if (text->read < text->used + KUNWIND_INSN_LONGEST) {
		if (!kunwind_pay(text->mem, 1))
			return false;
		text->read = read_code(text->mem, at, text->words);
		if (text->mem->answers)
			text->read = kunwind_analysis_cache_note(text->mem->answers, at,
								 text->words, text->read / 8);
		text->used = 0;
	}
	/* The byte under a breakpoint is needed: decode() would take int3 for the instruction. */
	first = (u8 *)text->words + text->used;
	if (unlikely(*first == 0xcc) && !kunwind_mem_original(text->mem, at, first)) {
		*first = 0xcc;
		/* The byte under it may be known later. Several in a row are padding. */
		if (text->read - text->used < 2 || first[1] != 0xcc)
			kunwind_analysis_cache_spoil(text->mem->answers);
		return false;
	}
	if (!decode(text->mem, text->i386, (const u8 *)text->words + text->used, insn) ||
	    insn->length > text->read - text->used)
		return false;
	text->used += insn->length;
	return true;
}

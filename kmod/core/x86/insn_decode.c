// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * insn_decode.c - decode the length and operands of instructions of x86-64 and
 * of 32-bit code
 *
 * The decoder knows the lengths of all instructions that compilers emit, VEX,
 * EVEX and XOP included (Intel SDM, volume 2, appendix A; AMD APM, volume 6), and
 * those of APX (Intel APX Architecture Specification, 3.1). It refuses most
 * others as invalid. In 32-bit code, the bytes of REX are inc and dec, and 16-bit
 * addressing is refused. It also refuses pushes and pops of 16 bits, jmpabs, and moves of control
 * registers.
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
#define ESCAPE		0x80	/* 0f, VEX, EVEX, REX2; or 8f: pop or XOP */

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
	[0x84 ... 0x8e] = MODRM, [0x8f] = ESCAPE,
	[0x9a] = INVALID,
	[0xa0 ... 0xa3] = 8, [0xa8] = 1, [0xa9] = FULL,
	[0xb0 ... 0xb7] = 1, [0xb8 ... 0xbf] = WIDEST,
	[0xc0 ... 0xc1] = MODRM | 1, [0xc2] = 2, [0xc4 ... 0xc5] = ESCAPE,
	[0xc6] = MODRM | 1, [0xc7] = MODRM | FULL, [0xc8] = 3, [0xca] = 2, [0xcd] = 1,
	[0xce] = INVALID,
	[0xd0 ... 0xd3] = MODRM, [0xd4] = INVALID, [0xd5] = ESCAPE, [0xd6] = INVALID, [0xd8 ... 0xdf] = MODRM,
	[0xe0 ... 0xe7] = 1, [0xe8 ... 0xe9] = 4, [0xea] = INVALID, [0xeb] = 1,
	[0xf0] = PREFIX, [0xf2 ... 0xf3] = PREFIX,
	[0xf6] = MODRM | TEST, [0xf7] = MODRM | TEST_FULL, [0xfe ... 0xff] = MODRM,
};

/* Opcodes after 0f. */
static const u8 two_byte[256] = {
	[0x00 ... 0x03] = MODRM, [0x04] = INVALID, [0x0a] = INVALID, [0x0c] = INVALID,
	[0x0d] = MODRM, [0x0f] = MODRM | 1, [0x10 ... 0x1f] = MODRM, [0x20 ... 0x27] = INVALID,
	[0x28 ... 0x2f] = MODRM, [0x36] = INVALID, [0x38] = MODRM, [0x39] = INVALID,
	[0x3a] = MODRM, [0x3b ... 0x3f] = INVALID, [0x40 ... 0x6f] = MODRM,
	[0x70 ... 0x73] = MODRM | 1, [0x74 ... 0x76] = MODRM, [0x78 ... 0x79] = MODRM,
	[0x7a ... 0x7b] = INVALID, [0x7c ... 0x7f] = MODRM, [0x80 ... 0x8f] = 4,
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

/* The prefixes VEX (c4, c5), XOP (8f) and EVEX (62) at @p. Returns their size in bytes. */
static __always_inline u32 vector_prefix(const u8 *p, struct kunwind_insn *insn)
{
	static const u8 prefixes[] = { 0, 0x66, 0xf3, 0xf2 };
	const u8 first = p[0], last = first == 0xc5 ? p[1] : p[2];

	insn->vex = true;
	insn->prefix = prefixes[last & 3];
	insn->third = ~last >> 3 & 15;
	insn->reg_high = !(p[1] & 0x80);
	if (first == 0xc5) {
		insn->map = 1;
		return 2;
	}
	insn->index_high = !(p[1] & 0x40);
	insn->rm_high = !(p[1] & 0x20);
	insn->wide = last & 0x80;
	insn->map = p[1] & 0x1f;
	if (first != 0x62)
		return 3;
	insn->map &= 7;
	insn->reg_high |= p[1] & 0x10 ? 0 : 2;
	insn->rm_high |= p[1] & 8 ? 2 : 0;
	insn->index_high |= last & 4 ? 0 : 2;
	insn->third |= p[3] & 8 ? 0 : 16;
	insn->to_third = insn->map == 4 && p[3] & 0x10;
	return 4;
}

/*
 * The prefix REX2 at @p: bit 4 of each register's number, then REX, with the map
 * in place of bit 7. Returns what follows the opcode, as escaped() does.
 */
static __always_inline u32 rex2(const u8 *p, u32 n, struct kunwind_insn *insn)
{
	const u8 bits = p[n + 1], op = p[n + 2];

	insn->reg_high = (bits >> 2 & 1) | (bits >> 5 & 2);
	insn->index_high = (bits >> 1 & 1) | (bits >> 4 & 2);
	insn->rm_high = (bits & 1) | (bits >> 3 & 2);
	insn->wide = bits & 8;
	insn->map = bits >> 7;
	insn->op = op;
	n = (n + 2) << 8;
	/* Rows 4 (REX), 7 (jcc), a (jmpabs) and e; rows 3 (other maps) and 8 (jcc) */
	if (insn->map)
		return op >> 4 == 3 || op >> 4 == 8 ? INVALID : two_byte[op] | n;
	if (op >> 4 == 4 || op >> 4 == 7 || op >> 4 == 10 || op >> 4 == 14 ||
	    one_byte[op] & (PREFIX | (op == 0x8f ? 0 : ESCAPE)))
		return INVALID;
	return (op == 0x8f ? (u32)MODRM : one_byte[op]) | n;
}

/*
 * Returns what follows an opcode that begins with 0f, VEX, XOP, EVEX or REX2 at
 * p[@n]; bits 8 and up are the index of the opcode's last byte.
 */
static noinline u32 kunwind_walk_attr escaped(const u8 *p, u32 n, bool i386, bool rex,
					      struct kunwind_insn *insn)
{
	const u8 first = p[n];
	u32 kind = MODRM;

	if (first == 0x8f && (p[n + 1] & 0x1f) < 8)
		return p[n + 1] & 0x38 ? INVALID : MODRM | n << 8;	/* pop */
	if (first == 0x0f) {
		insn->map = p[++n] == 0x38 ? 2 : p[n] == 0x3a ? 3 : 1;
		n += insn->map > 1;
	} else if (insn->prefix || rex) {
		return INVALID;
	} else if (first == 0xd5) {
		return i386 ? INVALID : rex2(p, n, insn);
	} else {
		n += vector_prefix(p + n, insn);
	}
	insn->op = p[n];
	switch (insn->map) {
	case 0:
		return INVALID;
	case 1:
		kind = !insn->vex ? two_byte[insn->op] :
		       insn->op == 0x77 ? 0 : MODRM | (two_byte[insn->op] & 1);
		/* extrq and insertq of SSE4a have two bytes */
		if (insn->op == 0x78 && !insn->vex && (insn->prefix == 0x66 || insn->prefix == 0xf2))
			kind |= 2;
		break;
	case 3: case 8:
		kind |= 1;
		break;
	case 4:
		if (first != 0x62 || i386)
			return INVALID;
		kind |= one_byte[insn->op] & IMMEDIATE;
		/* shld, shrd and sha1rnds4, which map 0 does not have; adcx, adox and kin */
		if (insn->op == 0x24 || insn->op == 0x2c || insn->op == 0xd4)
			kind = MODRM | 1;
		else if (!(one_byte[insn->op] & MODRM))
			kind = MODRM;
		break;
	case 7: case 10:
		kind |= 4;
		break;
	}
	if (insn->map > 7 && first != 0x8f)
		return INVALID;
	return kind | n << 8;
}

/*
 * Whether an instruction with operands of 16 bits is a push, pop, enter or leave;
 * or a call or a jump, whose length then differs between processors.
 */
static noinline bool kunwind_walk_attr is_odd_16(bool i386, const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	if (insn->map)
		return insn->map == 1 && op >> 4 == 8 && !insn->vex;
	return op >> 4 == 5 || op == 0x68 || op == 0x6a || op == 0x8f || op == 0x9c || op == 0x9d ||
	       op == 0xc8 || op == 0xc9 || op == 0xe8 || op == 0xe9 ||
	       (op == 0xff && (insn->modrm >> 3 & 7) == 6) || (i386 && (op & 0xfe) == 0xc2);
}

/* Decodes the instruction at @p; may read up to 8 * KUNWIND_TEXT_BEHIND bytes after the code. */
static __always_inline bool decode(struct kunwind_mem *mem, bool i386, const u8 *p,
				   struct kunwind_insn *insn)
{
	u32 n = 0, size, kind = one_byte[*p], full = 4;
	bool rex = false;

	*insn = (struct kunwind_insn){ };
	while (unlikely(kind & PREFIX) && n < KUNWIND_INSN_LONGEST - 4) {
		if (p[n] == 0x66)
			full = 2;
		if (p[n] >= 0xf2 || (p[n] == 0x66 && !insn->prefix))
			insn->prefix = p[n];
		if ((p[n] & 0xfe) == 0x64)
			insn->segment = p[n];
		if (unlikely(p[n] == 0x67)) {
			if (i386)
				return false;
			insn->short_address = true;
		}
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
		rex = true;
		insn->wide = p[n] & 8;
		insn->reg_high = p[n] >> 2 & 1;
		insn->index_high = p[n] >> 1 & 1;
		insn->rm_high = p[n] & 1;
		kind = one_byte[p[++n]];
		/* a prefix or another REX after it */
		if (unlikely((p[n] & 0xf0) == 0x40))
			return false;
	}
	insn->op = p[n];
	if (kind & ESCAPE) {
		kind = escaped(p, n, i386, rex, insn);
		n = kind >> 8;
		if (insn->map == 4 && insn->prefix == 0x66)
			full = 2;
	}
	if (insn->wide)
		full = 4;
	n++;
	if (unlikely(kind & (INVALID | PREFIX)))
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
				insn->sib = p[n];
				if (mod == 0 && (p[n] & 7) == 5)
					size = 4;
				insn->on_rsp = p[n] == 0x24 && !insn->rm_high && !insn->index_high &&
					       !insn->short_address && !insn->segment;
				insn->absolute = !mod && (p[n] & 0x3f) == 0x25 && !insn->index_high &&
						 !insn->short_address;
				n++;
			}
			if (size)
				insn->disp = number(p + n, size);
			n += size;
		}
	}
	size = kind & IMMEDIATE;
	if (unlikely(size == 8) && insn->short_address)		/* mov moffs */
		size = 4;
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
	if (unlikely(full == 2) && is_odd_16(i386, insn))
		return false;
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

bool kunwind_insn_decode(const u8 *code, struct kunwind_insn *insn)
{
	struct kunwind_mem mem = { .left = KUNWIND_BUDGET };

	return decode(&mem, false, code, insn);
}

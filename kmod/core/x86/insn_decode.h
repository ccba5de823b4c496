/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * insn_decode.h - decode instructions of x86-64 and of 32-bit code, one after
 * the other (insn_decode.c)
 */
#ifndef _KUNWIND_INSN_DECODE_H
#define _KUNWIND_INSN_DECODE_H

#include "../kunwind_core.h"

struct kunwind_insn {
	u32 length;
	u8 map;			/* 0: one byte; 1: 0f; 2: 0f 38; 3: 0f 3a; 4: one byte, with a third
				 * operand (APX); 5 to 7: more of VEX and EVEX; 8 to 10: XOP */
	u8 op;
	u8 modrm;		/* 0 if there is none */
	u8 sib;			/* 0 if there is none */
	bool has_modrm;
	bool wide;		/* REX.W; in 32-bit code: no prefix 66 (16 bits) */
	u8 reg_high, rm_high;	/* R and B of REX or VEX; bit 1: of REX2 or EVEX (registers 16 to 31) */
	u8 index_high;		/* X */
	u8 third;		/* VEX, EVEX and XOP: the register in vvvv */
	bool to_third;		/* map 4: the instruction writes @third instead of its first operand */
	u8 prefix;		/* 0xf2, 0xf3, else 0x66, or 0; VEX, EVEX and XOP: the same by pp */
	bool on_rsp;		/* the memory operand is disp(%rsp) */
	bool absolute;		/* the memory operand is disp alone */
	bool short_address;	/* prefix 67: the memory operand's address has 32 bits */
	u8 segment;		/* prefix of the memory operand: 0x64 (fs), 0x65 (gs), or 0 */
	bool vex;		/* VEX, EVEX or XOP */
	s32 imm;		/* of 1, 2 or 4 bytes: sign-extended; of 3: zero-extended; of 8:
				 * the low four. Of a branch: the distance */
	s32 disp;
};

/* DWARF's number of the general register that has @number in instructions; they differ below 8. */
static __always_inline u32 kunwind_insn_dwarf(u32 number)
{
	static const u8 below_8[] = {
		KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RDX, KUNWIND_RBX,
		KUNWIND_RSP, KUNWIND_RBP, KUNWIND_RSI, KUNWIND_RDI,
	};

	return number < ARRAY_SIZE(below_8) ?
		       below_8[kunwind_index(number, (u32)ARRAY_SIZE(below_8))] : number;
}

#define KUNWIND_INSN_LONGEST	15
#define KUNWIND_TEXT_WORDS	4	/* words of code at a time */
#define KUNWIND_TEXT_BEHIND	4	/* words of zeros after them, which the decoder may read */

/* State of a reader of code. Members that the caller does not set must be zero. */
struct kunwind_text {
	struct kunwind_mem *mem;
	bool i386;		/* the code is 32-bit code */
	u32 left;		/* instructions that may still be read */
	u32 read, used;		/* bytes in words[]; offset of the next instruction in words[] */
	u64 words[KUNWIND_TEXT_WORDS + KUNWIND_TEXT_BEHIND];
};

/**
 * kunwind_insn_next() - decode the instruction at @at, which follows the
 * previous one
 *
 * Any context; no window may be open. To continue at another address, set
 * text->read and text->used to 0 first.
 * Return: false if the instruction is not known or cannot be read, if the byte
 * under a breakpoint is not known, or if text->left or the walk's budget is
 * spent.
 */
bool kunwind_insn_next(struct kunwind_text *text, u64 at, struct kunwind_insn *insn);

/*
 * Whether an instruction of another map than the one-byte map writes the general
 * register @number (insn_writes.c). Any context.
 */
bool kunwind_insn_writes_more(const struct kunwind_insn *insn, u8 number);

/*
 * Decodes the instruction at @code. 8 * KUNWIND_TEXT_BEHIND bytes after the first must be
 * readable. Any context. Returns false if the instruction is not known.
 */
bool kunwind_insn_decode(const u8 *code, struct kunwind_insn *insn);

#endif /* _KUNWIND_INSN_DECODE_H */

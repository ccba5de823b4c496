/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * insn.h - instructions of x86-64 and of 32-bit code, one after the other
 */
#ifndef _KUNWIND_INSN_H
#define _KUNWIND_INSN_H

#include "../kunwind_core.h"

struct kunwind_insn {
	u32 length;
	u8 map;			/* 0: one byte; 1: 0f; 2: 0f 38; 3: 0f 3a; 4 and up: EVEX's own */
	u8 op;
	u8 modrm;		/* 0 when there is none */
	bool has_modrm;
	bool wide;		/* REX.W; in 32-bit code: no prefix 66 (16 bits) */
	bool reg_high, rm_high;	/* REX.R, REX.B */
	bool index_high;	/* REX.X */
	bool on_rsp;		/* the memory operand is disp(%rsp) */
	bool vex;
	s32 imm;		/* of 1, 2 or 4 bytes; distance of a branch */
	s32 disp;
};

#define KUNWIND_INSN_LONGEST	15
#define KUNWIND_TEXT_WORDS	4	/* words of code at a time */
#define KUNWIND_TEXT_BEHIND	4	/* words of zeros that the decoder may look at behind them */

/* Code that is being read. */
struct kunwind_text {
	struct kunwind_mem *mem;
	bool i386;		/* it is 32-bit code */
	u32 left;		/* instructions that may still be read */
	u32 read, used;		/* bytes that are here; where the next instruction is */
	u64 words[KUNWIND_TEXT_WORDS + KUNWIND_TEXT_BEHIND];
};

/**
 * kunwind_insn_next() - the instruction at @at, behind the one before
 * False: it is not understood, not there, or text->left is spent. No window may be
 * open. To go on elsewhere, set text->read and text->used to 0.
 */
bool kunwind_insn_next(struct kunwind_text *text, u64 at, struct kunwind_insn *insn);

#endif /* _KUNWIND_INSN_H */

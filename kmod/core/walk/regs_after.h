/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * regs_after.h - what a step does to the callee-saved registers
 *
 * A short rule says where the caller's rsp, rbp and return address are. A
 * second word, "after", says what happens to the other callee-saved registers:
 *   bits 0-15   KUNWIND_REG() bits of the registers that the step keeps or
 *               reads from the stack; always with rbp and rsp, except in an
 *               entry of the cache for an outermost frame, from which there is
 *               no step (the word is 0)
 *   bits 16-30  three bits each for rbx, r12, r13, r14, r15: n > 0 if the
 *               caller's value is at CFA - 8 - 8 * n
 *   bits 31-63  the sequence number of the cache's entry; not used elsewhere
 */
#ifndef _KUNWIND_REGS_AFTER_H
#define _KUNWIND_REGS_AFTER_H

#include "../kunwind_core.h"

#define KUNWIND_AFTER_PLACE	7U		/* greatest n */
#define KUNWIND_AFTER_PLACES	0x7fff0000U
#define KUNWIND_AFTER_SEQ_ONE	(1ULL << 31)
#define KUNWIND_AFTER_SEQ	(~0ULL << 31)

/* The word for a step that reads no register from the stack; the table follows @keep. */
static __always_inline u64 kunwind_after(u32 keep)
{
	return (keep & KUNWIND_SAVED_REGS) | KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP);
}

/* The number of a register in bits 16-30: 0 for rbx, 1 to 4 for r12 to r15. */
static __always_inline u32 kunwind_after_number(u32 reg)
{
	return reg == KUNWIND_RBX ? 0 : reg - KUNWIND_R12 + 1;
}

static __always_inline u32 kunwind_after_place(u64 after, u32 number)
{
	return (u32)after >> (16 + 3 * number) & KUNWIND_AFTER_PLACE;
}

#endif /* _KUNWIND_REGS_AFTER_H */

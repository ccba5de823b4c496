/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * after.h - what a step does to the callee-saved registers
 *
 * Besides its rule, the walk needs of a frame what becomes of the callee-saved
 * registers other than rbp. One word says that, "after":
 *   bits 0-15   KUNWIND_REG() bits of those whose value is known after the step
 *               if it was before, or is on the stack; rbp and rsp always
 *   bits 16-30  three bits each for rbx, r12, r13, r14, r15: n > 0 when the
 *               caller's value is at CFA - 8 - 8 * n
 *   bits 31-63  the sequence of the entry of the cache; not used elsewhere
 */
#ifndef _KUNWIND_AFTER_H
#define _KUNWIND_AFTER_H

#include "../kunwind_core.h"

#define KUNWIND_AFTER_PLACE	7U		/* greatest n */
#define KUNWIND_AFTER_PLACES	0x7fff0000U
#define KUNWIND_AFTER_SEQ_ONE	(1ULL << 31)
#define KUNWIND_AFTER_SEQ	(~0ULL << 31)

/* The word for a table that follows @keep, no register being on the stack. */
static __always_inline u64 kunwind_after(u32 keep)
{
	return (keep & KUNWIND_SAVED_REGS) | KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP);
}

/* The registers that have places are numbered: rbx is 0, then come r12 to r15. */
static __always_inline u32 kunwind_after_number(u32 reg)
{
	return reg == KUNWIND_RBX ? 0 : reg - KUNWIND_R12 + 1;
}

static __always_inline u32 kunwind_after_place(u64 after, u32 number)
{
	return (u32)after >> (16 + 3 * number) & KUNWIND_AFTER_PLACE;
}

#endif /* _KUNWIND_AFTER_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * i386.h - what is different in the unwind information of 32-bit code
 *
 * Words and addresses have four bytes, the return address is column 8, and the
 * DWARF numbers of the registers are others. All else is alike, so 32-bit rules
 * are those of x86-64 (kunwind_core.h) with the registers renamed as they are
 * read, and with the return address at CFA - 4. Source: System V psABI, Intel386
 * (version 1.1), table 2.14.
 */
#ifndef _KUNWIND_I386_H
#define _KUNWIND_I386_H

#include "../kunwind_core.h"

#define KUNWIND_I386_RA		8

/* Bytes of a word on the stack. */
static __always_inline u32 kunwind_word(bool i386)
{
	return i386 ? 4 : 8;
}

/* KUNWIND_NR_REGS: one that is not followed (flags, x87, vector, segment). */
static __always_inline u32 kunwind_i386_reg(u64 number)
{
	static const u8 regs[] = {
		KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RDX, KUNWIND_RBX, KUNWIND_RSP, KUNWIND_RBP,
		KUNWIND_RSI, KUNWIND_RDI, KUNWIND_RA,
	};

	return number < ARRAY_SIZE(regs) ? regs[number] : KUNWIND_NR_REGS;
}

/* The register of a number in CFI, KUNWIND_NR_REGS or more when it is not followed. */
static __always_inline u64 kunwind_reg_of(bool i386, u64 number)
{
	return unlikely(i386) ? kunwind_i386_reg(number) : number;
}

/* The callee-saved ones besides ebp and esp. */
#define KUNWIND_I386_SAVED	(KUNWIND_REG(KUNWIND_RBX) | KUNWIND_REG(KUNWIND_RSI) | \
				 KUNWIND_REG(KUNWIND_RDI))

static __always_inline u32 kunwind_saved_regs(bool i386)
{
	return i386 ? KUNWIND_I386_SAVED : KUNWIND_SAVED_REGS;
}

#endif /* _KUNWIND_I386_H */

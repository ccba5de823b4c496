/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * i386.h - how the unwind information of 32-bit code differs from that of
 * x86-64
 *
 * Words and addresses have four bytes, the return address is column 8, and
 * registers have other DWARF numbers. Everything else is the same. So 32-bit
 * rules have the format of x86-64 rules (kunwind_core.h): register numbers are
 * converted when CFI is read, and the return address is at CFA - 4. Any
 * context. Source: System V psABI, Intel386 (version 1.1), table 2.14.
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

/* Converts an i386 number; KUNWIND_NR_REGS: not followed (flags, x87, vector, segment). */
static __always_inline u32 kunwind_i386_reg(u64 number)
{
	static const u8 regs[] = {
		KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RDX, KUNWIND_RBX, KUNWIND_RSP, KUNWIND_RBP,
		KUNWIND_RSI, KUNWIND_RDI, KUNWIND_RA,
	};

	return number < ARRAY_SIZE(regs) ? regs[number] : KUNWIND_NR_REGS;
}

/* Converts a register number of CFI; KUNWIND_NR_REGS or more: the register is not followed. */
static __always_inline u64 kunwind_reg_of(bool i386, u64 number)
{
	return unlikely(i386) ? kunwind_i386_reg(number) : number;
}

/* The callee-saved registers of 32-bit code, without ebp and esp. */
#define KUNWIND_I386_SAVED	(KUNWIND_REG(KUNWIND_RBX) | KUNWIND_REG(KUNWIND_RSI) | \
				 KUNWIND_REG(KUNWIND_RDI))

static __always_inline u32 kunwind_saved_regs(bool i386)
{
	return i386 ? KUNWIND_I386_SAVED : KUNWIND_SAVED_REGS;
}

#endif /* _KUNWIND_I386_H */

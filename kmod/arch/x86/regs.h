/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * regs.h - the user's registers of x86-64, from where the kernel keeps them to
 * DWARF's order
 *
 * This is not all that is x86 only: the core and other files of kmod are, too.
 * docs/architecture.md lists them.
 */
#ifndef _KUNWIND_X86_REGS_H
#define _KUNWIND_X86_REGS_H

#include <asm/ptrace.h>
#include "../../core/kunwind_core.h"

static __always_inline bool kunwind_regs_64bit(const struct pt_regs *regs)
{
	return regs->cs == __USER_CS;
}

/* 32-bit code: of a 32-bit program, or where a 64-bit one went there (Wine). */
static __always_inline bool kunwind_regs_i386(const struct pt_regs *regs)
{
	return regs->cs == __USER32_CS;
}

/* Those that kunwind_walk_again() needs. */
static __always_inline void kunwind_regs_load_frame(struct kunwind_regs *to,
						    const struct pt_regs *regs, u32 valid)
{
	to->r[KUNWIND_RBP] = regs->bp;
	to->r[KUNWIND_RSP] = regs->sp;
	to->r[KUNWIND_RA] = regs->ip;
	to->valid = valid;
}

static __always_inline void kunwind_regs_load(struct kunwind_regs *to, const struct pt_regs *regs,
					      u32 valid)
{
	to->r[KUNWIND_RAX] = regs->ax;
	to->r[KUNWIND_RDX] = regs->dx;
	to->r[KUNWIND_RCX] = regs->cx;
	to->r[KUNWIND_RBX] = regs->bx;
	to->r[KUNWIND_RSI] = regs->si;
	to->r[KUNWIND_RDI] = regs->di;
	to->r[KUNWIND_R8] = regs->r8;
	to->r[KUNWIND_R9] = regs->r9;
	to->r[KUNWIND_R10] = regs->r10;
	to->r[KUNWIND_R11] = regs->r11;
	to->r[KUNWIND_R12] = regs->r12;
	to->r[KUNWIND_R13] = regs->r13;
	to->r[KUNWIND_R14] = regs->r14;
	to->r[KUNWIND_R15] = regs->r15;
	kunwind_regs_load_frame(to, regs, valid);
}

/*
 * At an NMI that hit the kernel, task_pt_regs() may be half written, and what
 * was pushed last are rbx and r12 to r15: not to be trusted.
 */
#define KUNWIND_REGS_NMI	(KUNWIND_ALL_REGS & ~KUNWIND_SAVED_REGS)

#endif /* _KUNWIND_X86_REGS_H */

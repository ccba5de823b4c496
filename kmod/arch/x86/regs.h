/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * regs.h - read the user's registers of x86-64 from struct pt_regs
 *
 * The result is in DWARF's order. Any context, NMI included. Other files of the
 * core and of kmod are specific to x86, too; docs/architecture.md lists them.
 */
#ifndef _KUNWIND_X86_REGS_H
#define _KUNWIND_X86_REGS_H

#include <asm/ptrace.h>
#include "../../core/kunwind_core.h"

/* A guest of Xen (PV) has another code segment than __USER_CS. */
static __always_inline bool kunwind_regs_64bit(const struct pt_regs *regs)
{
	return user_64bit_mode((struct pt_regs *)regs);
}

/* 32-bit code: of a 32-bit program, or inside a 64-bit one (Wine). */
static __always_inline bool kunwind_regs_i386(const struct pt_regs *regs)
{
	return regs->cs == __USER32_CS;
}

/* Loads the registers that kunwind_replay_walk() needs, and sets to->valid. */
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
 * In an NMI that hit the kernel, task_pt_regs() may be half written. The entry
 * code saves rbx and r12 to r15 last, so these are not valid.
 */
#define KUNWIND_REGS_NMI	(KUNWIND_ALL_REGS & ~KUNWIND_SAVED_REGS)

#endif /* _KUNWIND_X86_REGS_H */

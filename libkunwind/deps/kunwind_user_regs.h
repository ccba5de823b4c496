/* SPDX-License-Identifier: MIT */
/*
 * kunwind_user_regs.h - registers in the order of struct kunwind_registers (DWARF's numbers, then
 * rip), from the structures of ptrace(2) and of a signal handler
 *
 * Any context, a signal handler too.
 */
#ifndef _KUNWIND_USER_REGS_H
#define _KUNWIND_USER_REGS_H

#include <stdint.h>
#include <sys/user.h>
#include <ucontext.h>

#define KUNWIND_USER_REGS	17

static inline void kunwind_regs_of_user(uint64_t *r, const struct user_regs_struct *from)
{
	const uint64_t values[KUNWIND_USER_REGS] = {
		from->rax, from->rdx, from->rcx, from->rbx, from->rsi, from->rdi, from->rbp, from->rsp,
		from->r8, from->r9, from->r10, from->r11, from->r12, from->r13, from->r14, from->r15,
		from->rip,
	};
	unsigned int i;

	for (i = 0; i < KUNWIND_USER_REGS; i++)
		r[i] = values[i];
}

static inline void kunwind_regs_of_ucontext(uint64_t *r, const ucontext_t *from)
{
	static const unsigned char number[KUNWIND_USER_REGS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9,
		REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};
	unsigned int i;

	for (i = 0; i < KUNWIND_USER_REGS; i++)
		r[i] = (uint64_t)from->uc_mcontext.gregs[number[i]];
}

#endif /* _KUNWIND_USER_REGS_H */

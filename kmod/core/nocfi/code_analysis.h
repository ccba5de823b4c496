/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * code_analysis.h - what a function has put on the stack at an instruction
 * (code_analysis.c)
 *
 * 64-bit code only. Any context, NMI included. The caller must have no window
 * open.
 */
#ifndef _KUNWIND_CODE_ANALYSIS_H
#define _KUNWIND_CODE_ANALYSIS_H

#include "../x86/insn_decode.h"

#define KUNWIND_CODE_RBP_LOST	(-2)	/* as rbp_at: the caller's rbp is not known */

/**
 * kunwind_code_read() - find the return address at an instruction of a function
 * @from: the function's entry
 * @to: the instruction
 * @code: out: depth, frame, rbp_at; all are -1 if @to was not reached
 */
void kunwind_code_read(struct kunwind_mem *mem, u64 from, u64 to, struct kunwind_code *code);

#define KUNWIND_CODE_ANYWHERE	1

/*
 * Where the function at @from jumps with nothing on its stack (a tail call):
 * the first target in [@lo, @hi]; or else KUNWIND_CODE_ANYWHERE, if it jumps
 * through a register of unknown value or through memory; or else the target of
 * the first unconditional jump. 0: no such jump was found. *left: in: how many
 * instructions may be read; out: how many of these were not.
 */
u64 kunwind_code_tail(struct kunwind_mem *mem, u64 from, u64 lo, u64 hi, u32 *left);

/*
 * Whether the next push from @from on is of the register @reg (its number in
 * instructions), and the code before it does not write that register, and does not
 * jump. *returns: a return follows the push directly: it jumps to the pushed word.
 */
bool kunwind_code_keeps(struct kunwind_mem *mem, u64 from, u32 reg, bool *returns);

/*
 * If the code at @ip tests the result of a system call and jumps: returns the address
 * that is reached when the result is 0. Otherwise returns @ip. @behind: the eight
 * bytes of code before @ip.
 */
u64 kunwind_code_after_zero(struct kunwind_mem *mem, u64 behind, u64 ip);

/*
 * Whether the instruction writes the register @number (as in ModRM) by an
 * operand that ModRM names. Not reported: push, pop, leave, registers that the
 * opcode names (mov imm, %reg; xchg %reg, %rax), and implied registers (mul).
 */
bool kunwind_insn_writes(const struct kunwind_insn *insn, u8 number);

#endif /* _KUNWIND_CODE_ANALYSIS_H */

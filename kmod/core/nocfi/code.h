/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * code.h - what a function has done up to one of its instructions (code.c)
 *
 * No window may be open.
 */
#ifndef _KUNWIND_CODE_H
#define _KUNWIND_CODE_H

#include "../x86/insn.h"

#define KUNWIND_CODE_RBP_LOST	(-2)	/* as rbp_at: not told */

/**
 * kunwind_code_read() - what is on the stack at an instruction of a function
 * @from: the function's entry, @to: the instruction
 * Reads memory; no window may be open.
 */
void kunwind_code_read(struct kunwind_mem *mem, u64 from, u64 to, struct kunwind_code *code);

#define KUNWIND_CODE_ANYWHERE	1

/*
 * Where the function at @from jumps to with nothing on its stack (a tail call): the first place in
 * [@lo, @hi]; or else KUNWIND_CODE_ANYWHERE, if it jumps by a register or a table; or else the
 * first place that it jumps to for good. 0: no such jump is among @left instructions (out: those
 * that were not read). No window may be open.
 */
u64 kunwind_code_tail(struct kunwind_mem *mem, u64 from, u64 lo, u64 hi, u32 *left);

/* Whether the instruction, which is no push, pop or leave, writes the register (ModRM's number). */
bool kunwind_insn_writes(const struct kunwind_insn *insn, u8 number);

#endif /* _KUNWIND_CODE_H */

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
 * Whether a jump skips the call that ends at @after, with a higher rsp than the
 * call has. Then the call never returns: the compiler knows that, so the code
 * that it puts after the call need not fit the stack at the call.
 *
 *		je	L
 *		...			L belongs to this code
 *		push	$8
 *		push	$7		the seventh and eighth argument
 *		call	die
 *	L:	...
 *
 * Reads the 1,024 bytes of code before @after. Returns by how many bytes rsp is
 * higher at the jump than at the call; 0 if no such jump was found.
 */
s32 kunwind_code_skipped(struct kunwind_mem *mem, u64 after);

#endif /* _KUNWIND_CODE_ANALYSIS_H */

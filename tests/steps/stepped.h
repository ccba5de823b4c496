/* SPDX-License-Identifier: MIT */
/*
 * stepped.h - what an instruction does to the stack, as far as the shadow needs it
 *
 * Of its own, so that the core's decoder cannot mislead the oracle. It tells kinds only; how long a
 * call is, the return address that it pushed says.
 */
#ifndef _STEPS_STEPPED_H
#define _STEPS_STEPPED_H

#include "kunwind_deps.h"

enum stepped {
	STEPPED_OTHER,
	STEPPED_CALL,		/* e8, ff /2 */
	STEPPED_RETURN,		/* c3, c2 */
	STEPPED_JUMP,		/* ff /4: to where a register or memory says */
	STEPPED_SYSCALL,	/* 0f 05 */
	STEPPED_POP,		/* into memory, or a general register other than rsp */
	STEPPED_SET_SP,		/* mov, xchg, cmov, pop, leave: rsp from elsewhere */
};

/* @code: 16 bytes, zeros behind what could be read. */
enum stepped stepped_kind(const u8 *code);

#endif /* _STEPS_STEPPED_H */

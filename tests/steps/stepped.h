/* SPDX-License-Identifier: MIT */
/*
 * stepped.h - kinds of instructions that the shadow stacks distinguish
 *
 * This decoder is independent of the core's, so that the oracle does not share
 * its faults. It finds only the kind; the length of a call follows from the
 * return address that it pushed.
 */
#ifndef _STEPS_STEPPED_H
#define _STEPS_STEPPED_H

#include "kunwind_deps.h"

enum stepped {
	STEPPED_OTHER,
	STEPPED_CALL,		/* e8, ff /2 */
	STEPPED_RETURN,		/* c3, c2 */
	STEPPED_JUMP,		/* ff /4: indirect */
	STEPPED_SYSCALL,	/* 0f 05 */
	STEPPED_POP,		/* into memory, or a general register other than rsp */
	STEPPED_SET_SP,		/* mov, xchg, cmov, pop, leave: rsp from elsewhere */
};

/* @code: 16 bytes; those that could not be read are zero. */
enum stepped stepped_kind(const u8 *code);

#endif /* _STEPS_STEPPED_H */

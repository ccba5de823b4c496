/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * start.h - where the stacks of programs, threads and goroutines begin (start.c)
 */
#ifndef _KUNWIND_START_H
#define _KUNWIND_START_H

#include "../kunwind_core.h"

/*
 * Whether a frame at the instruction @ip with the stack pointer @sp is where the kernel
 * started the program, or where ld.so did. No window may be open.
 */
bool kunwind_at_start(struct kunwind_walk *walk, u64 ip, u64 sp);

/*
 * Whether the code around the return address @ra is where a thread begins: it clears rbp,
 * calls, and when that returns, exits. Nothing called it. No window may be open.
 */
bool kunwind_code_outermost(struct kunwind_mem *mem, u64 ra);

/*
 * Whether the return address @ra is in Go's runtime.goexit(), where the stack of a goroutine ends:
 * at its second byte, to which the goroutine's first function returns, or after its call of
 * runtime.goexit1(). No window may be open.
 */
bool kunwind_code_begins_goroutine(struct kunwind_mem *mem, u64 ra);

#endif /* _KUNWIND_START_H */

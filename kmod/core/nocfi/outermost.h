/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * outermost.h - where stacks of programs, threads, goroutines and fibers begin
 * (outermost.c)
 *
 * Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_OUTERMOST_H
#define _KUNWIND_OUTERMOST_H

#include "../kunwind_core.h"

/*
 * Whether the frame at the instruction @ip, with the stack pointer @sp, is in
 * the function at the entry point of the interpreter (ld.so) or of the program.
 */
bool kunwind_at_start(struct kunwind_walk *walk, u64 ip, u64 sp);

/*
 * Whether the code around the return address @ra begins a thread: it clears
 * rbp, calls, and exits when the call returns. Nothing called such code.
 */
bool kunwind_code_outermost(struct kunwind_mem *mem, u64 ra);

/*
 * Whether the word at @slot of the stack, with the return address @ra, is of the
 * frame where a thread began, or of the function at the program's entry point. For
 * the latter, the word must be where the instructions from the entry point leave
 * it. The call must also say where it leads (@by_known), because a call through a
 * register may have left the word before that function jumped away.
 */
bool kunwind_returns_to_outermost(struct kunwind_walk *walk, u64 ra, u64 slot, bool by_known);

/*
 * Whether the return address @ra is in Go's runtime.goexit(), where the stack
 * of a goroutine ends: at its second byte, to which the goroutine's first
 * function returns, or after its call of runtime.goexit1().
 */
bool kunwind_code_begins_goroutine(struct kunwind_mem *mem, u64 ra);

/*
 * Whether the return address @ra is the one that make_fcontext() plants at the top of
 * a fiber's stack: xor %rdi, %rdi; call _exit; hlt, after a return or after jmp *%rbx; or
 * the one that makecontext() plants: __start_context().
 * An instruction that runs there may be of a function with these instructions, so
 * this says nothing of an exact frame.
 */
bool kunwind_code_ends_fiber(struct kunwind_mem *mem, u64 ra);

#endif /* _KUNWIND_OUTERMOST_H */

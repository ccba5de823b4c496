/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * exact_frame.h - what the registers of an exact frame, and the code just before
 * it, say about its return address (exact_frame.c)
 *
 * Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_EXACT_FRAME_H
#define _KUNWIND_EXACT_FRAME_H

#include "return_address.h"

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
 * The code ahead pushes the register @reg (its number in instructions, or
 * KUNWIND_CODE_OTHER) on an empty frame, and returns to it. If the register holds a
 * return address, the function has popped its own (musl's vfork(), because the
 * child would overwrite it): returns true, *@found is true, and @c is that address.
 * If the pushed value is not known: returns true, *@found is false. Returns false if
 * the return is a jump to the pushed word.
 */
bool kunwind_exact_pushed(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame, u32 reg,
			  struct kunwind_candidate *c, bool *found);

/*
 * Whether the instruction at @ip is a return, and the one before it writes a
 * register that holds c->ra to the top of the stack: push, or mov to (%rsp). Then
 * the return is a jump to c->ra, or the function has popped its return address
 * before, and has put it back.
 */
bool kunwind_exact_wrote_top(struct kunwind_walk *walk, const struct kunwind_candidate *c, u64 ip);

/* Whether popf stands before @ip, with only pops of registers in between. */
bool kunwind_exact_popped_flags(struct kunwind_walk *walk, u64 ip);

/*
 * If the frame has just made a system call that returned 0, and the code tests this:
 * the address at which it then continues. Else @ip. In a new thread (clone()), only
 * the path of another result returns to a caller: the new stack is empty.
 */
u64 kunwind_exact_after_zero(struct kunwind_walk *walk, u64 ip);

/*
 * Whether the frame is in the trampoline that gcc puts on the stack to call a
 * nested function. The trampoline loads constants into r11 and r10, and jumps
 * through r11. frame->range must not be NULL.
 */
bool kunwind_exact_nested(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame);

/*
 * Whether the frame is at the end of gcc's thunk for returns: after lea 8(%rsp),
 * %rsp, and at a return. gcc's CFI for the thunk does not count the lea, so @rule
 * takes the word above the return address. walk->code: the word before @ip.
 */
bool kunwind_exact_thunk_returns(struct kunwind_walk *walk, u64 ip, struct kunwind_rule rule);

/*
 * Whether one of the instructions just before @ip took rsp from memory (mov mem,
 * %rsp). Then the frame is on another stack than its caller, unless it resumes what
 * has left that stack. Only the last 16 bytes are searched for that instruction, so
 * bytes of other instructions may look like it: use it only to reject an answer.
 */
bool kunwind_code_took_rsp(struct kunwind_mem *mem, u64 ip);

#endif /* _KUNWIND_EXACT_FRAME_H */

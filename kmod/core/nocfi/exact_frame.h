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
 * Whether the instruction at @ip is a return, and the one before it a push of a
 * register that holds c->ra. Then the return is a jump to c->ra.
 */
bool kunwind_exact_pushed_before(struct kunwind_walk *walk, const struct kunwind_candidate *c, u64 ip);

/* Whether popf stands before @ip, with only pops of registers in between. */
bool kunwind_exact_popped_flags(struct kunwind_walk *walk, u64 ip);

/*
 * If the frame has just made a system call that returned 0, and the code tests this:
 * the address at which it then continues. Else @ip. In a new thread (clone()), only
 * the path of another result returns to a caller: the new stack is empty.
 */
u64 kunwind_exact_after_zero(struct kunwind_walk *walk, u64 ip);

#endif /* _KUNWIND_EXACT_FRAME_H */

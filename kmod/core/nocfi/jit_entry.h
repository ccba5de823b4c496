/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * jit_entry.h - the return address of code of a JIT by the code that enters it
 * (jit_entry.c)
 *
 * Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_JIT_ENTRY_H
#define _KUNWIND_JIT_ENTRY_H

#include "return_address.h"

/*
 * Looks for the call by which a file's code has entered the frame's code. If true, *c
 * is its return address: slot, ra, rbp_at.
 */
bool kunwind_jit_entered(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
			 struct kunwind_candidate *c);

/*
 * The same by the routine that makes the frames of this range and aligns rsp, if an earlier
 * step on this CPU has found the routine.
 */
bool kunwind_jit_entered_again(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
			       struct kunwind_candidate *c);

#endif /* _KUNWIND_JIT_ENTRY_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * pointer_call.h - where a call through a pointer leads (pointer_call.c)
 *
 * 64-bit code only. Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_POINTER_CALL_H
#define _KUNWIND_POINTER_CALL_H

#include "return_address.h"

/*
 * Whether a call through a pointer in memory ends at @ra, in a file. *@entry: the pointer's
 * present value, which it need not have had at the call.
 */
bool kunwind_pointer_call(struct kunwind_walk *walk, u64 ra, u64 *entry);

#endif /* _KUNWIND_POINTER_CALL_H */

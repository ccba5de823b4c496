/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * jit_run.h - the return address of a JIT's code that takes rsp from the stack (jit_run.c)
 *
 * Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_JIT_RUN_H
#define _KUNWIND_JIT_RUN_H

#include "return_address.h"

/* What the code does up to its return. */
struct kunwind_jit_run {
	u64 slot;	/* the place of the return address */
	u64 sp;		/* after the return */
	u64 bp;
	bool bp_known;
};

/*
 * If the code after the call takes rsp from a word of the stack, or removes more than its return
 * address, and leads to a return without another call: true, and *run.
 */
bool kunwind_jit_runs(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
		      struct kunwind_jit_run *run);

#endif /* _KUNWIND_JIT_RUN_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * code_ahead.h - find the return address from the code still to run
 * (code_ahead.c)
 *
 * Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_CODE_AHEAD_H
#define _KUNWIND_CODE_AHEAD_H

#include "../kunwind_core.h"

#define KUNWIND_AHEAD_SKIPS	1	/* look for jumps that skip a call (kunwind_code_skipped()) */
#define KUNWIND_AHEAD_CALLED	2	/* @from follows a call: examine that call, too */

/**
 * kunwind_code_ahead() - where the code from @from on finds its return address
 * @i386: the code is 32-bit code
 * @how: 0, or KUNWIND_AHEAD_* (only for 64-bit code)
 * @code: out: all fields; depth or frame is -1
 *
 * Returns false if this is not known. The result may be wrong if other code
 * directly follows a call that never returns: it may then describe that other
 * code.
 */
bool kunwind_code_ahead(struct kunwind_mem *mem, bool i386, u64 from, u32 how,
			struct kunwind_code *code);

/*
 * Whether the 64-bit code from @from on switches to another stack (it sets rsp
 * from memory, or from a callee-saved register other than rbp), and then
 * restores rbp from just below its return address. Then rbp at @from may be the
 * frame pointer on the other stack.
 */
bool kunwind_code_ahead_by_frame(struct kunwind_mem *mem, u64 from);

#endif /* _KUNWIND_CODE_AHEAD_H */

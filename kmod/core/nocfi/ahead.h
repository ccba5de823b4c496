/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ahead.h - where the code that is still to run returns from (ahead.c)
 */
#ifndef _KUNWIND_AHEAD_H
#define _KUNWIND_AHEAD_H

#include "../kunwind_core.h"

/**
 * kunwind_code_ahead() - what the code from @from on takes off the stack before it returns
 * @i386: it is 32-bit code
 * @code: out: depth or frame, the other is -1; and rbp_at
 * Returns false if that is not known. If other code directly follows a call that never returns,
 * the result may be what that code takes off. No window may be open.
 */
bool kunwind_code_ahead(struct kunwind_mem *mem, bool i386, u64 from, struct kunwind_code *code);

/*
 * Whether it takes an rsp from memory first, and then rbp from just below its return address:
 * rbp at @from is its frame pointer, on that other stack. No window may be open.
 */
bool kunwind_code_ahead_by_frame(struct kunwind_mem *mem, u64 from);

#endif /* _KUNWIND_AHEAD_H */

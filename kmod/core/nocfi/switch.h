/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * switch.h - code that takes another stack and returns (switch.c)
 */
#ifndef _KUNWIND_SWITCH_H
#define _KUNWIND_SWITCH_H

#include "../kunwind_core.h"

/*
 * Whether the code from @from on, at which rsp is @sp, sets rsp to something else that it
 * finds from there, and returns: by the word at *@slot; *@rbp_at as in struct kunwind_code.
 * No window may be open.
 */
bool kunwind_code_switches(struct kunwind_mem *mem, u64 from, u64 sp, u64 *slot, s32 *rbp_at);

#endif /* _KUNWIND_SWITCH_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * stack_switch.h - the return address of code that first switches stacks
 * (stack_switch.c)
 *
 * Any context, NMI included. The caller must have no window open.
 */
#ifndef _KUNWIND_STACK_SWITCH_H
#define _KUNWIND_STACK_SWITCH_H

#include "../kunwind_core.h"

/*
 * Whether the 64-bit code from @from on, at which rsp is @sp, sets rsp to a
 * value that it finds through the stack or through fs, and returns. *slot:
 * address of the return address; *rbp_at: as in struct kunwind_code.
 */
bool kunwind_code_switches(struct kunwind_mem *mem, u64 from, u64 sp, u64 *slot, s32 *rbp_at);

/*
 * Returns whether one of the instructions just before @ip took rsp from memory
 * (mov mem, %rsp). Then a frame at @ip that did not call is on another stack
 * than its caller, unless it resumes what has left that stack. Only the last 16
 * bytes are searched for that instruction, so bytes of other instructions may
 * look like it.
 */
bool kunwind_code_took_rsp(struct kunwind_mem *mem, u64 ip);

#endif /* _KUNWIND_STACK_SWITCH_H */

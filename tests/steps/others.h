/* SPDX-License-Identifier: MIT */
/*
 * others.h - walk the stack with elfutils' libdwfl and with libunwind; names of
 * addresses
 *
 * Both libraries read the memory that the walk reads, with its breakpoints.
 */
#ifndef _STEPS_OTHERS_H
#define _STEPS_OTHERS_H

#include "target.h"

/*
 * Both return the number of addresses; the first is the thread's program
 * counter.
 */
u32 others_libdw(struct target *target, pid_t tid, const struct kunwind_regs *regs,
		 u64 *addresses, u32 most);
u32 others_libunwind(struct target *target, pid_t tid, u64 *addresses, u32 most);

/*
 * Writes "function+0x12<tab>object" for @addr to @text. Without a symbol, the
 * function is the address of its entry.
 */
void others_name(struct target *target, u64 addr, char *text, size_t size);

#endif /* _STEPS_OTHERS_H */

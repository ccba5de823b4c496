/* SPDX-License-Identifier: MIT */
/*
 * others.h - the same stack by elfutils' libdwfl and by libunwind, and names of places
 *
 * Both read the memory that the walk reads: with breakpoints, where these are asked for.
 */
#ifndef _STEPS_OTHERS_H
#define _STEPS_OTHERS_H

#include "target.h"

/* Both return how many addresses they have, the first being that in @regs. */
u32 others_libdw(struct target *target, pid_t tid, const struct kunwind_regs *regs,
		 u64 *addresses, u32 most);
u32 others_libunwind(struct target *target, pid_t tid, u64 *addresses, u32 most);

/* "function+0x12<tab>object", for a message. */
void others_name(struct target *target, u64 addr, char *text, size_t size);

#endif /* _STEPS_OTHERS_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * walk.h - what the walks of 64-bit and of 32-bit code share (walk.c, walk_i386.c)
 */
#ifndef _KUNWIND_WALK_H
#define _KUNWIND_WALK_H

#include "../kunwind_core.h"

/*
 * The rule for an address that is not in the cache. KUNWIND_COMPLETE: rule and
 * table are there; otherwise the walk ends with what is returned, *end telling
 * whether that was an entry point. @exact: nothing was subtracted from the address.
 */
enum kunwind_reason kunwind_walk_rule(struct kunwind_walk *walk, u64 addr, bool exact, u64 sp,
				      struct kunwind_rule *rule,
				      const struct kunwind_table **table, bool *end);

/* An address was found otherwise than by CFI. */
static __always_inline void kunwind_count_found(struct kunwind_walk *walk, u8 trust)
{
	if (!walk->others)
		memset(walk->found, 0, sizeof(walk->found));
	walk->others = true;
	walk->found[trust]++;
}

#endif /* _KUNWIND_WALK_H */

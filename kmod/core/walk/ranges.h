/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ranges.h - the mappings of code of an address space, in the walk
 *
 * kunwind_ranges_find() is in kunwind_core.h.
 */
#ifndef _KUNWIND_RANGES_H
#define _KUNWIND_RANGES_H

#include "../kunwind_core.h"

/* Code of no file: what a JIT made. */
static __always_inline bool kunwind_range_is_jit(const struct kunwind_range *range)
{
	return !READ_ONCE(range->table) && READ_ONCE(range->reason) == KUNWIND_NO_OBJECT;
}

/* The mapping of code that the address is in; NULL: none that is known. */
const struct kunwind_range *kunwind_ranges_live(const struct kunwind_ranges *ranges, u64 addr);

#endif /* _KUNWIND_RANGES_H */

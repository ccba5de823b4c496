/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ranges.h - lookups of executable mappings that only the walk needs
 *
 * kunwind_core.h declares kunwind_ranges_find(). Any context.
 */
#ifndef _KUNWIND_RANGES_H
#define _KUNWIND_RANGES_H

#include "../kunwind_core.h"

/*
 * Returns whether the range is executable memory of no file, or of a file without a
 * name that is no ELF file (a memfd), as a JIT makes it.
 */
static __always_inline bool kunwind_range_is_jit(const struct kunwind_range *range)
{
	return !READ_ONCE(range->table) && READ_ONCE(range->reason) == KUNWIND_NO_OBJECT;
}

/* Returns the range that holds @addr; NULL: no range does, or the range is dead. */
const struct kunwind_range *kunwind_ranges_live(const struct kunwind_ranges *ranges, u64 addr);

#endif /* _KUNWIND_RANGES_H */

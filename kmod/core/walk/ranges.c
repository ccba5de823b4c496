// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ranges.c - look up a mapping of code
 *
 * Any context: a snapshot of mappings does not change, but that some become dead.
 */
#include "ranges.h"

const struct kunwind_range *kunwind_walk_attr
kunwind_ranges_find(const struct kunwind_ranges *ranges, u64 addr)
{
	const struct kunwind_range *range = ranges->range;
	u32 n = ranges->nr;

	if (unlikely(!n))
		return NULL;
	/* No step depends on @addr: under speculation, too, the result lies in the array. */
	for (; n > 1; n -= n / 2)
		range = range[n / 2].start <= addr ? range + n / 2 : range;
	return addr - range->start < range->end - range->start ? range : NULL;
}

const struct kunwind_range *kunwind_walk_attr
kunwind_ranges_live(const struct kunwind_ranges *ranges, u64 addr)
{
	const struct kunwind_range *range = kunwind_ranges_find(ranges, addr);

	return range && !READ_ONCE(range->dead) ? range : NULL;
}

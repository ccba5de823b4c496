// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ranges.c - find the executable mapping that holds an address
 *
 * Any context, NMI included: the addresses of a snapshot never change. A range
 * may become dead at any time.
 */
#include "ranges.h"

const struct kunwind_range *kunwind_walk_attr
kunwind_ranges_find(const struct kunwind_ranges *ranges, u64 addr)
{
	const struct kunwind_range_chunk *chunk = ranges->chunk;
	const struct kunwind_range *range = ranges->range;
	u32 n = ranges->nr;

	if (unlikely(!n))
		return NULL;
	/*
	 * In both loops, n never depends on @addr. So the result is in the
	 * array, under speculation, too.
	 */
	if (chunk) {
		for (; n > 1; n -= n / 2)
			chunk = chunk[n / 2].start <= addr ? chunk + n / 2 : chunk;
		range = chunk->range;
		n = chunk->nr;
	}
	for (; n > 1; n -= n / 2)
		range = range[n / 2].start <= addr ? range + n / 2 : range;
	return addr - range->start < range->end - range->start ? range : NULL;
}

const struct kunwind_range *kunwind_walk_attr
kunwind_ranges_live(const struct kunwind_ranges *ranges, u64 addr)
{
	const struct kunwind_range *range = kunwind_ranges_find(ranges, addr);

	return range && kunwind_range_is_usable(ranges, range) ? range : NULL;
}

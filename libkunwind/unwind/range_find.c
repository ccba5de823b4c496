// SPDX-License-Identifier: MIT
/*
 * range_find.c - find the mapping that holds an address, for the core; in place of the
 * core's ranges.c
 *
 * A range that dlclose() may have unmapped is compared with what libc says now. If it is
 * no longer the same, it becomes dead, and the snapshot gets another id, so that no rule
 * in the cache is used any more. An address in no range may be in an object that was
 * loaded after the snapshot (loaded.c). Any context.
 */
#include "internal.h"
#include "walk/ranges.h"

const struct kunwind_range *unwind_range_known(const struct kunwind_ranges *ranges, u64 addr)
{
	const struct kunwind_range *range = ranges->range;
	u32 n = ranges->nr;

	if (!n)
		return NULL;
	for (; n > 1; n -= n / 2)
		range = range[n / 2].start <= addr ? range + n / 2 : range;
	return addr - range->start < range->end - range->start ? range : NULL;
}

const struct unwind_range *unwind_range_info(const struct unwind_snapshot *snapshot,
					     const struct kunwind_range *range)
{
	const u64 at = (u64)range - (u64)snapshot->ranges.range;

	return at < snapshot->ranges.nr * sizeof(*range) ? &snapshot->info[at / sizeof(*range)] : NULL;
}

const struct kunwind_module *unwind_range_module(const struct unwind_snapshot *snapshot,
						 const struct kunwind_range *range)
{
	const struct unwind_range *info = unwind_range_info(snapshot, range);
	const struct unwind_late *late;

	if (info)
		return info->module;
	late = (const struct unwind_late *)((const char *)range - offsetof(struct unwind_late, range));
	return &late->module;
}

const struct kunwind_range *kunwind_ranges_find(const struct kunwind_ranges *ranges, u64 addr)
{
	struct unwind_snapshot *snapshot = unwind_snapshot_of(ranges);
	const struct kunwind_range *range = unwind_range_known(ranges, addr);
	const struct unwind_object *object;

	if (range && !READ_ONCE(range->dead)) {
		object = unwind_range_info(snapshot, range)->object;
		if (!object || !object->loaded.at || unwind_loaded_same(&object->loaded))
			return range;
		WRITE_ONCE(((struct kunwind_range *)range)->dead, 1);
		unwind_snapshot_changed(snapshot);
	}
	if (snapshot->unwinder->flags & KUNWIND_UNWINDER_OTHER)
		return range;
	return unwind_late_find(snapshot, addr) ?: range;
}

const struct kunwind_range *kunwind_ranges_live(const struct kunwind_ranges *ranges, u64 addr)
{
	const struct kunwind_range *range = kunwind_ranges_find(ranges, addr);

	return range && kunwind_range_is_usable(ranges, range) ? range : NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the ranges of a snapshot by their numbers, for tests that include
 * snapshot.c
 */
#ifndef _TEST_SNAPSHOT_H
#define _TEST_SNAPSHOT_H

/* Returns the range; aborts if there is none. */
static struct kunwind_range *range_at(const struct kunwind_snapshot *snapshot, u32 n,
				      struct kunwind_detail **detail)
{
	struct kunwind_place place = { 0, 0 };
	struct kunwind_range *range;

	while ((range = kunwind_snapshot_at(snapshot, place, detail)) && n--)
		kunwind_place_next(snapshot, &place);
	if (!range)
		abort();
	return range;
}

static struct kunwind_detail *detail_at(const struct kunwind_snapshot *snapshot, u32 n)
{
	struct kunwind_detail *detail;

	range_at(snapshot, n, &detail);
	return detail;
}

#define RANGE(snapshot, n)	(*range_at(snapshot, n, NULL))
#define DETAIL(snapshot, n)	(*detail_at(snapshot, n))

/* The snapshot that a space has published. */
#define of(space)		kunwind_snapshot_of((space)->ranges)

/* Returns a snapshot with @nr ranges from @ranges and @details on, in chunks of at most @max. */
static struct kunwind_snapshot *snapshot_from(const struct kunwind_range *ranges,
					      const struct kunwind_detail *details, u32 nr, u32 max,
					      struct kunwind_quota *quota)
{
	struct kunwind_snapshot *snapshot = kunwind_snapshot_alloc((nr + max - 1) / max, quota, GFP_KERNEL);
	struct kunwind_chunk *chunk;
	u32 i, n;

	for (i = 0; i < nr; i += n) {
		n = min(max, nr - i);
		chunk = kunwind_chunk_alloc(n, quota, GFP_KERNEL);
		memcpy(chunk->range, &ranges[i], n * sizeof(*ranges));
		memcpy(chunk->detail, &details[i], n * sizeof(*details));
		kunwind_chunk_filled(chunk);
		kunwind_snapshot_add(snapshot, chunk);
	}
	return snapshot;
}

#endif /* _TEST_SNAPSHOT_H */

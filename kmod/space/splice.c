// SPDX-License-Identifier: GPL-2.0-only
/*
 * splice.c - make a snapshot from another one by replacing some of its chunks
 *
 * The chunks that overlap the changed addresses are replaced, and a neighbour
 * that is at most half full with them: so two neighbours that stay have more
 * than half a chunk of ranges, unless ranges were lost there. New chunks are as
 * long as possible. A full read (read_mappings.c) replaces all.
 *
 * A chunk is also replaced if the changed ranges may decide the bias of one of its
 * ranges: they are near it, and it alone has several possible biases. So such a
 * range has the same ranges near it in all snapshots that share its chunk.
 *
 * Task context; may sleep.
 */
#include <linux/mm.h>

#include "../object/name.h"
#include "../object/object.h"
#include "../object/object_cache.h"
#include "splice.h"

static bool half_full(const struct kunwind_snapshot *old, u32 i)
{
	return old->ranges.chunk[i].nr <= KUNWIND_CHUNK_MAX / 2;
}

void kunwind_splice_begin(struct kunwind_splice *splice, const struct kunwind_snapshot *old,
			  u64 start, u64 end, struct kunwind_quota *quota)
{
	struct kunwind_place before, after;
	const struct kunwind_range *range;
	struct kunwind_detail *detail;
	u32 i;

	splice->old = old;
	splice->first = splice->end = 0;
	splice->quota = quota;
	splice->failed = false;
	splice->nr = splice->nr_chunks = 0;
	splice->room = KUNWIND_SPLICE_FEW;
	splice->range = splice->few_ranges;
	splice->detail = splice->few_details;
	splice->chunks = NULL;
	splice->last = &splice->chunks;
	if (!old)
		return;
	before = kunwind_snapshot_after(old, start);
	after = kunwind_snapshot_after(old, end);
	splice->first = before.chunk;
	splice->end = after.chunk + (after.nr != 0);
	for (i = 0; i < KUNWIND_SIBLINGS && kunwind_place_before(old, &before); i++) {
		range = kunwind_snapshot_at(old, before, &detail);
		if (before.chunk < splice->first && kunwind_range_needs_others(range, detail))
			splice->first = before.chunk;
	}
	for (i = 0; i < KUNWIND_SIBLINGS && (range = kunwind_snapshot_at(old, after, &detail)); i++) {
		if (after.chunk >= splice->end && kunwind_range_needs_others(range, detail))
			splice->end = after.chunk + 1;
		kunwind_place_next(old, &after);
	}
	if (splice->first && half_full(old, splice->first - 1))
		splice->first--;
	if (splice->end < old->ranges.nr && half_full(old, splice->end))
		splice->end++;
}

static void put(const struct kunwind_detail *detail)
{
	kunwind_name_put(detail->name);
	kunwind_object_put(detail->object);
}

/* Makes a chunk of the ranges that were added. */
static void cut(struct kunwind_splice *splice)
{
	struct kunwind_chunk *chunk;
	u32 i;

	if (!splice->nr)
		return;
	chunk = splice->failed ? NULL : kunwind_chunk_alloc(splice->nr, splice->quota, GFP_KERNEL);
	if (!chunk) {
		/* Names that the caller remembers (read_mappings.c) may go with these. */
		for (i = 0; i < splice->nr; i++)
			put(&splice->detail[i]);
		splice->failed = true;
	} else {
		memcpy(chunk->range, splice->range, splice->nr * sizeof(*splice->range));
		memcpy(chunk->detail, splice->detail, splice->nr * sizeof(*splice->detail));
		kunwind_chunk_filled(chunk);
		*splice->last = chunk;
		splice->last = &chunk->next;
		splice->nr_chunks++;
	}
	splice->nr = 0;
}

static void free_room(struct kunwind_splice *splice)
{
	if (splice->range != splice->few_ranges)
		kvfree(splice->range);
}

/* Makes room for more ranges in the next chunk. False: no memory. */
static bool grow(struct kunwind_splice *splice)
{
	const u32 room = min(4 * splice->room, (u32)KUNWIND_CHUNK_MAX);
	struct kunwind_range *range = kvmalloc(room * (sizeof(*range) + sizeof(*splice->detail)),
					       GFP_KERNEL | __GFP_NOWARN);
	struct kunwind_detail *detail;

	if (!range)
		return false;
	detail = (struct kunwind_detail *)&range[room];
	memcpy(range, splice->range, splice->nr * sizeof(*range));
	memcpy(detail, splice->detail, splice->nr * sizeof(*detail));
	free_room(splice);
	splice->range = range;
	splice->detail = detail;
	splice->room = room;
	return true;
}

void kunwind_splice_add(struct kunwind_splice *splice, const struct kunwind_range *range,
			const struct kunwind_detail *detail)
{
	if (splice->nr == KUNWIND_CHUNK_MAX)
		cut(splice);
	else if (!splice->failed && splice->nr == splice->room && !grow(splice))
		splice->failed = true;
	if (splice->failed) {
		put(detail);
		return;
	}
	splice->range[splice->nr] = *range;
	splice->detail[splice->nr++] = *detail;
}

/* Adds the chunks of the old snapshot in [first, end), with references. */
static void share(const struct kunwind_splice *splice, struct kunwind_snapshot *new, u32 first, u32 end)
{
	u32 i;

	for (i = first; i < end; i++)
		kunwind_snapshot_share(new, splice->old, i);
}

struct kunwind_snapshot *kunwind_splice_end(struct kunwind_splice *splice)
{
	const u32 nr = splice->old ? splice->old->ranges.nr : 0;
	struct kunwind_snapshot *new = NULL;
	struct kunwind_chunk *chunk, *next;

	cut(splice);
	free_room(splice);
	if (!splice->failed)
		new = kunwind_snapshot_alloc(nr - (splice->end - splice->first) + splice->nr_chunks,
					     splice->quota, GFP_KERNEL);
	if (new)
		share(splice, new, 0, splice->first);
	for (chunk = splice->chunks; chunk; chunk = next) {
		next = chunk->next;
		chunk->next = NULL;
		if (new)
			kunwind_snapshot_add(new, chunk);
		else
			kunwind_chunk_put(chunk);
	}
	if (new)
		share(splice, new, splice->end, nr);
	return new;
}

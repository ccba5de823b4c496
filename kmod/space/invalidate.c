// SPDX-License-Identifier: GPL-2.0-only
/*
 * invalidate.c - mark known ranges as dead when something else is mapped there
 *
 * The hooks (mm_hooks.c) call this file, in the task that changes its mappings.
 * It marks ranges in the published snapshot, and collects the intervals that
 * the next read of the mappings (update.c) has to read. It reads no mapping.
 *
 * A mark in place needs no memory. Only a list that another address space may
 * share since a fork is copied first, with GFP_ATOMIC. If there is no memory for
 * the copy, the space has no snapshot until the next read, and loses the tables
 * that were handed in (jit.c).
 *
 * All functions take space->lock, or are called with it. No sleep.
 */
#include <linux/mm.h>

#include "snapshot.h"
#include "space.h"

bool kunwind_space_dirty(struct kunwind_space *space)
{
	bool dirty;

	spin_lock(&space->lock);
	dirty = space->map_seq != space->read_seq;
	spin_unlock(&space->lock);
	return dirty;
}

/*
 * Marks the ranges that overlap [start, end) as dead, in the published snapshot,
 * or in a copy that is published in its place if another space may share them.
 * False: there was no memory for a copy, and the space has no snapshot now.
 */
static bool kill(struct kunwind_space *space, u64 start, u64 end)
{
	struct kunwind_snapshot *snapshot, *copy;

	lockdep_assert_held(&space->lock);
	/* A read that is under way takes these ranges out of its result. */
	space->deaths = true;
	snapshot = kunwind_space_locked_snapshot(space);
	if (kunwind_snapshot_owns(snapshot, start, end)) {
		/* It does not fail, because nothing is copied. */
		WARN_ON_ONCE(!kunwind_snapshot_kill(snapshot, start, end, space->reading, true));
		/* Dead first: rules found before get the old id. */
		smp_wmb();
		WRITE_ONCE(snapshot->ranges.id, kunwind_snapshot_new_id());
		return true;
	}
	copy = kunwind_snapshot_copy(snapshot);
	if (copy && !kunwind_snapshot_kill(copy, start, end, space->reading, false)) {
		kunwind_snapshot_put(copy);
		copy = NULL;
	}
	kunwind_space_publish(space, copy);
	/* A sweep before that did not see the copy. */
	if (copy && !(READ_ONCE(copy->announced) && READ_ONCE(copy->settled)))
		kunwind_space_sweep_soon();
	return copy;
}

bool kunwind_space_mapped(struct kunwind_space *space, u64 start, u64 end, u64 added, bool exec)
{
	struct kunwind_snapshot *snapshot;
	struct kunwind_cover known = { };
	bool killed = false, read;

	spin_lock(&space->lock);
	snapshot = kunwind_space_locked_snapshot(space);
	if (snapshot)
		known = kunwind_snapshot_cover(snapshot, start, end);
	/*
	 * Memory of no file (a JIT's) is not read again: the call that makes it
	 * executable again has @exec.
	 */
	read = exec || known.objects;
	/*
	 * The sum distinguishes a merge of neighbours from new memory over old ranges
	 * only if the snapshot has all other code there: all changes have been read,
	 * no move is pending, and no mapping was left out. Code never merges with data.
	 */
	if (known.any && added && exec && space->map_seq == space->read_seq && !space->changed.nr &&
	    !space->moves.nr && !snapshot->full && known.bytes + added == end - start) {
		start = known.gap_start;
		end = known.gap_end;
	} else if (known.any) {
		killed = true;
		/* Without memory, there are no ranges until the next read. */
		read |= !kill(space, start, end);
	}
	if (read)
		space->map_seq++;
	/* A later read drops the dead ranges, and finds what is left of them. */
	if (read || killed)
		kunwind_changed_add(&space->changed, start, end);
	spin_unlock(&space->lock);
	return read;
}

void kunwind_space_changed(struct kunwind_space *space, u64 start, u64 end)
{
	spin_lock(&space->lock);
	space->map_seq++;
	kunwind_changed_add(&space->changed, start, end);
	spin_unlock(&space->lock);
}

void kunwind_space_begin_move(struct kunwind_space *space)
{
	spin_lock(&space->lock);
	if (!space->moves.nr++)
		space->moves.start = space->moves.end = 0;
	spin_unlock(&space->lock);
}

void kunwind_space_move_to(struct kunwind_space *space, u64 start, u64 end)
{
	struct kunwind_moves *moves = &space->moves;

	spin_lock(&space->lock);
	WARN_ON_ONCE(!moves->nr || start >= end);
	if (moves->start == moves->end) {
		moves->start = start;
		moves->end = end;
	} else {
		moves->start = min(moves->start, start);
		moves->end = max(moves->end, end);
	}
	spin_unlock(&space->lock);
}

void kunwind_space_end_move(struct kunwind_space *space)
{
	const struct kunwind_moves *moves = &space->moves;

	spin_lock(&space->lock);
	WARN_ON_ONCE(!moves->nr);
	/* Doubted ranges are read again, even if this task is killed. */
	if (!--space->moves.nr && moves->start != moves->end) {
		space->map_seq++;
		kunwind_changed_add(&space->changed, moves->start, moves->end);
	}
	spin_unlock(&space->lock);
}

/* Marks the ranges of a chunk that died during the read also in @new. */
static bool kill_again(const struct kunwind_chunk *chunk, u32 reading, struct kunwind_snapshot *new)
{
	u32 i;

	for (i = 0; i < chunk->nr; i++)
		if (kunwind_range_is_dead(&chunk->range[i]) && chunk->detail[i].died == reading &&
		    !kunwind_snapshot_kill(new, chunk->range[i].start, chunk->range[i].end, reading, false))
			return false;
	return true;
}

bool kunwind_space_mark(struct kunwind_space *space, struct kunwind_snapshot *new)
{
	const struct kunwind_snapshot *now;
	const struct kunwind_chunk *chunk;
	u32 i;

	lockdep_assert_held(&space->lock);
	if (space->moves.nr) {
		new->ranges.doubt_start = space->moves.start;
		new->ranges.doubt_end = space->moves.end;
	}
	if (!space->deaths)
		return true;
	now = kunwind_space_locked_snapshot(space);
	/* There was no memory to mark the ranges. */
	if (!now)
		return false;
	for (i = 0; i < now->ranges.nr; i++) {
		chunk = kunwind_snapshot_chunk(now, i);
		if (chunk->died == space->reading && !kill_again(chunk, space->reading, new))
			return false;
	}
	return true;
}

bool kunwind_space_knows(struct kunwind_space *space, u64 start, u64 len)
{
	const struct kunwind_snapshot *snapshot;
	const struct kunwind_range *range;
	struct kunwind_place place;
	bool known = false;
	u64 end;

	if (check_add_overflow(start, len, &end))
		end = U64_MAX;
	rcu_read_lock();
	snapshot = kunwind_snapshot_of(rcu_dereference(space->ranges));
	if (snapshot) {
		place = kunwind_snapshot_after(snapshot, start);
		while (!known && (range = kunwind_snapshot_at(snapshot, place, NULL)) &&
		       range->start < end) {
			known = !kunwind_range_is_dead(range);
			kunwind_place_next(snapshot, &place);
		}
	}
	rcu_read_unlock();
	return known;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * snapshot.h - the executable mappings of a space at one time
 *
 * A published snapshot changes in two ways only, both of which a walk may meet
 * half done:
 *   - a range whose table was not ready gets bias, then table (or the reason
 *     why there is none). This is true of the file, so it holds for every
 *     space that shares the snapshot.
 *   - a range dies (something else was mapped there): first the range, then
 *     the snapshot's id, which takes its rules out of the walk's caches. This
 *     is true of one mm only: a shared snapshot is copied before.
 * A range that was doubted from the beginning (see below) may die, too.
 *
 * The spaces that share it and the tasks that work on it have references. The last
 * put frees it after a grace period, in a worker, because this gives up objects and
 * may sleep (docs/lifetimes.md).
 */
#ifndef _KUNWIND_SNAPSHOT_H
#define _KUNWIND_SNAPSHOT_H

#include <linux/llist.h>
#include <linux/refcount.h>

#include "../core/kunwind_core.h"

struct kunwind_name;
struct kunwind_object;
struct kunwind_payer;

/* Something to be freed behind a grace period, by a function that may sleep. */
struct kunwind_reap {
	struct llist_node node;
	void (*free)(struct kunwind_reap *reap);
};

/* Has it freed soon (space.c). Any context but NMI. */
void kunwind_reap(struct kunwind_reap *reap, void (*free)(struct kunwind_reap *reap));

/*
 * kunwind_range.dead. No walk uses a range of either kind. What is doubted was true
 * when it was read, but a mremap() under way may replace it: the next read takes
 * over what is known of it, if the mapping is there still.
 */
enum kunwind_dead {
	KUNWIND_ALIVE,
	KUNWIND_DEAD,
	KUNWIND_DOUBTED,
};

static inline bool kunwind_range_is_dead(const struct kunwind_range *range)
{
	return READ_ONCE(range->dead) == KUNWIND_DEAD;
}

/* What a walk does not need of a range. */
struct kunwind_detail {
	struct kunwind_object *object;
	struct kunwind_name *name;	/* of its file; NULL: of no file, or no memory */
	u64 offset;		/* of the range's start in the file, bytes */
	bool announced;		/* kunwind_map was emitted */
};

struct kunwind_snapshot {
	refcount_t refs;
	bool settled;		/* no range waits for its object */
	u32 nr_maps;		/* ranges that have an object */
	size_t size;		/* charged, bytes */
	struct kunwind_payer *payer;	/* to whom */
	struct kunwind_reap reap;
	struct kunwind_detail *detail;	/* [ranges.nr] behind the ranges */
	struct kunwind_ranges ranges;	/* last */
};

static inline struct kunwind_snapshot *kunwind_snapshot_of(struct kunwind_ranges *ranges)
{
	return ranges ? container_of(ranges, struct kunwind_snapshot, ranges) : NULL;
}

/* Memory of all there are. */
u64 kunwind_snapshot_bytes(void);

/* A number that no snapshot had, never 0. */
u64 kunwind_snapshot_new_id(void);

/* Empty, with place for @room ranges, for @payer. NULL: no memory, or over the limit. */
struct kunwind_snapshot *kunwind_snapshot_alloc(u32 room, struct kunwind_payer *payer, gfp_t gfp);

/* Of one that was never published. May sleep. */
void kunwind_snapshot_destroy(struct kunwind_snapshot *snapshot);

/* May be NULL. Any context but NMI. */
void kunwind_snapshot_put(struct kunwind_snapshot *snapshot);

/* A copy, with a reference to each object; to be settled once it is published. No sleep. */
struct kunwind_snapshot *kunwind_snapshot_copy(const struct kunwind_snapshot *from);

/*
 * Fills in ranges whose objects are done by now. Any number of CPUs may do
 * this to one snapshot at a time: all write the same.
 */
void kunwind_snapshot_settle(struct kunwind_snapshot *snapshot);

/* Emits kunwind_map for ranges that are known now and were not announced. */
void kunwind_snapshot_announce(struct kunwind_snapshot *snapshot, pid_t tgid);

/*
 * The same for those that are known now, announced or not, of the next few
 * ranges behind address *at. Moves *at to the start of the next range, or to
 * U64_MAX when there is none. Returns how many it emitted, @max at most.
 */
u32 kunwind_snapshot_dump(const struct kunwind_snapshot *snapshot, pid_t tgid, u64 *at, u32 max);

/* How many it would emit of all ranges behind address @at. */
u32 kunwind_snapshot_known(const struct kunwind_snapshot *snapshot, u64 at);

/* The first range that ends behind @addr; nr when there is none. */
u32 kunwind_ranges_behind(const struct kunwind_ranges *ranges, u64 addr);

#endif /* _KUNWIND_SNAPSHOT_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * snapshot.h - the executable mappings of a space at one time
 *
 * The parts of a published snapshot that walks read change in three ways only.
 * A walk may run in the middle of a change:
 *   - A range whose table was not ready gets its bias, then its table (or the
 *     reason why there is none). This depends on the file only, so it holds for
 *     every space that shares the snapshot.
 *   - A range dies, because something else was mapped there: it is marked as
 *     dead, then the snapshot gets a new id, so that walks forget its cached
 *     rules. This concerns one mm only: a shared snapshot is copied before. A
 *     range that was doubted from the beginning (see below) may die, too.
 *   - The work item sweep() gives the snapshot a new id, because a table was
 *     given up (forget_rules() in space.c).
 *
 * The spaces that share a snapshot and the tasks that work on it have
 * references to it. The last put frees it after a grace period, in a worker,
 * because this drops references to objects and may sleep (docs/lifetimes.md).
 */
#ifndef _KUNWIND_SNAPSHOT_H
#define _KUNWIND_SNAPSHOT_H

#include <linux/refcount.h>

#include "../core/kunwind_core.h"
#include "reap.h"

struct kunwind_name;
struct kunwind_object;
struct kunwind_quota;

/*
 * Values of kunwind_range.dead. Walks use only ranges that are alive. A doubted
 * range was true when it was read, but an mremap() under way may replace it.
 * The next read of the mappings takes over its object if the mapping is still
 * there.
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

/* The part of a range that walks do not need. */
struct kunwind_detail {
	struct kunwind_object *object;	/* never NULL; with a reference */
	struct kunwind_name *name;	/* NULL, or of its file, with a reference */
	u64 offset;		/* of the range's start in the file, bytes; 0: no file */
	bool announced;		/* kunwind_map was emitted */
};

struct kunwind_snapshot {
	refcount_t refs;
	bool settled;		/* no object of a range is pending */
	bool announced;		/* after it was settled, all its ranges were announced */
	u32 nr_maps;		/* ranges that have an object other than the anonymous one */
	size_t size;		/* charged to quota, bytes */
	struct kunwind_quota *quota;	/* with a reference; NULL: nobody is charged */
	struct kunwind_reap reap;
	struct kunwind_detail *detail;	/* [ranges.nr], stored after the ranges */
	struct kunwind_ranges ranges;	/* last */
};

static inline struct kunwind_snapshot *kunwind_snapshot_of(struct kunwind_ranges *ranges)
{
	return ranges ? container_of(ranges, struct kunwind_snapshot, ranges) : NULL;
}

/* Returns the memory of all snapshots, in bytes. */
u64 kunwind_snapshot_bytes(void);

/* Returns a number that was never returned before; never 0. */
u64 kunwind_snapshot_new_id(void);

/*
 * Returns an empty snapshot with room for @room ranges, charged to @quota (may
 * be NULL). NULL: no memory, or over a limit. May sleep if @gfp allows it.
 */
struct kunwind_snapshot *kunwind_snapshot_alloc(u32 room, struct kunwind_quota *quota, gfp_t gfp);

/* Frees at once a snapshot that was never published. May sleep. */
void kunwind_snapshot_destroy(struct kunwind_snapshot *snapshot);

/* Drops a reference. @snapshot may be NULL. Any context except NMI. */
void kunwind_snapshot_put(struct kunwind_snapshot *snapshot);

/*
 * Returns a copy with references of its own, or NULL: no memory, or over a
 * limit. After the caller has published the copy, the caller settles it, or
 * queues the work item sweep(). No sleep.
 */
struct kunwind_snapshot *kunwind_snapshot_copy(const struct kunwind_snapshot *from);

/*
 * Fills in the ranges whose objects are done. Any number of CPUs may do this to
 * one snapshot at a time, because all write the same values. No sleep.
 */
void kunwind_snapshot_settle(struct kunwind_snapshot *snapshot);

/*
 * Returns whether a table of the snapshot was given up after walks may have used
 * it. Any context.
 */
bool kunwind_snapshot_has_retired(const struct kunwind_snapshot *snapshot);

/*
 * Emits kunwind_map for each range that is alive, has a file or is the vDSO, is
 * not pending, and was not announced before. The range counts as announced
 * also if the event is off. The caller has a reference. Lets other tasks run
 * after each event. @published: NULL, or the pointer of the space; if it points
 * to another snapshot now, ends and returns false, because the marks of ranges
 * that have died meanwhile are in that other one. Otherwise returns true.
 */
bool kunwind_snapshot_announce(struct kunwind_snapshot *snapshot, pid_t tgid,
			       struct kunwind_ranges __rcu *const *published);

/*
 * Emits kunwind_map for ranges from address *at on, whether announced before or
 * not, and doubted ones, too: at most @max events, for the next few ranges.
 * Sets *at to the start of the next range, or to U64_MAX if there is none.
 * Returns the number of events. No sleep.
 */
u32 kunwind_snapshot_dump(const struct kunwind_snapshot *snapshot, pid_t tgid, u64 *at, u32 max);

/*
 * Emits kunwind_map for ranges that a dump would report, at most @bytes of events
 * (a path counts as the memory that it takes): first those with short paths, then
 * those with long ones. No sleep.
 */
void kunwind_snapshot_dump_within(const struct kunwind_snapshot *snapshot, pid_t tgid, u32 bytes);

/* Returns how many events a dump from address @at to the end would emit. */
u32 kunwind_snapshot_known(const struct kunwind_snapshot *snapshot, u64 at);

/* Returns the index of the first range that ends after @addr, or nr. */
u32 kunwind_ranges_behind(const struct kunwind_ranges *ranges, u64 addr);

#endif /* _KUNWIND_SNAPSHOT_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * snapshot.h - the executable mappings of a space at one time
 *
 * A snapshot is a sorted list of ranges in chunks of at most KUNWIND_CHUNK_MAX.
 * When a mapping changes, a new snapshot is published that shares the chunks that
 * did not change. So a change costs the same for any number of mappings, except
 * for a copy of the list of chunks. The chunks are also shared with forked
 * children. Memory: 112 bytes a snapshot, 24 for each chunk; 56 bytes a chunk, 72
 * for each range.
 *
 * The parts of a published snapshot that walks read change in three ways only.
 * A walk may run in the middle of a change:
 *   - A range whose table was not ready gets its bias, then its table (or the
 *     reason why there is none). This depends on the file, and on the ranges near
 *     it if the range alone has several possible biases. These are the same in
 *     all snapshots that share the chunk (splice.c).
 *   - A range dies, because something else was mapped there: it is marked as
 *     dead, then the snapshot gets a new id, so that walks forget its cached
 *     rules. This concerns one mm only: if another one may share the snapshot or
 *     the chunk ("foreign"), a copy is marked and published instead.
 *   - The work item sweep() gives the snapshot a new id, because a table was
 *     given up (forget_rules() in space.c).
 *
 * The spaces that share a snapshot and the tasks that work on it have
 * references to it; the snapshots that share a chunk have references to that.
 * The last put of a snapshot frees it after a grace period, in a worker, because
 * this drops references to objects and may sleep (docs/lifetimes.md). A chunk
 * that no other snapshot has is freed with it: no walk can be in it any more.
 */
#ifndef _KUNWIND_SNAPSHOT_H
#define _KUNWIND_SNAPSHOT_H

#include <linux/refcount.h>

#include "../core/kunwind_core.h"
#include "reap.h"

struct kunwind_name;
struct kunwind_object;
struct kunwind_quota;

/* A full chunk takes 8 KB from the allocator. */
#define KUNWIND_CHUNK_MAX	112

/* Ranges on either side of one that may decide its bias. */
#define KUNWIND_SIBLINGS	16

/* The part of a range that walks do not need. */
struct kunwind_detail {
	struct kunwind_object *object;	/* never NULL; with a reference */
	struct kunwind_name *name;	/* NULL, or of its file, with a reference */
	u64 offset;		/* of the range's start in the file, bytes; 0: no file */
	bool announced;		/* kunwind_map was emitted, with the bias of the range */
	u32 died;		/* if the range is dead: the read that was the last one then
				 * (kunwind_space.reading) */
};

struct kunwind_chunk {
	refcount_t refs;	/* of snapshots */
	bool settled;		/* no object of a range is pending */
	bool announced;		/* after it was settled, all its ranges were announced */
	bool solid;		/* its ranges leave no gap, and none is dead */
	bool retry;		/* the build of an object failed, and may be repeated */
	bool foreign;		/* a snapshot of another mm may have it, too */
	u32 died;		/* of the range that died last */
	u32 nr;			/* never 0 */
	u32 nr_maps;		/* ranges that have an object other than the anonymous one */
	size_t size;		/* charged to quota, bytes */
	struct kunwind_quota *quota;	/* with a reference; NULL: nobody is charged */
	struct kunwind_chunk *next;	/* while a snapshot is made (splice.c) */
	struct kunwind_detail *detail;	/* [nr], stored after the ranges */
	struct kunwind_range range[];
};

struct kunwind_snapshot {
	refcount_t refs;
	bool settled, announced;	/* all chunks are */
	bool full;		/* it has max_ranges ranges: others are not known */
	bool foreign;		/* fork shared it: another mm may have it, too */
	u32 nr, nr_maps;	/* of all chunks */
	size_t size;		/* charged to quota, bytes, without the chunks */
	size_t chunk_size;	/* of all chunks, bytes */
	struct kunwind_quota *quota;	/* with a reference; NULL: nobody is charged */
	struct kunwind_reap reap;
	struct kunwind_ranges ranges;	/* last; its chunk[] is stored after it */
};

static inline struct kunwind_snapshot *kunwind_snapshot_of(struct kunwind_ranges *ranges)
{
	return ranges ? container_of(ranges, struct kunwind_snapshot, ranges) : NULL;
}

static inline struct kunwind_chunk *kunwind_snapshot_chunk(const struct kunwind_snapshot *snapshot,
							   u32 i)
{
	return container_of((struct kunwind_range *)snapshot->ranges.chunk[i].range,
			    struct kunwind_chunk, range[0]);
}

/* A doubted range (kunwind_ranges.doubt_start) is not dead. */
static inline bool kunwind_range_is_dead(const struct kunwind_range *range)
{
	return READ_ONCE(range->dead);
}

/* The place of a range in a snapshot. */
struct kunwind_place {
	u32 chunk, nr;
};

/* Returns the place of the first range that ends after @addr, or that after the last range. */
struct kunwind_place kunwind_snapshot_after(const struct kunwind_snapshot *snapshot, u64 addr);

/* Returns the range at @place, and its detail (unless @detail is NULL). NULL: there is none. */
struct kunwind_range *kunwind_snapshot_at(const struct kunwind_snapshot *snapshot,
					  struct kunwind_place place,
					  struct kunwind_detail **detail);

/* Moves @place to the next range. @place must be that of a range. */
static inline void kunwind_place_next(const struct kunwind_snapshot *snapshot,
				      struct kunwind_place *place)
{
	if (++place->nr == snapshot->ranges.chunk[place->chunk].nr)
		*place = (struct kunwind_place){ .chunk = place->chunk + 1 };
}

/* Moves @place to the range before. Returns false if there is none. */
static inline bool kunwind_place_before(const struct kunwind_snapshot *snapshot,
					struct kunwind_place *place)
{
	if (!place->nr) {
		if (!place->chunk)
			return false;
		place->nr = snapshot->ranges.chunk[--place->chunk].nr;
	}
	place->nr--;
	return true;
}

/* Returns the memory of all snapshots and chunks, in bytes. */
u64 kunwind_snapshot_bytes(void);

/* Returns a number that was never returned before; never 0. */
u64 kunwind_snapshot_new_id(void);

/*
 * Returns an empty chunk for @nr ranges, whose nr is already set, charged to
 * @quota (may be NULL). NULL: no memory, or over a limit. May sleep if @gfp
 * allows it.
 */
struct kunwind_chunk *kunwind_chunk_alloc(u32 nr, struct kunwind_quota *quota, gfp_t gfp);

/* Call it when the chunk's ranges and details are set: counts what it has. */
void kunwind_chunk_filled(struct kunwind_chunk *chunk);

/* Drops a reference, which may free the chunk. May sleep. */
void kunwind_chunk_put(struct kunwind_chunk *chunk);

/*
 * Returns a snapshot with room for @room chunks, charged to @quota (may be NULL).
 * NULL: no memory, or over a limit. May sleep if @gfp allows it.
 */
struct kunwind_snapshot *kunwind_snapshot_alloc(u32 room, struct kunwind_quota *quota, gfp_t gfp);

/* Adds a chunk after all others, with the caller's reference. There must be room. */
void kunwind_snapshot_add(struct kunwind_snapshot *snapshot, struct kunwind_chunk *chunk);

/* Frees at once a snapshot that was never published. May sleep. */
void kunwind_snapshot_destroy(struct kunwind_snapshot *snapshot);

/* Drops a reference. @snapshot may be NULL. Any context except NMI. */
void kunwind_snapshot_put(struct kunwind_snapshot *snapshot);

/*
 * Returns a snapshot with the same chunks, or NULL: no memory, or over a limit.
 * After the caller has published the copy, the caller settles it, or queues the
 * work item sweep(). No sleep.
 */
struct kunwind_snapshot *kunwind_snapshot_copy(const struct kunwind_snapshot *from);

/* What a snapshot has of an interval. */
struct kunwind_cover {
	bool any, objects;	/* a range that is not dead; one with an object */
	u64 bytes;		/* of ranges that are not dead */
	u64 gap_start, gap_end;	/* from the first to the last byte of no such range */
};

/* The cost grows with the number of chunks there, not of ranges that leave no gap. */
struct kunwind_cover kunwind_snapshot_cover(const struct kunwind_snapshot *snapshot, u64 start, u64 end);

/*
 * Adds a chunk of @from, which has a reference of the caller, with a reference of
 * its own.
 */
void kunwind_snapshot_share(struct kunwind_snapshot *snapshot, const struct kunwind_snapshot *from,
			    u32 i);

/*
 * Returns whether no snapshot of another mm has a chunk that overlaps [start,
 * end). @snapshot is published; the lock of its space is held.
 */
bool kunwind_snapshot_owns(const struct kunwind_snapshot *snapshot, u64 start, u64 end);

/*
 * Marks the ranges that overlap [start, end) as dead, as @died. @own: all chunks
 * there are this mm's (kunwind_snapshot_owns()). Otherwise @snapshot is not
 * published, and those that another mm may have are copied first. False: no
 * memory, or over a limit; not with @own. No sleep.
 */
bool __must_check kunwind_snapshot_kill(struct kunwind_snapshot *snapshot, u64 start, u64 end, u32 died,
					bool own);

/* Takes over @from and its detail, with references of their own, to @to. */
void kunwind_range_copy(struct kunwind_range *to, struct kunwind_detail *to_detail,
			const struct kunwind_range *from, const struct kunwind_detail *from_detail);

/*
 * Returns whether ranges near it decide the bias of a range, or may do so when its
 * object is done.
 */
bool kunwind_range_needs_others(const struct kunwind_range *range, const struct kunwind_detail *detail);

/*
 * Fills in the ranges whose objects are done. Any number of CPUs may do this to
 * one snapshot at a time, because all write the same values. No sleep.
 */
void kunwind_snapshot_settle(struct kunwind_snapshot *snapshot);

/*
 * Returns whether a table of the snapshot was given up after walks may have used
 * it. If so, the next read of the mappings may repeat its build. Any context.
 */
bool kunwind_snapshot_find_retired(const struct kunwind_snapshot *snapshot);

/*
 * Emits kunwind_map for each range that walks may use, has a file or is the vDSO,
 * is not pending, and was not announced before. The range counts as announced
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

#endif /* _KUNWIND_SNAPSHOT_H */

/* SPDX-License-Identifier: MIT */
/*
 * snapshot-state-test.c - what copies of snapshots, spaces and lists of changes
 * keep: each member, also those that only a later event needs
 */
#include "space-scene.h"

static struct kunwind_space *forks(void)
{
	under_mmap_lock(&mm, kunwind_space_dup(&mm, &child_mm));
	return kunwind_space_find(&child_mm);
}

/* ------------------------------------------------------------ changed.c */

#define BITS	12

static u32 bits_of(const struct kunwind_changed *changed)
{
	u32 i, bits = 0;
	u64 at;

	for (i = 0; i < changed->nr; i++)
		for (at = changed->interval[i].start; at < changed->interval[i].end; at++)
			bits |= 1U << at;
	return bits;
}

/* Returns whether no interval is empty, and none touches another. */
static bool is_apart(const struct kunwind_changed *changed)
{
	u32 i, j;

	for (i = 0; i < changed->nr; i++) {
		if (changed->interval[i].start >= changed->interval[i].end)
			return false;
		for (j = 0; j < i; j++)
			if (changed->interval[i].start <= changed->interval[j].end &&
			    changed->interval[j].start <= changed->interval[i].end)
				return false;
	}
	return changed->nr <= KUNWIND_CHANGED_MAX;
}

static void test_changed(void)
{
	u32 round, i, seed = 1, bad = 0, lost = 0, more = 0;
	struct kunwind_changed changed, sum;

	for (round = 0; round < 20000; round++) {
		u32 want = 0;

		changed.nr = sum.nr = 0;
		for (i = 0; i < 6; i++) {
			const bool full = changed.nr == KUNWIND_CHANGED_MAX;
			u32 start, end, before = bits_of(&changed);

			seed = seed * 1103515245 + 12345;
			start = (seed >> 16) % BITS;
			end = start + 1 + (seed >> 24) % 3;
			want |= ((1U << end) - 1) & ~((1U << start) - 1);
			kunwind_changed_add(&changed, start, end);
			bad += !is_apart(&changed);
			lost += (bits_of(&changed) & want) != want;
			if (full) {	/* one interval, from the first to the last */
				bad += changed.nr != 1;
				want = bits_of(&changed);
				before |= ((1U << end) - 1) & ~((1U << start) - 1);
				more += want & ((before & -before) - 1) || want >> 1 >= before;
			} else {
				more += bits_of(&changed) != want;
			}
		}
		kunwind_changed_add_all(&sum, &changed);
		bad += bits_of(&sum) != bits_of(&changed);
	}
	tap_ok(!bad, "changes: intervals that touch are one, and there are at most %u", KUNWIND_CHANGED_MAX);
	tap_ok(!lost, "changes: none is lost");
	tap_ok(!more,
	       "changes: no more than these, unless there are too many; then from the first to the last");
}

/* ----------------------------------------------------------- snapshot.c */

static void test_copy(void)
{
	struct kunwind_snapshot *from, *copy;

	begin();
	from = list();
	from->full = true;
	from->ranges.entry = 0x1001;
	from->ranges.interpreter = 0x2002;
	from->ranges.doubt_start = 0x3000;
	from->ranges.doubt_end = 0x4000;
	preempt_disable();
	copy = kunwind_snapshot_copy(from);
	preempt_enable();
	tap_ok(copy->full && copy->ranges.entry_sp == from->ranges.entry_sp && copy->ranges.entry == 0x1001 &&
	       copy->ranges.interpreter == 0x2002 && copy->ranges.doubt_start == 0x3000 &&
	       copy->ranges.doubt_end == 0x4000 && copy->ranges.id != from->ranges.id && !copy->foreign &&
	       copy->nr == from->nr && copy->nr_maps == from->nr_maps && copy->chunk_size == from->chunk_size,
	       "copy: it has all that the snapshot has, under a new id");
	kunwind_snapshot_destroy(copy);
	kunwind_snapshot_destroy(from);
	end("copy");
}

/* Only the first of the ranges has an object whose build failed. */
static void test_retry(void)
{
	struct kunwind_snapshot *snapshot;
	u32 i;

	for (i = 0; i < NR; i++) {
		begin();
		objects[i].state = KUNWIND_OBJECT_FAILED;
		snapshot = list();
		tap_ok(kunwind_snapshot_chunk(snapshot, 0)->retry,
		       "the build of object %u failed: it may be repeated", i);
		kunwind_snapshot_destroy(snapshot);
		end("failed");
	}
	begin();
	snapshot = list();
	tap_ok(!kunwind_snapshot_chunk(snapshot, 0)->retry, "no build failed: none is repeated");
	kunwind_snapshot_destroy(snapshot);
	end("none failed");
}

/* The build fails after the read. */
static void test_retry_later(void)
{
	struct kunwind_snapshot *snapshot;
	u32 i, bad = 0;

	for (i = 0; i < NR; i++) {
		begin();
		objects[i].state = KUNWIND_OBJECT_PENDING;
		snapshot = list();
		kunwind_snapshot_settle(snapshot);
		bad += READ_ONCE(snapshot->settled) || kunwind_snapshot_chunk(snapshot, 0)->retry;
		objects[i].state = i & 1 ? KUNWIND_OBJECT_FAILED : KUNWIND_OBJECT_REFUSED;
		kunwind_snapshot_settle(snapshot);
		bad += !READ_ONCE(snapshot->settled) || !kunwind_snapshot_chunk(snapshot, 0)->retry;
		kunwind_snapshot_destroy(snapshot);
		end("failed later");
	}
	tap_ok(!bad, "a build that fails while the snapshot is in use may be repeated");
}

static void test_cover(void)
{
	struct kunwind_snapshot *snapshot;
	struct kunwind_cover cover;

	begin();
	snapshot = list();
	cover = kunwind_snapshot_cover(snapshot, AT(0) + 0x500, AT(1) + 0x700);
	tap_ok(cover.any && cover.objects && cover.bytes == 0x2000 - 0x500 + 0x700 &&
	       cover.gap_start == AT(0) + 0x2000 && cover.gap_end == AT(1),
	       "cover: of ranges at its ends, the parts inside");
	cover = kunwind_snapshot_cover(snapshot, AT(0) - 0x100, AT(3) + 0x2100);
	tap_ok(cover.bytes == NR * 0x2000 && cover.gap_start == AT(0) - 0x100 &&
	       cover.gap_end == AT(3) + 0x2100,
	       "cover: the gap is from the first to the last byte of no range");
	cover = kunwind_snapshot_cover(snapshot, AT(1) + 0x2000, AT(2));
	tap_ok(!cover.any && !cover.bytes && cover.gap_start == AT(1) + 0x2000 && cover.gap_end == AT(2),
	       "cover: an interval between two ranges has none");
	kunwind_snapshot_destroy(snapshot);
	end("cover");
}

/* -------------------------------------------------------- invalidate.c */

/* Code is mapped between two ranges, and the kernel reports all three. */
static void test_merge(void)
{
	begin();
	tap_ok(kunwind_space_mapped(space, AT(1), AT(2) + 0x2000, AT(2) - AT(1) - 0x2000, true) &&
	       !dead(space) &&
	       space->changed.nr == 1 && space->changed.interval[0].start == AT(1) + 0x2000 &&
	       space->changed.interval[0].end == AT(2), "merge: only the new part is read");
	end("merge");
}

/*
 * Ranges die during a read; in between, fork shares the snapshot again, so the
 * chunk in which the first one is marked is copied once more.
 */
static void test_died_twice(void)
{
	struct kunwind_snapshot *new;
	bool marked;

	begin();
	forks();
	new = list();
	spin_lock(&space->lock);
	space->reading = kunwind_snapshot_new_id();
	space->deaths = false;
	spin_unlock(&space->lock);
	kunwind_space_mapped(space, AT(0), AT(0) + 1, 0, true);
	kunwind_space_forget(&child_mm);
	space->changed.nr = 0;
	forks();
	kunwind_space_mapped(space, AT(2), AT(2) + 1, 0, true);
	tap_ok(dead(space) == 5, "two ranges die during a read, with a fork in between");
	marked = with_lock(&space->lock, kunwind_space_mark(space, new));
	publish(space, new);
	tap_ok(marked && dead(space) == 5, "both are dead in the snapshot that the read makes");
	kunwind_space_forget(&child_mm);
	end("died twice");

	/* The chunk cannot be copied. */
	begin();
	forks();
	no_memory_at = 2;
	kunwind_space_mapped(space, AT(0), AT(0) + 1, 0, true);
	tap_ok(!no_memory_at && !ranges_of(space),
	       "no memory for the copy of a chunk: no snapshot, and no leak");
	kunwind_space_forget(&child_mm);
	end("no memory for a chunk");
}

/* -------------------------------------------------------------- space.c */

static void test_fork(void)
{
	struct kunwind_space *child;
	size_t alone, shared;

	begin();
	space->reads = 9;
	spin_lock(&space->lock);
	kunwind_changed_add(&space->changed, AT(2), AT(2) + 0x1000);
	space->map_seq++;
	spin_unlock(&space->lock);
	alone = kunwind_space_bytes(space);
	child = forks();
	shared = kunwind_space_bytes(space);
	tap_ok(child->reads == 9 && child->changed.nr == 1 && child->changed.interval[0].start == AT(2) &&
	       child->map_seq == space->map_seq && child->read_seq == space->read_seq &&
	       kunwind_space_dirty(child) && !child->borrowed && !child->fresh && child->tgid == 0,
	       "fork: the child has what its parent has to read, and when all is to be read");
	tap_ok(shared == sizeof(*space) + (alone - sizeof(*space)) / 2 &&
	       kunwind_space_bytes(child) == shared,
	       "fork: each of the two counts half of the snapshot");
	kunwind_space_forget(&child_mm);
	end("fork");
}

static void test_settle_killed(void)
{
	static struct task_struct task;
	const unsigned long before = jiffies;

	begin();
	current = dying_task = &task;
	objects[1].state = KUNWIND_OBJECT_PENDING;
	publish(space, list());
	tap_ok(kunwind_space_settle(1000) == -EINTR && jiffies - before < 100,
	       "wait for all objects, a fatal signal: EINTR, soon");
	dying_task = NULL;
	tap_ok(!kunwind_space_settle(100) && jiffies - before >= 100,
	       "wait for all objects: it ends in time");
	current = NULL;
	objects[1].state = KUNWIND_OBJECT_READY;
	end("settle");
}

int main(void)
{
	test_changed();
	test_copy();
	test_retry();
	test_retry_later();
	test_cover();
	test_merge();
	test_died_twice();
	test_fork();
	test_settle_killed();
	return tap_done();
}

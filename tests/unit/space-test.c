/* SPDX-License-Identifier: MIT */
/*
 * space-test.c - the known ranges of an address space: which die when others are
 * mapped over them, what a forked child shares, which references a snapshot
 * holds
 */
#include "space-scene.h"

/* ------------------------------------------------------------------- tests */

static void test_behind(void)
{
	const struct kunwind_ranges *ranges;
	bool good = true;
	u32 i;

	begin();
	ranges = ranges_of(space);
	for (i = 0; i < NR; i++)
		good &= kunwind_ranges_behind(ranges, AT(i) - 1) == i &&
			kunwind_ranges_behind(ranges, AT(i)) == i &&
			kunwind_ranges_behind(ranges, AT(i) + 0x1fff) == i &&
			kunwind_ranges_behind(ranges, AT(i) + 0x2000) == i + 1;
	tap_ok(good, "lookup: the first range that ends after an address is found");
	tap_ok(!kunwind_space_knows(space, AT(0) - 8, 8) && kunwind_space_knows(space, AT(0) - 8, 9) &&
	       kunwind_space_knows(space, AT(0) + 0x1fff, 1) &&
	       !kunwind_space_knows(space, AT(0) + 0x2000, 0x1000) &&
	       kunwind_space_knows(space, AT(3) + 8, ~0ULL) && !kunwind_space_knows(space, AT(4), ~0ULL),
	       "lookup: known addresses are exact to the byte");
	end("lookup");
}

static void test_mapped(void)
{
	static const struct {
		const char *what;
		u64 start, end, added;
		bool read;
		u32 dead;
		bool dirty;
	} cases[] = {
		{ "over the second", AT(1), AT(1) + 0x2000, 0, true, 2, true },
		{ "over the first byte of the second", AT(1) - 0x1000, AT(1) + 1, 0, true, 2, true },
		{ "over the last byte of the second", AT(1) + 0x1fff, AT(1) + 0x3000, 0, true, 2, true },
		{ "up to the second", AT(1) - 0x1000, AT(1), 0, false, 0, false },
		{ "from the second's end on", AT(1) + 0x2000, AT(1) + 0x3000, 0, false, 0, false },
		{ "new code between two", AT(1) + 0x4000, AT(1) + 0x5000, 0, true, 0, true },
		{ "over the second and third", AT(1) + 0x1000, AT(2) + 0x1000, 0, true, 6, true },
		{ "data over code", AT(1), AT(1) + 0x1000, 0, false, 2, true },
		{ "new code merged with the second", AT(1), AT(1) + 0x3000, 0x1000, true, 0, true },
		{ "one page of new code over a part of the second", AT(1), AT(1) + 0x3000, 0x2000, true,
		  2, true },
		{ "new code in the second's place", AT(1), AT(1) + 0x2000, 0x2000, true, 2, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 id;

		begin();
		id = ranges_of(space)->id;
		kunwind_space_mapped(space, cases[i].start, cases[i].end, cases[i].added, cases[i].read);
		tap_ok(dead(space) == cases[i].dead && kunwind_space_dirty(space) == cases[i].dirty,
		       "mapped %s: the dead ranges are %x", cases[i].what, cases[i].dead);
		tap_ok((ranges_of(space)->id != id) == !!cases[i].dead,
		       "mapped %s: cached rules are %s", cases[i].what,
		       cases[i].dead ? "no longer found" : "still valid");
		if (i == 0)
			tap_ok(!kunwind_space_knows(space, AT(1), 0x2000),
			       "mapped over the second: a dead range is not known");
		end(cases[i].what);
	}
	/* new code before the second, which is not read yet; then new code in its place */
	begin();
	kunwind_space_mapped(space, AT(1) - 0x2000, AT(1), 0, true);
	kunwind_space_mapped(space, AT(1) - 0x2000, AT(1) + 0x2000, 0x2000, true);
	tap_ok(dead(space) == 2,
	       "mapped in the second's place, beside code that is not read yet: it is dead");
	end("beside code that is not read yet");
	/* anonymous code: a JIT's code is read when it is executable again */
	begin();
	ranges_of(space)->range[1].table = NULL;
	ranges_of(space)->range[1].reason = KUNWIND_NO_OBJECT;
	kunwind_space_mapped(space, AT(1), AT(1) + 0x1000, 0, false);
	tap_ok(dead(space) == 2 && !kunwind_space_dirty(space),
	       "JIT code that becomes data: its range is dead, no read is due");
	end("JIT code that becomes data");
}

static struct kunwind_space *forked(void)
{
	struct kunwind_space *child;

	kunwind_space_dup(&mm, &child_mm);
	child = kunwind_space_find(&child_mm);
	return child;
}

static void test_fork(void)
{
	struct kunwind_space *child;
	u32 nr_maps, nr_ready;

	begin();
	ranges_of(space)->entry_sp = 0x7000;
	ranges_of(space)->entry = 0x401000;
	ranges_of(space)->interpreter = 0x402000;
	child = forked();
	tap_ok(child && ranges_of(child) == ranges_of(space) &&
	       refcount_read(&kunwind_snapshot_of(ranges_of(child))->refs) == 2 &&
	       !kunwind_space_dirty(child), "fork: the child shares the snapshot, no read is due");
	ranges_of(space)->range[3].dead = 1;
	kunwind_space_mapped(child, AT(1), AT(1) + 0x2000, 0, true);
	tap_ok(dead(child) == (2 | 8) && dead(space) == 8,
	       "fork: a range that dies in the child is alive in the parent");
	tap_ok(ranges_of(child)->id != ranges_of(space)->id && ranges_of(child)->nr == NR &&
	       ranges_of(child)->entry_sp == 0x7000 && ranges_of(child)->entry == 0x401000 &&
	       ranges_of(child)->interpreter == 0x402000 &&
	       !memcmp(&ranges_of(child)->range[0], &ranges_of(space)->range[0],
		       sizeof(struct kunwind_range)) &&
	       kunwind_snapshot_of(ranges_of(child))->detail[2].object == &objects[2] &&
	       kunwind_snapshot_of(ranges_of(child))->detail[2].offset == 0x1000,
	       "fork: the child's copy keeps the other ranges, under a new id");
	tap_ok(refcount_read(&objects[2].users) == 3, "fork: each snapshot has a reference to each object");
	tap_ok(kunwind_snapshot_of(ranges_of(child))->detail[1].name == &name &&
	       refcount_read(&name.refs) == 1 + 2 * 2, "fork: each snapshot has a reference to each name");
	kunwind_space_count(child, &nr_maps, &nr_ready);
	tap_ok(nr_maps == NR && kunwind_space_maps(child) == NR && nr_ready == NR - 2,
	       "fork: dead ranges do not count as ready");
	kunwind_space_forget(&child_mm);
	tap_ok(!kunwind_space_find(&child_mm) && kunwind_space_find(&mm),
	       "fork: the end of the child's mm removes only its space");
	end("fork, child's copy");

	/* the parent maps something: the child keeps its ranges */
	begin();
	child = forked();
	kunwind_space_mapped(space, AT(2), AT(2) + 1, 0, true);
	tap_ok(dead(space) == 4 && !dead(child) && !kunwind_space_dirty(child),
	       "fork: a range that dies in the parent is alive in the child");
	kunwind_space_forget_unused(&child_mm);
	tap_ok(!kunwind_space_find(&child_mm),
	       "fork: the space of a child that is not registered is dropped");
	end("fork, parent's copy");

	/* no memory for the copy of a list with JIT code */
	begin();
	ranges_of(space)->range[2].table = NULL;
	ranges_of(space)->range[2].reason = KUNWIND_NO_OBJECT;
	child = forked();
	no_room = true;
	kunwind_space_mapped(child, AT(2), AT(2) + 1, 0, false);
	no_room = false;
	tap_ok(!ranges_of(child) && kunwind_space_dirty(child) && !dead(space) && refusals == 1,
	       "fork: without memory for a copy, the child has no snapshot, a read is due");
	kunwind_space_forget(&child_mm);
	end("fork, no memory");

	/* children are not wanted */
	begin();
	kunwind_space_add_children(space, -1);
	tap_ok(!forked(), "fork: without the flag for children, the child has no space");
	kunwind_space_add_children(space, 1);
	end("fork, no children");

	/* an object is pending */
	begin();
	objects[2].state = KUNWIND_OBJECT_PENDING;
	publish(space, list());
	kunwind_snapshot_settle(kunwind_snapshot_of(ranges_of(space)));
	child = forked();
	tap_ok(ranges_of(child) != ranges_of(space) && kunwind_space_dirty(child) &&
	       ranges_of(child)->range[1].table && !ranges_of(child)->range[2].table,
	       "fork: while an object is pending, the child has its own snapshot");
	objects[2].state = KUNWIND_OBJECT_READY;
	WRITE_ONCE(child->tgid, 101);
	flush_delayed_work(&sweeper);
	tap_ok(ranges_of(child)->range[2].table && ranges_of(space)->range[2].table,
	       "fork: when the object is ready, both snapshots have its table");
	kunwind_space_forget(&child_mm);
	end("fork, object pending");

	/* the object is ready, but no sweep has filled in the parent's snapshot */
	begin();
	objects[2].state = KUNWIND_OBJECT_PENDING;
	publish(space, list());
	kunwind_snapshot_settle(kunwind_snapshot_of(ranges_of(space)));
	kunwind_snapshot_announce(kunwind_snapshot_of(ranges_of(space)), 100, NULL);
	objects[2].state = KUNWIND_OBJECT_READY;
	child = forked();
	kunwind_space_forget(&mm);
	WRITE_ONCE(child->tgid, 101);
	told = 0;
	flush_delayed_work(&sweeper);
	tap_ok(told == 1 && told_tgid == 101 && told_start == AT(2),
	       "fork: the child announces a mapping that became ready just before");
	kunwind_space_forget(&child_mm);
	end("fork, object just ready");

	/* the parent has read its mappings, and will announce them next */
	begin();
	publish(space, list());
	kunwind_snapshot_settle(kunwind_snapshot_of(ranges_of(space)));
	child = forked();
	kunwind_snapshot_announce(kunwind_snapshot_of(ranges_of(space)), 100, NULL);
	WRITE_ONCE(child->tgid, 101);
	told = 0;
	flush_delayed_work(&sweeper);
	tap_ok(told == NR && told_tgid == 101,
	       "fork: the child announces the mappings that its parent has not announced yet");
	kunwind_space_forget(&child_mm);
	end("fork, not announced");

	/* a mapping of the parent is not read yet */
	begin();
	kunwind_space_mapped(space, AT(5), AT(6), 0, true);
	child = forked();
	tap_ok(kunwind_space_dirty(child), "fork: a read that is due in the parent is due in the child");
	kunwind_space_forget(&child_mm);
	end("fork, mapping not read");

	/* the parent is in a mremap */
	begin();
	kunwind_space_begin_move(space);
	kunwind_space_move_to(space, AT(0), AT(1));
	child = forked();
	tap_ok(!ranges_of(child) && kunwind_space_dirty(child),
	       "fork: during a mremap, the child has no snapshot, a read is due");
	kunwind_space_end_move(space);
	kunwind_space_forget(&child_mm);
	end("fork, mremap");
}

/* Reads all mappings again. */
static void read_again(void)
{
	struct kunwind_snapshot *snapshot = list();

	spin_lock(&space->lock);
	kunwind_space_mark(space, ranges_of(space), &snapshot->ranges);
	spin_unlock(&space->lock);
	publish(space, snapshot);
}

static void test_moves(void)
{
	begin();
	kunwind_space_begin_move(space);
	read_again();
	tap_ok(!dead(space), "mremap without a destination: no range is dead");
	kunwind_space_move_to(space, AT(0) + 0x1fff, AT(1));
	kunwind_space_begin_move(space);
	kunwind_space_move_to(space, AT(3) + 0x2000, AT(4));
	read_again();
	tap_ok(dead(space) == 15 && ranges_of(space)->range[1].dead == KUNWIND_DOUBTED,
	       "two mremaps: ranges between their destinations are doubted");
	tap_ok(kunwind_space_knows(space, AT(1), 1), "mremap: a doubted range is still known");
	kunwind_space_mapped(space, AT(1), AT(1) + 1, 0, true);
	tap_ok(ranges_of(space)->range[1].dead == KUNWIND_DEAD && !kunwind_space_knows(space, AT(1), 1),
	       "mremap: a doubted range dies when another is mapped over it");
	kunwind_space_end_move(space);
	read_again();
	tap_ok(dead(space) == 15 && !kunwind_space_dirty(space),
	       "two mremaps: ranges stay doubted until both have ended");
	kunwind_space_end_move(space);
	tap_ok(kunwind_space_dirty(space), "two mremaps: a read is due after both have ended");
	read_again();
	tap_ok(!dead(space) && !space->moves.nr, "two mremaps: that read makes all ranges valid");
	kunwind_space_begin_move(space);
	kunwind_space_move_to(space, AT(0) + 0x1fff, AT(2));
	read_again();
	tap_ok(dead(space) == 3,
	       "mremap: only ranges in the destinations of current calls are doubted");
	kunwind_space_end_move(space);
	read_again();
	kunwind_space_begin_move(space);
	kunwind_space_end_move(space);
	tap_ok(!kunwind_space_dirty(space), "mremap without a destination: no read is due after it");
	end("mremap");
}

/* A mremap ends a range while the mappings are read. */
static void test_meanwhile(void)
{
	struct kunwind_snapshot *old, *snapshot;
	bool may;

	begin();
	kunwind_space_mapped(space, AT(0), AT(0) + 1, 0, true);
	old = kunwind_space_snapshot(space);
	snapshot = list();
	snapshot->ranges.range[2].end = AT(2) + 0x1000;
	snapshot->ranges.range[3].start = AT(2) + 0x1000;
	kunwind_space_mapped(space, AT(2), AT(2) + 1, 0, true);
	tap_ok(ranges_of(space) != &old->ranges && !kunwind_range_is_dead(&old->ranges.range[2]),
	       "range that dies during a read: the old snapshot is unchanged");
	spin_lock(&space->lock);
	may = kunwind_space_mark(space, &old->ranges, &snapshot->ranges);
	spin_unlock(&space->lock);
	publish(space, snapshot);
	tap_ok(may && dead(space) == 12, "range that dies during a read: it is dead in the new snapshot");

	kunwind_snapshot_put(old);
	old = kunwind_space_snapshot(space);
	snapshot = list();
	no_room = true;
	kunwind_space_mapped(space, AT(1), AT(1) + 1, 0, true);
	no_room = false;
	spin_lock(&space->lock);
	may = kunwind_space_mark(space, &old->ranges, &snapshot->ranges);
	spin_unlock(&space->lock);
	tap_ok(!may && !ranges_of(space),
	       "range that dies during a read, no memory: no snapshot is published");
	kunwind_snapshot_destroy(snapshot);
	kunwind_snapshot_put(old);
	refusals = 0;
	end("range that dies during a read");
}

static void test_links(void)
{
	struct kunwind_space *again;
	int refs;

	begin();
	again = kunwind_space_link(&mm, 200, false, false, GFP_KERNEL);
	tap_ok(again == space && space->processes == 2 && space->tgid == 100,
	       "space: two processes of one mm share it");
	kunwind_space_unlink(again, 200, false);
	tap_ok(kunwind_space_find(&mm) == space && space->children == 1,
	       "space: it stays as long as one process uses it");
	refs = refcount_read(&space->refs);
	tap_ok(kunwind_space_find_get(&mm) == space && refcount_read(&space->refs) == refs + 1,
	       "space: it is found with a reference");
	kunwind_space_put(space);
	refcount_set(&space->refs, 0);
	tap_ok(!kunwind_space_find_get(&mm) && !refcount_read(&space->refs),
	       "space: it is not found after its last reference is dropped");
	refcount_set(&space->refs, refs);
	kunwind_space_forget_unused(&mm);
	tap_ok(kunwind_space_find(&mm) == space,
	       "space: it is not dropped as unused while a process uses it");
	kunwind_space_forget(&mm);
	tap_ok(!kunwind_space_find(&mm), "space: it is dropped at the end of its mm");
	end("space");
	no_memory = 1;
	tap_ok(!kunwind_space_link(&mm, 100, true, false, GFP_KERNEL), "space: none without memory");
	no_memory = 0;
	no_room = true;
	refusals = 0;
	tap_ok(!kunwind_snapshot_alloc(4, &user, GFP_KERNEL) && refusals == 1 && !user.bytes,
	       "snapshot: one over the memory limit is refused and counted");
	no_room = false;
	no_memory = 1;
	tap_ok(!kunwind_snapshot_alloc(4, &user, GFP_KERNEL) && !user.bytes,
	       "snapshot: one whose allocation failed is not charged");
	no_memory = 0;
}

/* The first process of a space has ended; the kernel may use its number again. */
static void test_names_of_links(void)
{
	struct kunwind_snapshot *snapshot;

	begin();
	kunwind_space_link(&mm, 200, true, false, GFP_KERNEL);
	kunwind_space_unlink(space, 100, true);
	publish(space, list());
	snapshot = kunwind_snapshot_of(ranges_of(space));
	kunwind_snapshot_settle(snapshot);
	told = 0;
	kunwind_space_announce(space);
	sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(!told, "shared space: no mapping is announced for a process that has left");
	kunwind_space_link(&mm, 300, false, false, GFP_KERNEL);
	kunwind_space_announce(space);
	tap_ok(told == NR && told_tgid == 300,
	       "shared space: mappings are announced for the next process that joins");
	kunwind_space_link(&mm, 300, false, false, GFP_KERNEL);
	kunwind_space_unlink(space, 0, false);
	kunwind_space_unlink(space, 200, true);
	tap_ok(space->tgid == 300, "shared space: it keeps its process when others leave");
	kunwind_space_unlink(space, 300, false);
	space = NULL;
	end("shared space");
}

/*
 * The module is unloaded while a space exists, and another waits to be freed.
 */
static void test_exit(void)
{
	begin();
	forked();
	publish(space, list());
	kunwind_space_unlink(space, 100, true);
	space = NULL;
	rcu_barriers = 0;
	kunwind_space_exit();
	tap_ok(llist_empty(&reaped), "module unload: all spaces and snapshots are freed");
	tap_ok(rcu_barriers == 1, "module unload: waits for the records of processes that RCU frees");
	end("module unload");
}

int main(void)
{
	kunwind_space_init();
	test_behind();
	test_mapped();
	test_fork();
	test_moves();
	test_meanwhile();
	test_links();
	test_names_of_links();
	test_exit();
	return tap_done();
}

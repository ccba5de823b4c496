/* SPDX-License-Identifier: MIT */
/*
 * space-test.c - the known ranges of an address space: which die when others are
 * mapped over them, what a forked child shares, which references a snapshot
 * holds
 */
#include "space-scene.h"

/* ------------------------------------------------------------------- tests */

/* Returns the number of the first range that ends after @addr, or NR. */
static u32 after(u64 addr)
{
	struct kunwind_place place = kunwind_snapshot_after(of(space), addr);

	return place.chunk == ranges_of(space)->nr ? NR + place.nr : place.chunk * chunk_max + place.nr;
}

static void test_behind(void)
{
	bool good = true;
	u32 i;

	begin();
	for (i = 0; i < NR; i++)
		good &= after(AT(i) - 1) == i && after(AT(i)) == i && after(AT(i) + 0x1fff) == i &&
			after(AT(i) + 0x2000) == i + 1;
	tap_ok(good, "lookup: the first range that ends after an address is found");
	good = true;
	for (i = 0; i < NR; i++)
		good &= kunwind_ranges_find(ranges_of(space), AT(i)) == &RANGE(of(space), i) &&
			kunwind_ranges_find(ranges_of(space), AT(i) + 0x1fff) == &RANGE(of(space), i) &&
			!kunwind_ranges_find(ranges_of(space), AT(i) - 1) &&
			!kunwind_ranges_find(ranges_of(space), AT(i) + 0x2000);
	tap_ok(good, "lookup: a walk finds each range, and no other");
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
	RANGE(of(space), 1).table = NULL;
	RANGE(of(space), 1).reason = KUNWIND_NO_OBJECT;
	kunwind_space_mapped(space, AT(1), AT(1) + 0x1000, 0, false);
	tap_ok(dead(space) == 2 && !kunwind_space_dirty(space),
	       "JIT code that becomes data: its range is dead, no read is due");
	end("JIT code that becomes data");
}

static struct kunwind_space *forked(void)
{
	struct kunwind_space *child;

	under_mmap_lock(&mm, kunwind_space_dup(&mm, &child_mm));
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
	       refcount_read(&of(child)->refs) == 2 &&
	       !kunwind_space_dirty(child), "fork: the child shares the snapshot, no read is due");
	RANGE(of(space), 3).dead = 1;
	kunwind_space_mapped(child, AT(1), AT(1) + 0x2000, 0, true);
	tap_ok(dead(child) == (2 | 8) && dead(space) == 8,
	       "fork: a range that dies in the child is alive in the parent");
	tap_ok(ranges_of(child)->id != ranges_of(space)->id && of(child)->nr == NR &&
	       ranges_of(child)->entry_sp == 0x7000 && ranges_of(child)->entry == 0x401000 &&
	       ranges_of(child)->interpreter == 0x402000 &&
	       !memcmp(&RANGE(of(child), 0), &RANGE(of(space), 0),
		       sizeof(struct kunwind_range)) &&
	       DETAIL(of(child), 2).object == &objects[2] &&
	       DETAIL(of(child), 2).offset == 0x1000,
	       "fork: the child's copy keeps the other ranges, under a new id");
	/* the second range's chunk was copied */
	tap_ok(refcount_read(&objects[2].users) == (chunk_max > 2 ? 3 : 2),
	       "fork: each chunk has a reference to each object");
	tap_ok(DETAIL(of(child), 1).name == &name &&
	       refcount_read(&name.refs) == 1 + (chunk_max > 1 ? 4 : 3),
	       "fork: each chunk has a reference to each name");
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
	RANGE(of(space), 2).table = NULL;
	RANGE(of(space), 2).reason = KUNWIND_NO_OBJECT;
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
	kunwind_snapshot_settle(of(space));
	child = forked();
	tap_ok(ranges_of(child) == ranges_of(space) && kunwind_space_dirty(child) && child->borrowed &&
	       child->changed.nr == 1 && child->changed.interval[0].end == U64_MAX,
	       "fork: while an object is pending, the child has to read all mappings");
	objects[2].state = KUNWIND_OBJECT_READY;
	WRITE_ONCE(child->tgid, 101);
	told = 0;
	kunwind_space_sweep_soon();
	flush_delayed_work(&sweeper);
	tap_ok(RANGE(of(child), 2).table && RANGE(of(space), 2).table,
	       "fork: when the object is ready, parent and child have its table");
	tap_ok(told == NR && told_tgid == 100,
	       "fork: the parent announces its mappings, the child none before it has read them");
	kunwind_space_forget(&child_mm);
	child = forked();
	tap_ok(!child->borrowed && !kunwind_space_dirty(child),
	       "fork: after the parent has announced all, the child shares them");
	kunwind_space_forget(&child_mm);
	end("fork, object pending");

	/* the child of a child that has not read its mappings */
	begin();
	space->borrowed = true;
	child = forked();
	tap_ok(child->borrowed && kunwind_space_dirty(child),
	       "fork: a child of one that has not read its mappings has to read them, too");
	kunwind_space_forget(&child_mm);
	end("fork, twice");

	/* a mapping of the parent is not read yet */
	begin();
	kunwind_space_mapped(space, AT(5), AT(6), 0, true);
	child = forked();
	tap_ok(kunwind_space_dirty(child) && child->changed.nr == 1 &&
	       child->changed.interval[0].start == AT(5) && child->changed.interval[0].end == AT(6),
	       "fork: a read that is due in the parent is due in the child");
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
	space->deaths = false;
	kunwind_space_mark(space, snapshot);
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
	tap_ok(dead(space) == 15 && !RANGE(of(space), 1).dead,
	       "two mremaps: ranges between their destinations are doubted");
	tap_ok(kunwind_space_knows(space, AT(1), 1), "mremap: a doubted range is still known");
	kunwind_space_mapped(space, AT(1), AT(1) + 1, 0, true);
	tap_ok(RANGE(of(space), 1).dead && !kunwind_space_knows(space, AT(1), 1),
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

/* What update.c does when a read begins. Returns the snapshot, with a reference. */
static struct kunwind_snapshot *begin_read(void)
{
	spin_lock(&space->lock);
	space->deaths = false;
	space->reading = kunwind_snapshot_new_id();
	spin_unlock(&space->lock);
	return kunwind_space_snapshot(space);
}

static bool mark(struct kunwind_snapshot *snapshot)
{
	bool may;

	spin_lock(&space->lock);
	may = kunwind_space_mark(space, snapshot);
	spin_unlock(&space->lock);
	return may;
}

/* A mremap ends a range while the mappings are read. */
static void test_meanwhile(bool shared)
{
	const char *what = shared ? "range that dies during a read, shared" : "range that dies during a read";
	struct kunwind_snapshot *old, *snapshot;

	begin();
	if (shared)
		forked();
	kunwind_space_mapped(space, AT(0), AT(0) + 1, 0, true);
	if (shared) {
		kunwind_space_forget(&child_mm);
		forked();
	}
	old = begin_read();
	snapshot = list();
	RANGE(snapshot, 2).end = AT(2) + 0x1000;
	RANGE(snapshot, 3).start = AT(2) + 0x1000;
	if (chunk_max == 1)
		((struct kunwind_range_chunk *)snapshot->ranges.chunk)[3].start = AT(2) + 0x1000;
	kunwind_space_mapped(space, AT(2), AT(2) + 1, 0, true);
	tap_ok((ranges_of(space) != &old->ranges) == shared &&
	       kunwind_range_is_dead(&RANGE(old, 2)) == !shared,
	       "%s: %s is marked", what, shared ? "a copy of the old snapshot" : "the old snapshot");
	tap_ok(mark(snapshot), "%s: the new snapshot may be published", what);
	publish(space, snapshot);
	tap_ok(dead(space) == 12,
	       "%s: it is dead in the new snapshot; one that was dead before is not", what);
	kunwind_snapshot_put(old);

	/* the next read */
	old = begin_read();
	snapshot = list();
	tap_ok(mark(snapshot), "%s: the next one may be published, too", what);
	publish(space, snapshot);
	tap_ok(!dead(space), "%s: it is not dead in the one after that", what);
	kunwind_snapshot_put(old);

	kunwind_space_forget(&child_mm);
	if (shared)
		forked();
	old = begin_read();
	snapshot = list();
	no_room = true;
	kunwind_space_mapped(space, AT(1), AT(1) + 1, 0, true);
	no_room = false;
	tap_ok(mark(snapshot) == !shared && !ranges_of(space) == shared,
	       "%s, no memory: %s", what, shared ? "no snapshot is published" : "it needs none");
	kunwind_snapshot_destroy(snapshot);
	kunwind_snapshot_put(old);
	kunwind_space_forget(&child_mm);
	refusals = 0;
	end(what);
}

/* A mark needs memory only if another mm may have the snapshot or the chunk. */
static void test_no_memory(void)
{
	struct kunwind_snapshot *held, *later;
	struct kunwind_space *child;
	u64 id;

	begin();
	held = kunwind_space_snapshot(space);
	id = held->ranges.id;
	no_room = true;
	kunwind_space_mapped(space, AT(1), AT(1) + 1, 0, true);
	tap_ok(of(space) == held && dead(space) == 2 && held->ranges.id != id && !refusals,
	       "no memory: a range dies while a task of the process uses the snapshot");
	no_room = false;
	/* a later snapshot with the same chunks, while the first one is not freed yet */
	later = kunwind_snapshot_copy(held);
	publish(space, later);
	no_room = true;
	kunwind_space_mapped(space, AT(2), AT(2) + 1, 0, true);
	no_room = false;
	tap_ok(of(space) == later && dead(space) == 6 && !refusals,
	       "no memory: a range dies while an earlier snapshot has its chunk");
	kunwind_snapshot_put(held);
	end("no memory for a mark");

	/* a reader of the process shares a chunk after the decision to mark it in place */
	begin();
	held = of(space);
	kunwind_snapshot_chunk(held, 0)->foreign = true;
	later = kunwind_snapshot_copy(held);
	no_room = true;
	tap_ok(kunwind_snapshot_kill(held, AT(0), AT(0) + 1, 1, true) && RANGE(held, 0).dead &&
	       RANGE(later, 0).dead && !refusals,
	       "mark in place: no chunk of a published snapshot is replaced");
	no_room = false;
	kunwind_snapshot_destroy(later);
	end("mark in place");

	/* the child has gone */
	begin();
	forked();
	kunwind_space_forget(&child_mm);
	for (int i = 0; i < 10 && !llist_empty(&reaped); i++)
		flush_delayed_work(&reap_work);
	no_room = true;
	kunwind_space_mapped(space, AT(1), AT(1) + 1, 0, true);
	no_room = false;
	tap_ok(ranges_of(space) && dead(space) == 2 && !refusals,
	       "no memory: a range dies after the child that shared it has ended");
	end("no memory for a mark, child has ended");

	/* the child has a snapshot of its own, with chunks of the parent's */
	begin();
	child = forked();
	kunwind_space_mapped(child, AT(3), AT(3) + 1, 0, true);
	tap_ok(refcount_read(&of(space)->refs) == 1 && dead(child) == 8 && !dead(space),
	       "fork: after its first change, the child has another snapshot");
	kunwind_space_mapped(space, AT(0), AT(0) + 1, 0, true);
	tap_ok(dead(space) == 1 && dead(child) == 8,
	       "fork: a range that dies in the parent then is alive in the child");
	kunwind_space_mapped(child, AT(1), AT(1) + 1, 0, true);
	tap_ok(dead(space) == 1 && dead(child) == 10,
	       "fork: a range that dies in the child then is alive in the parent");
	kunwind_space_forget(&child_mm);
	end("fork, chunks shared");
}

/* The marks of a copy. */
static void test_copy_settled(void)
{
	struct kunwind_space *child;

	begin();
	child = forked();
	kunwind_space_mapped(child, AT(1), AT(1) + 1, 0, true);
	tap_ok(of(child) != of(space) && of(child)->settled && of(child)->announced &&
	       kunwind_snapshot_chunk(of(child), 0)->settled &&
	       kunwind_snapshot_chunk(of(child), of(child)->ranges.nr - 1)->settled,
	       "fork: the copy of a settled snapshot is settled, with all its chunks");
	tap_ok(!unsettled(), "fork: nobody waits for the copy");
	kunwind_space_forget(&child_mm);
	end("fork, settled copy");

	/* two snapshots with the same chunks; the object of a chunk becomes ready */
	begin();
	objects[2].state = KUNWIND_OBJECT_PENDING;
	publish(space, list());
	kunwind_snapshot_settle(of(space));
	child = forked();
	kunwind_space_mapped(child, AT(0), AT(0) + 1, 0, true);
	tap_ok(of(child) != of(space) && !of(child)->settled,
	       "fork: the copy of a snapshot that is not settled is not settled");
	flush_delayed_work(&sweeper);
	objects[2].state = KUNWIND_OBJECT_READY;
	/* as another snapshot's, between this one's look and its announcement */
	kunwind_snapshot_settle(of(child));
	of(child)->settled = false;
	kunwind_snapshot_announce(of(child), 101, NULL);
	tap_ok(of(child)->announced && of(child)->settled,
	       "chunks that were settled as another snapshot's: a snapshot that is announced is settled");
	kunwind_space_forget(&child_mm);
	end("settled as another snapshot's");
}

/* A child whose snapshot is borrowed reads its mappings while its ranges are announced. */
static struct kunwind_space *borrower;
static void stops_borrowing(void)
{
	borrower->borrowed = false;
}

static void test_borrowed(void)
{
	begin();
	objects[2].state = KUNWIND_OBJECT_PENDING;
	publish(space, list());
	kunwind_snapshot_settle(of(space));
	borrower = forked();
	WRITE_ONCE(borrower->tgid, 101);
	objects[2].table = NULL;
	objects[2].state = KUNWIND_OBJECT_NO_CFI;
	told = 0;
	while_settling = stops_borrowing;
	kunwind_space_announce(borrower);
	tap_ok(!while_settling && !told,
	       "borrowed snapshot: not announced, also if the child reads its mappings meanwhile");
	kunwind_space_announce(space);
	tap_ok(told == NR && told_tgid == 100, "borrowed snapshot: the parent announces all of it");
	kunwind_space_forget(&child_mm);
	end("borrowed snapshot");
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
	snapshot = of(space);
	kunwind_snapshot_settle(snapshot);
	told = 0;
	kunwind_space_announce(space);
	kunwind_space_sweep_soon();
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
/* The addresses that have to be read again. */
static void test_changed(void)
{
	struct kunwind_changed changed = { 0 };
	u32 i;

	for (i = 1; i <= KUNWIND_CHANGED_MAX; i++)
		kunwind_changed_add(&changed, 0x10000 * i, 0x10000 * i + 0x1000);
	kunwind_changed_add(&changed, 0x10000, 0x10000);
	tap_ok(changed.nr == KUNWIND_CHANGED_MAX, "changed: %u intervals are kept apart", changed.nr);
	kunwind_changed_add(&changed, 0x21000, 0x22000);
	tap_ok(changed.nr == 1 && changed.interval[0].start == 0x10000 &&
	       changed.interval[0].end == 0x10000 * KUNWIND_CHANGED_MAX + 0x1000,
	       "changed: at one more, an interval from the first to the end of the last is left");
	kunwind_changed_add(&changed, 0x1000, 0x2000);
	kunwind_changed_add(&changed, 0x2000, 0x3000);
	tap_ok(changed.nr == 2 && changed.interval[1].start == 0x1000 && changed.interval[1].end == 0x3000,
	       "changed: intervals that touch are one");
}

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
	/* in one chunk, in two, and in one for each range */
	for (chunk_max = NR; chunk_max; chunk_max /= 2) {
		test_behind();
		test_mapped();
		test_fork();
		test_moves();
		test_meanwhile(false);
		test_meanwhile(true);
		test_no_memory();
		test_copy_settled();
		test_borrowed();
	}
	chunk_max = NR;
	test_changed();
	test_links();
	test_names_of_links();
	test_exit();
	return tap_done();
}

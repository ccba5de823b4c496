/* SPDX-License-Identifier: MIT */
/*
 * partial-read-test.c - after a change, only the mappings that changed are read;
 * the snapshot is the one that a read of all mappings would give
 *
 * The process is an array of pages. Random calls map, protect and move them, and
 * hand in JIT code. Neighbours merge, as in the kernel. After each call, the
 * hooks report it and the task reads what changed. Then a read of all mappings
 * must find nothing else.
 */
#include "pages-scene.h"

/* Finds @nr pages that are not mapped. Returns the first one, or PAGES. */
static u32 free_pages(u32 nr)
{
	u32 i, n = 0, from = any(PAGES);

	for (i = 0; i < PAGES; i++) {
		if (from + i == PAGES)
			n = 0;
		n = pages[(from + i) % PAGES].mapped ? 0 : n + 1;
		if (n == nr)
			return (from + i) % PAGES + 1 - nr;
	}
	return PAGES;
}

static void any_call(void)
{
	const u32 nr = 1 + any(8), first = any(PAGES - 8), free = free_pages(nr);
	u32 to = any(PAGES - 8), i;

	switch (any(7)) {
	case 0:
	case 1:
		set(first, nr, any(4), any_file(), any(100));
		call_at(first, nr);
		break;
	case 2:
		if (free == PAGES)
			break;
		set(free, nr, true, any_file(), any(100));
		call_anywhere(free, nr);
		break;
	case 3:
		for (i = first; i < first + nr; i++)
			if (!pages[i].mapped)
				return;
		for (i = first; i < first + nr; i++)
			pages[i].exec = !pages[first].exec;
		pages[first].exec = pages[first + nr - 1].exec;
		set_vmas();
		call_at(first, nr);
		break;
	case 4:
		if (to + nr <= first || first + nr <= to)
			move_pages(first, to, nr);
		break;
	case 5:
		change(PAGE(first) + 16 * any(64), 16 + any(nr * PAGE_SIZE), &jits[any(3)]);
		break;
	case 6:
		if (of(space) && of(space)->nr) {
			i = any(of(space)->nr);
			change(range(i)->start, range(i)->end - range(i)->start, NULL);
		}
		break;
	}
}

static void test_equal(void)
{
	bool equal = true, sound = true;
	u32 i, round, most = 0;

	begin();
	mm.context.vdso = NULL;
	forget_process();
	seed = 1;
	set(0, 1, true, &files[0], 0);
	reads(false);
	for (round = 0; round < 60 && equal && sound; round++) {
		for (i = 0; i < 60 && sound; i++) {
			any_call();
			reads(false);
			sound = is_sound();
			most = max(most, of(space)->ranges.nr);
		}
		equal = is_whole();
		kunwind_reap_flush();
	}
	tap_ok(equal, "random calls: a read of all mappings finds what the partial reads found (round %u)",
	       round);
	tap_ok(sound, "random calls: each snapshot is sorted, and its counts are right");
	tap_ok(most > 3, "random calls: there were snapshots of several chunks");
	forget_process();
	end("random calls");
}

static unsigned int cost_of_map(u32 nr)
{
	fill(nr);
	/* in the middle, a page of other code */
	set(nr | 1, 1, true, &files[1], 0);
	call_at(nr | 1, 1);
	seen = 0;
	offered = 0;
	reads(false);
	return seen + offered;
}

static void test_cost(void)
{
	const struct kunwind_chunk *first, *last;
	unsigned int few, many;
	u32 nr;

	few = cost_of_map(10);
	forget_process();
	end("one mapping of few");
	many = cost_of_map(700);
	tap_ok(few == many && few < 6,
	       "one more mapping: %u are looked at if there are 10, %u if there are 700", few, many);
	first = kunwind_snapshot_chunk(of(space), 0);
	nr = of(space)->ranges.nr;
	last = kunwind_snapshot_chunk(of(space), nr - 1);
	set(699, 1, true, &files[2], 3);
	call_at(699, 1);
	reads(false);
	tap_ok(nr > 4 && kunwind_snapshot_chunk(of(space), 0) == first &&
	       kunwind_snapshot_chunk(of(space), of(space)->ranges.nr - 1) == last,
	       "one more mapping: the other chunks are shared");
	tap_ok(refcount_read((refcount_t *)&first->refs) >= 2,
	       "a shared chunk has a reference of each snapshot");
	forget_process();
	end("one mapping of many");
}

/* munmap() is not reported: the ranges go with a later read of all mappings. */
static void test_unmapped(void)
{
	u32 i, nr, reads_until;

	fill(700);
	for (i = 0; i < 600; i++)
		pages[2 * i].mapped = false;
	set_vmas();
	for (i = 0; i < 1000; i++) {
		set(1499, 1, true, &files[1], i);
		call_at(1499, 1);
		reads(false);
		if (of(space)->nr < 700)
			break;
	}
	reads_until = i;
	nr = of(space)->nr;
	tap_ok(reads_until > 100 && reads_until < 700 / 4 + 2 && nr == 101,
	       "munmap: ranges are forgotten after %u reads, a quarter of their number", reads_until);
	for (i = 0; i < 90; i++)
		pages[1200 + 2 * i].mapped = false;
	set_vmas();
	for (i = 0; i < 1000 && of(space)->nr == nr; i++) {
		set(1499, 1, true, &files[1], i + 7);
		call_at(1499, 1);
		reads(false);
	}
	tap_ok(i > 16 && i < 30, "munmap: the reads are counted anew after a read of all mappings (%u)", i);
	forget_process();
	end("munmap");
}

/* A failed build is repeated at the next read, wherever the mapping is. */
static void test_retry(void)
{
	fill(300);
	set(1001, 1, true, &files[3], 0);
	files[3].object = &stale_object;
	refcount_set(&stale_object.users, 1);
	stale_object.key.ino = objects[3].key.ino;
	stale_object.state = KUNWIND_OBJECT_FAILED;
	call_at(1001, 1);
	reads(false);
	files[3].object = &objects[3];
	set(3, 1, true, &files[1], 9);
	call_at(3, 1);
	jiffies++;
	reads(false);
	tap_ok(kunwind_snapshot_at(of(space), kunwind_snapshot_after(of(space), PAGE(1001)), NULL) &&
	       refcount_read(&stale_object.users) <= 2 && refcount_read(&objects[3].users) == 2,
	       "failed build: repeated when another mapping changes");
	forget_process();
	end("failed build");
}

/* A read that fails leaves the change to the next one. */
static void test_failure(void)
{
	unsigned int i, failed = 0;
	bool good = true;
	int err;

	fill(300);
	set(3, 1, true, &files[1], 0);
	call_at(3, 1);
	no_memory = 2;		/* the first is the name */
	tap_ok(reads(false) == -ENOMEM && kunwind_space_dirty(space),
	       "no memory: the read fails, and is still due");
	no_memory = 0;
	no_room = 2;		/* the first is the name */
	tap_ok(reads(false) == -ENOMEM && kunwind_space_dirty(space),
	       "over the share: the read fails, and is still due");
	no_room = 0;
	tap_ok(!reads(false) && is(1, PAGE(2), PAGE_SIZE, &objects[0], 999 * PAGE_SIZE) &&
	       is(2, PAGE(3), PAGE_SIZE, &objects[1], 0) && is_whole(),
	       "no memory: the next read finds the change");
	for (i = 1; good; i++) {
		set(3, 1, true, &files[1], i);
		call_at(3, 1);
		no_memory_at = i;
		err = reads(false);
		if (no_memory_at)
			break;
		failed += err == -ENOMEM;
		good = err == -ENOMEM ? kunwind_space_dirty(space) : !err;
	}
	no_memory_at = 0;
	tap_ok(good && failed >= 4 && !kunwind_space_dirty(space) &&
	       is(2, PAGE(3), PAGE_SIZE, &objects[1], i * PAGE_SIZE) && is_whole(),
	       "no memory for one of %u allocations: the read fails, or finds the change", i - 1);
	forget_process();
	end("no memory");
}

/* An interval beyond all addresses, or none, and then code over the seam of two chunks. */
static void test_seam(void)
{
	const struct kunwind_changed *changed = &space->changed;
	struct kunwind_snapshot *snapshot;
	unsigned int i;
	bool sound = true;
	u64 seam;
	u32 at;

	fill(500);
	tap_ok(of(space)->ranges.nr > 3, "seam: there are more than three chunks");
	changed = &space->changed;
	kunwind_space_changed(space, PAGE(700), PAGE(3));
	kunwind_space_changed(space, PAGE(700), PAGE(700));
	kunwind_space_changed(space, PAGE(700), 0);
	tap_ok(!changed->nr, "an interval that ends before it begins is not read");
	reads(false);
	sound &= is_sound();
	kunwind_space_changed(space, PAGE(700), U64_MAX);
	reads(false);
	tap_ok(is_sound() && sound && of(space)->nr == 500,
	       "mremap from an address to the end of all: the snapshot is as before");
	for (i = 1; i < of(space)->ranges.nr; i++) {
		snapshot = of(space);
		seam = snapshot->ranges.chunk[i].start;
		at = (seam - PAGE(0)) / PAGE_SIZE;
		set(at - 2, 4, true, &files[1], 7 * i);
		call_at(at - 2, 4);
		reads(false);
		sound &= is_sound();
	}
	tap_ok(sound && is_whole(), "code over the seam of two chunks: the snapshot is right");
	forget_process();
	end("seam");
}

/*
 * Code of two files with names; charge number @fails of the first read fails. The
 * first and the third are the names, without which the ranges can do.
 */
static void test_names(void)
{
	bool failed = true, good = true;
	u32 i, fails;

	for (fails = 1; fails <= 7; fails++) {
		begin();
		mm.context.vdso = NULL;
		memset(pages, 0, sizeof(pages));
		for (i = 0; i < 400; i++)
			pages[2 * i] = (struct page){ true, true, &files[i % 130 / 129], 1000 - i };
		set_vmas();
		no_room = fails;
		failed &= (reads(false) == -ENOMEM || fails == 1 || fails == 3);
		no_room = 0;
		good &= !reads(true) && of(space)->nr == 400;
		for (i = 0; i < 400 && good; i++)
			good &= detail(i)->name == detail(i % 130 == 129 ? 129 : 0)->name;
		forget_process();
		end("a read that fails");
	}
	tap_ok(failed, "over the share in a chunk: the read fails");
	tap_ok(good, "over the share in a chunk: the next read finds all mappings and their names");
}

/* Snapshots that nobody needs are freed after mmap_lock was released. */
static void test_freed(void)
{
	u32 i;

	fill(600);
	for (i = 0; i < 3; i++) {
		set(300 * i + 1, 1, true, &files[1], i);
		call_at(300 * i + 1, 1);
	}
	freed_locked = 0;
	reads(false);
	tap_ok(of(space)->nr == 603 && is_whole(), "three changes at once: all are read");
	tap_ok(!freed_locked, "three changes at once: nothing is freed while mmap_lock is held");
	forget_process();
	end("three changes");
}

/* A table is given up after the mapping was read. */
static void test_retired(void)
{
	fill(300);
	objects[3].table = (struct kunwind_table *)&objects[3];
	files[3].object = &objects[3];
	set(1001, 1, true, &files[3], 0);
	call_at(1001, 1);
	reads(false);
	/* From now on, "stale" is what a lookup does not find. */
	objects[3].state = KUNWIND_OBJECT_FAILED;
	also_stale = &objects[3];
	files[3].object = &objects[2];
	objects[2].key.ino = objects[3].key.ino;
	forget_rules();
	flush_delayed_work(&sweeper);
	jiffies++;
	set(3, 1, true, &files[1], 9);
	call_at(3, 1);
	reads(false);
	kunwind_reap_flush();
	tap_ok(refcount_read(&objects[3].users) == 1 && refcount_read(&objects[2].users) == 2,
	       "table that is given up: its build is repeated when another mapping changes");
	also_stale = NULL;
	forget_process();
	end("table that is given up");
}

/* A forked child that borrowed its parent's snapshot. */
static void test_borrowed(void)
{
	static struct mm_struct child_mm;
	struct kunwind_space *child;

	fill(5);
	set(21, 1, true, &files[1], 0);
	objects[1].state = KUNWIND_OBJECT_PENDING;
	call_at(21, 1);
	reads(false);
	under_mmap_lock(&mm, kunwind_space_dup(&mm, &child_mm));
	child = kunwind_space_link(&child_mm, 101, true, false, GFP_KERNEL);
	objects[1].state = KUNWIND_OBJECT_READY;
	told = 0;
	me.mm = &child_mm;
	child_mm.users = 1;
	kunwind_space_read_mappings(child, &child_mm, false, 0, false);
	tap_ok(told == 6 && !child->borrowed && child->ranges != space->ranges && !kunwind_space_dirty(child),
	       "fork while an object is pending: the child announces all of its mappings");
	me.mm = &mm;
	told = 0;
	reads(true);
	tap_ok(told == 1, "fork while an object is pending: the parent announces what it had not announced");
	kunwind_space_unlink(child, 101, true);
	forget_process();
	end("fork while an object is pending");
}

int main(void)
{
	kunwind_space_init();
	test_equal();
	test_cost();
	test_unmapped();
	test_retry();
	test_retired();
	test_failure();
	test_seam();
	test_names();
	test_freed();
	test_borrowed();
	return tap_done();
}

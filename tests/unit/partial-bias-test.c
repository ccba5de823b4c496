/* SPDX-License-Identifier: MIT */
/*
 * partial-bias-test.c - after a change, the biases of ranges are those that a read of
 * all mappings would give, also where the ranges around them decide
 *
 * In the file "split", two segments share a page: page 1. A mapping that has page 1
 * does not say which segment it is of; those of page 0, or of pages 2 and 3
 * alone, do. The pages of segment 2 are SECOND pages higher in the address space.
 */
#include "pages-scene.h"

#define split		(&files[3])
#define SECOND		20	/* from page 1 of a load to its page 1 as part of segment 2 */
#define LOADS		8
#define VADDR		5	/* of segment 1, pages */
#define BIAS(load)	PAGE((load) - VADDR)
#define LOAD(n)		(30 + 150 * (n))	/* the page where a load of the file begins */

static void split_file(void)
{
	objects[3].elf = (struct kunwind_elf){ .nr_loads = 2, .load = {
		{ .vaddr = VADDR * PAGE_SIZE, .filesz = 0x1800, .flags = 1 },
		{ .offset = 0x1800, .vaddr = 0x1800 + (VADDR + SECOND) * PAGE_SIZE, .filesz = 0x2000,
		  .flags = 1 },
	} };
}

/* ------------------------------------------------------------------ oracle */

/* Narrows what @n may have by @by, if both are of one file. */
static void narrow(struct kunwind_elf_biases *biases, u32 n, u32 by)
{
	if (detail(by)->object == detail(n)->object)
		kunwind_elf_biases_narrow(&detail(n)->object->elf, biases, range(by)->start,
					  range(by)->end - range(by)->start, detail(by)->offset);
}

/* Returns whether range @n has the bias that the ranges around it give it. */
static bool is_biased(u32 n)
{
	const struct kunwind_detail *of_n = detail(n);
	struct kunwind_elf_biases biases;
	u32 i;

	if (!of_n->object->has_elf)
		return true;
	kunwind_elf_biases(&of_n->object->elf, range(n)->start, range(n)->end - range(n)->start,
			   of_n->offset, &biases);
	for (i = n > 16 ? n - 16 : 0; i <= n + 16 && i < of(space)->nr && biases.nr > 1; i++)
		if (i != n)
			narrow(&biases, n, i);
	if (of_n->object->state != KUNWIND_OBJECT_READY)
		return !range(n)->table;
	return biases.nr == 1 ? range(n)->table && range(n)->bias == biases.bias[0] :
				!range(n)->table && range(n)->reason != KUNWIND_NOT_READY;
}

/* Only the split file's, because the oracle takes long. */
static bool all_biased(u32 *decided)
{
	const struct kunwind_range *one;
	struct kunwind_detail *of_one;
	struct kunwind_place place = { };
	bool good = true;
	u32 n = 0;

	for (; (one = kunwind_snapshot_at(of(space), place, &of_one)) && good; n++) {
		if (of_one->object == &objects[3]) {
			good = is_biased(n);
			*decided += one->table && kunwind_range_needs_others(one, of_one);
		}
		kunwind_place_next(of(space), &place);
	}
	return good;
}

/* ------------------------------------------------------------------- tests */

/* Maps, replaces or moves a part of a load of the file, or code between its segments. */
static void any_call(void)
{
	static const struct { u32 page, pgoff, nr; } parts[] = {
		{ 0, 0, 1 }, { 0, 0, 2 }, { 1, 1, 1 },
		{ SECOND + 1, 1, 3 }, { SECOND + 1, 1, 1 }, { SECOND + 2, 2, 2 }, { SECOND + 3, 3, 1 },
	};
	const u32 load = LOAD(any(LOADS)), part = any(7), page = load + parts[part].page;
	u32 i;

	switch (any(6)) {
	case 0:
	case 1:
		set(page, parts[part].nr, true, split, parts[part].pgoff);
		call_at(page, parts[part].nr);
		break;
	case 2:
		set(page, parts[part].nr, any(2), &files[1], any(100));
		call_at(page, parts[part].nr);
		break;
	case 3:
	case 4:
		i = load + 2 + any(SECOND - 1);
		set(i, 1, any(4), &files[any(2)], 2 * i);
		call_at(i, 1);
		break;
	case 5:
		if (pages[page].mapped)
			move_pages(page, LOAD(any(LOADS)) + parts[any(7)].page, 1 + any(parts[part].nr));
		break;
	}
}

static void scene(void)
{
	u32 i;

	begin();
	mm.context.vdso = NULL;
	split_file();
	memset(pages, 0, sizeof(pages));
	for (i = 0; i < PAGES / 2; i++)
		pages[2 * i] = (struct page){ true, true, &files[0], 1000 - i };
	set_vmas();
	reads(false);
}

static void test_random(void)
{
	u32 i, decided = 0;
	bool good = true;

	seed = 3;
	scene();
	for (i = 0; i < 4000 && good; i++) {
		any_call();
		if (any(3))
			continue;	/* the next read finds several changes */
		reads(false);
		good = all_biased(&decided);
		kunwind_reap_flush();
	}
	tap_ok(good, "random calls: each range has the bias that the ranges around it give it (call %u)", i);
	tap_ok(decided > 1000, "random calls: the ranges around %u ranges decided", decided);
	forget_process();
	end("random calls");
}

/*
 * Makes a process in which the first chunk ends with page 1 of the split file, as
 * part of segment 1. @state: of the file. Returns that page.
 */
static u32 at_a_seam(u32 state)
{
	const u32 page = 2 * KUNWIND_CHUNK_MAX - 2;

	scene();
	objects[3].state = state;
	objects[3].has_elf = state == KUNWIND_OBJECT_READY;
	set(page, 1, true, split, 1);
	call_at(page, 1);
	reads(true);
	reads(false);
	return page;
}

static struct kunwind_range *range_of(struct kunwind_space *by, u32 page)
{
	return kunwind_snapshot_at(of(by), kunwind_snapshot_after(of(by), PAGE(page)), NULL);
}

/* Returns whether the range at the page has the bias of the load that begins a page before. */
static bool decided(struct kunwind_space *by, u32 page)
{
	return range_of(by, page)->table && range_of(by, page)->bias == BIAS(page - 1);
}

static bool undecided(struct kunwind_space *by, u32 page)
{
	return !range_of(by, page)->table && range_of(by, page)->reason != KUNWIND_NOT_READY;
}

static void test_seam(void)
{
	const u32 page = at_a_seam(KUNWIND_OBJECT_READY), second = page + SECOND + 1;
	struct kunwind_chunk *chunk;
	bool at_end;

	chunk = kunwind_snapshot_chunk(of(space), 0);
	at_end = chunk->range[chunk->nr - 1].start == PAGE(page);
	tap_ok(at_end && undecided(space, page), "seam: alone, it has no table");
	told = 0;
	set(second, 2, true, split, 2);
	call_at(second, 2);
	reads(false);
	tap_ok(decided(space, page) && range_of(space, second)->table &&
	       range_of(space, second)->bias == BIAS(page - 1),
	       "seam: a new range in the next chunk decides");
	tap_ok(told == 2 && told_bias == BIAS(page - 1), "seam: its new bias is announced, once");
	reads(true);
	tap_ok(told == 2 && decided(space, page), "seam: a read of all changes and announces nothing");
	set(second, 2, false, &files[1], 5);
	call_at(second, 2);
	reads(false);
	tap_ok(undecided(space, page), "seam: when the other one is replaced, it has no table");
	set(second, 2, true, split, 2);
	call_at(second, 2);
	reads(false);
	tap_ok(decided(space, page), "seam: when the other one is back, it has a table");
	move_pages(second, PAGES - 10, 2);
	reads(false);
	tap_ok(undecided(space, page), "seam: when the other one moves away, it has no table");
	forget_process();
	end("seam");
}

/*
 * The file is done only after the second of its mappings was read. The old snapshot
 * is settled first.
 */
static void test_pending(void)
{
	const u32 page = at_a_seam(KUNWIND_OBJECT_PENDING), second = page + SECOND + 1;
	struct kunwind_snapshot *before;
	const struct kunwind_range *was;
	bool pending;

	before = kunwind_space_snapshot(space);
	set(second, 2, true, split, 2);
	call_at(second, 2);
	reads(false);
	pending = range_of(space, page)->reason == KUNWIND_NOT_READY;
	objects[3].has_elf = true;
	objects[3].state = KUNWIND_OBJECT_READY;
	kunwind_snapshot_settle(before);
	kunwind_snapshot_settle(of(space));
	was = kunwind_snapshot_at(before, kunwind_snapshot_after(before, PAGE(page)), NULL);
	tap_ok(pending && decided(space, page),
	       "file that is pending: the range that came meanwhile decides");
	tap_ok(!was->table && was->reason != KUNWIND_NOT_READY,
	       "file that is pending: it does not in the snapshot before it came");
	kunwind_snapshot_put(before);
	forget_process();
	end("file that is pending");
}

/* A forked child keeps its own neighbours. */
static void test_fork(void)
{
	static struct mm_struct child_mm;
	const u32 page = at_a_seam(KUNWIND_OBJECT_READY), second = page + SECOND + 1;
	struct kunwind_space *child;

	set(second, 2, true, split, 2);
	call_at(second, 2);
	reads(false);
	under_mmap_lock(&mm, kunwind_space_dup(&mm, &child_mm));
	child = kunwind_space_link(&child_mm, 101, true, false, GFP_KERNEL);
	set(second, 2, false, &files[1], 5);
	call_at(second, 2);
	reads(false);
	tap_ok(undecided(space, page) && decided(child, page),
	       "fork: a change in the parent does not change a bias in the child");
	set(second, 2, true, split, 2);
	call_at(second, 2);
	reads(false);
	tap_ok(decided(space, page) && decided(child, page), "fork: nor does the next one");
	kunwind_space_unlink(child, 101, true);
	forget_process();
	end("fork");
}

/* A neighbour that needs no others is not copied. @filesz: of the segment of the neighbours' file */
static void test_shared(u64 filesz)
{
	struct kunwind_chunk *first, *second;
	u32 page;

	scene();
	objects[0].elf.load[0].filesz = filesz;
	reads(true);
	first = kunwind_snapshot_chunk(of(space), 0);
	second = kunwind_snapshot_chunk(of(space), 1);
	page = (second->range[0].start - PAGE(0)) / PAGE_SIZE;
	set(page - 1, 1, true, &files[1], 7);
	call_at(page - 1, 1);
	reads(false);
	tap_ok(kunwind_snapshot_chunk(of(space), 0) == first && range_of(space, page - 1)->table &&
	       kunwind_snapshot_chunk(of(space), 2) == second,
	       "shared: chunks on both sides of a new range are shared if they do not need it");
	forget_process();
	end("shared");
}

/* Two segments share a page of the file: the mapping of one decides about the other. */
static void test_siblings(void)
{
	bool alone;

	fill(5);
	split_file();
	told = 0;
	set(101, 2, true, split, 0);
	call_at(101, 2);
	reads(false);
	alone = !range(5)->table && range(5)->reason != KUNWIND_NOT_READY && told == 1;
	set(102 + SECOND, 2, true, split, 1);
	call_at(102 + SECOND, 2);
	reads(false);
	tap_ok(alone && range(5)->table && range(5)->bias == BIAS(101) && range(6)->table &&
	       range(6)->bias == BIAS(101),
	       "segments that share a page: a mapping that comes later decides about both");
	tap_ok(told == 3, "segments that share a page: the new bias is announced");
	set(7, 1, true, &files[1], 0);
	call_at(7, 1);
	told = 0;
	reads(false);
	tap_ok(told == 1, "segments that share a page: biases that stay are not announced again");
	forget_process();
	end("segments that share a page");
}

int main(void)
{
	kunwind_space_init();
	test_random();
	test_seam();
	test_pending();
	test_fork();
	test_shared(1UL << 40);
	test_shared(1);	/* they are of no segment */
	test_siblings();
	return tap_done();
}

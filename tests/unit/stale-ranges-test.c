/* SPDX-License-Identifier: MIT */
/*
 * stale-ranges-test.c - ranges that munmap(), which no hook sees, left behind: they
 * take no room from others, and no table outlives the code for which it was handed in
 */
#include "pages-scene.h"

/* Ranges that munmap() left behind do not keep others out. */
static void test_room(void)
{
	u32 i;

	fill(10);
	max_ranges = 10;
	for (i = 0; i < 5; i++)
		pages[2 * i].mapped = false;
	set(101, 1, true, &files[1], 0);
	call_at(101, 1);
	reads(false);
	tap_ok(of(space)->nr == 6 && !of(space)->full && is(5, PAGE(101), PAGE_SIZE, &objects[1], 0),
	       "max_ranges: ranges that munmap() left behind take no room from others");
	/* with JIT code */
	for (i = 0; i < 4; i++)
		set(201 + 2 * i, 1, true, NULL, 0);
	call_at(201, 7);
	reads(false);
	for (i = 5; i < 10; i++)
		pages[2 * i].mapped = false;
	set_vmas();
	tap_ok(of(space)->nr == 10 && !change(PAGE(201) + 64, 64, &jits[0]) && of(space)->nr == 7,
	       "max_ranges: nor from JIT code");
	forget_process();
	end("max_ranges");

	/* more than max_ranges, and then fewer */
	fill(600);
	max_ranges = 610;
	for (i = 0; i < 20; i++)
		set(1301 + 2 * i, 1, true, &files[1], 5 * i);
	call_at(1301, 40);
	reads(false);
	tap_ok(of(space)->nr == 610 && of(space)->full, "max_ranges: there are more");
	seen = 0;
	set(1401, 1, true, &files[1], 50);
	call_at(1401, 1);
	reads(false);
	tap_ok(seen < 8, "max_ranges: a process with more does not read all of them each time (%u)", seen);
	for (i = 0; i < 20; i++)
		pages[1301 + 2 * i].mapped = false;
	for (i = 0; i < 40 && of(space)->full; i++) {
		set(1401, 1, true, &files[1], 60 + i);
		call_at(1401, 1);
		reads(false);
	}
	tap_ok(i > 0 && i <= 16 && of(space)->nr == 601 &&
	       is(600, PAGE(1401), PAGE_SIZE, &objects[1], (59 + i) * PAGE_SIZE),
	       "max_ranges: a process that had more finds its mappings after %u changes", i);
	forget_process();
	end("more than max_ranges");
}

/* A table that was handed in does not outlive its code, whose munmap() was not seen. */
static void test_stale_jit(void)
{
	/* data that merges with data */
	fill(2);
	set(101, 1, true, NULL, 0);
	call_at(101, 1);
	change(PAGE(101), PAGE_SIZE, &jits[0]);
	set(102, 1, false, NULL, 0);
	pages[101].mapped = false;
	set(101, 1, false, NULL, 0);
	call_anywhere(101, 1);
	tap_ok(!kunwind_space_knows(space, PAGE(101), PAGE_SIZE),
	       "munmap of JIT code, data in its place that merges: the table is not used");
	reads(false);
	tap_ok(is_whole(), "munmap of JIT code, data in its place that merges: it is not known any more");
	forget_process();
	end("data in the place of JIT code");

	/* code, where a part of the neighbour was data for a while */
	fill(2);
	set(101, 3, true, NULL, 0);
	call_at(101, 3);
	change(PAGE(103), PAGE_SIZE, &jits[0]);
	pages[101].exec = false;
	set_vmas();
	kunwind_space_mapped(space, PAGE(101), PAGE(102), 0, false);
	tap_ok(!kunwind_space_dirty(space), "JIT code becomes data: no read is due");
	pages[103].mapped = false;
	set(103, 1, true, NULL, 0);
	call_anywhere(103, 1);
	tap_ok(!kunwind_space_knows(space, PAGE(103), PAGE_SIZE),
	       "munmap of JIT code, code in its place that merges with JIT code: the table is not used");
	reads(false);
	tap_ok(usable(2) && range(2)->start == PAGE(102) && range(2)->end == PAGE(104),
	       "code that merges with JIT code, a part of which is data now: it is known");
	tap_ok(of(space)->nr == 3 && is_whole(), "a read drops dead ranges that it was not due for");
	forget_process();
	end("code in the place of JIT code");

	/* code, where more than max_ranges are mapped */
	fill(2);
	max_ranges = 4;
	set(101, 1, true, NULL, 0);
	set(103, 1, true, NULL, 0);
	call_at(101, 3);
	change(PAGE(103), PAGE_SIZE, &jits[0]);
	set(104, 1, true, &files[2], 3);
	call_at(104, 1);
	reads(false);
	pages[103].mapped = false;
	set(103, 1, true, &files[2], 2);
	call_anywhere(103, 1);
	tap_ok(!kunwind_space_knows(space, PAGE(103), PAGE_SIZE),
	       "munmap of JIT code, code in its place that merges with unknown code: the table is not used");
	forget_process();
	end("code that merges with unknown code");
}

/*
 * What walks may use at each page: no table that was handed in before the page was
 * mapped or protected anew, no other file's object; and all code is known.
 */
static u32 handed_in_at[PAGES];		/* value of "now" then; 0: nothing */
static u32 changed_at[PAGES], now;

static bool is_honest(void)
{
	struct kunwind_detail *one;
	const struct kunwind_range *at;
	u32 i;

	for (i = 0; i < PAGES; i++) {
		if (!pages[i].mapped || !pages[i].exec)
			continue;
		at = kunwind_snapshot_at(of(space), kunwind_snapshot_after(of(space), PAGE(i)), &one);
		if (!at || at->start > PAGE(i) || !kunwind_range_is_usable(space->ranges, at)) {
			/* What is left of memory of no file is read later. */
			if (!space->changed.nr)
				return false;
			continue;
		}
		if (one->object->jit ? handed_in_at[i] < changed_at[i] :
		    one->object != (pages[i].file ? pages[i].file->object : &kunwind_object_anonymous))
			return false;
		if (pages[i].file && one->offset + PAGE(i) - at->start != pages[i].pgoff << PAGE_SHIFT)
			return false;
	}
	return true;
}

/* Calls as above, of whole pages, among munmap(), which nobody reports. */
static bool honest_call(void)
{
	const u32 nr = 1 + any(4), what = any(8);
	u32 first = any(120), i;

	now++;
	switch (what) {
	case 0:
	case 1:
	case 2:
		for (i = first; i < first + nr; i++)
			pages[i].mapped = false;
		set_vmas();
		return true;
	case 3:
	case 4:
		/* where the kernel may choose */
		for (i = first; i < first + nr; i++)
			if (pages[i].mapped)
				return true;
		fallthrough;
	case 5:
		set(first, nr, any(4), any(4) ? NULL : &files[any(3)], first);
		break;
	case 6:
		for (i = first; i < first + nr; i++)
			if (!pages[i].mapped)
				return true;
		set(first, nr, !pages[first].exec, pages[first].file, pages[first].pgoff);
		break;
	default:
		for (i = first; i < first + nr; i++)
			if (!pages[i].mapped || !pages[i].exec || pages[i].file)
				return true;
		if (!change(PAGE(first), nr * PAGE_SIZE, &jits[any(3)]))
			for (i = first; i < first + nr; i++)
				handed_in_at[i] = now;
		return is_sound();
	}
	for (i = first; i < first + nr; i++)
		changed_at[i] = now;
	if (what < 5)
		call_anywhere(first, nr);
	else
		kunwind_space_mapped(space, PAGE(first), PAGE(first + nr), 0, pages[first].exec);
	if (kunwind_space_dirty(space))
		reads(false);
	return is_sound();
}

static void test_honest(void)
{
	bool sound = true, honest = true;
	u32 i;

	begin();
	mm.context.vdso = NULL;
	forget_process();
	memset(changed_at, 0, sizeof(changed_at));
	memset(handed_in_at, 0, sizeof(handed_in_at));
	seed = 7;
	now = 0;
	set(0, 1, true, &files[0], 0);
	reads(false);
	for (i = 0; i < 6000 && sound && honest; i++) {
		sound = honest_call();
		honest = is_honest();
		if (i % 50 == 0)
			kunwind_reap_flush();
	}
	tap_ok(sound, "random calls and munmap(): each snapshot is sorted, and its counts are right");
	tap_ok(honest, "random calls and munmap(): walks find all code, and no table of other code (%u)", i);
	forget_process();
	end("random calls and munmap()");
}

int main(void)
{
	kunwind_space_init();
	test_room();
	test_stale_jit();
	test_honest();
	return tap_done();
}

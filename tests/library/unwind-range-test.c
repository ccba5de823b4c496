/* SPDX-License-Identifier: MIT */
/*
 * unwind-range-test.c - which mapping holds an address, and what a walk does about one that
 * dlclose() may have unmapped
 *
 * What libc has loaded is the test's answer.
 */
#include "../../libkunwind/unwind/range_find.c"
#include "../unit/tap.h"

#define PAGE	4096ULL

static bool same;			/* answer of unwind_loaded_same() */
static u32 asked, late_asked;
static const struct kunwind_range *late_range;

bool unwind_loaded_same(const struct unwind_loaded *loaded)
{
	asked++;
	return loaded->at && same;
}

const struct kunwind_range *unwind_late_find(struct unwind_snapshot *snapshot, u64 addr)
{
	(void)snapshot, (void)addr;
	late_asked++;
	return late_range;
}

static struct unwind_snapshot *snapshot;
static struct kunwind_unwinder *unwinder;

/* Range n is [16 n + 16, 16 n + 20) pages. */
static u64 start_of(u32 n)
{
	return (16 * (u64)n + 16) * PAGE;
}

static void make(u32 nr)
{
	u32 i;

	snapshot = calloc(1, sizeof(*snapshot) + nr * sizeof(snapshot->ranges.range[0]));
	snapshot->info = calloc(nr + 1, sizeof(*snapshot->info));
	snapshot->unwinder = unwinder;
	snapshot->ranges.nr = nr;
	snapshot->ranges.id = unwinder->ids = 7;
	for (i = 0; i < nr; i++) {
		snapshot->ranges.range[i].start = start_of(i);
		snapshot->ranges.range[i].end = start_of(i) + 4 * PAGE;
	}
}

static void drop(void)
{
	free(snapshot->info);
	free(snapshot);
}

static bool finds(u64 addr, const struct kunwind_range *range)
{
	return unwind_range_known(&snapshot->ranges, addr) == range;
}

static void test_known(void)
{
	u32 nr, i, wrong = 0;

	for (nr = 0; nr < 20; nr++) {
		make(nr);
		for (i = 0; i < nr; i++) {
			const struct kunwind_range *range = &snapshot->ranges.range[i];

			wrong += !finds(range->start, range) || !finds(range->end - 1, range);
			wrong += !finds(range->start - 1, NULL) || !finds(range->end, NULL);
			wrong += unwind_range_info(snapshot, range) != &snapshot->info[i];
		}
		wrong += !finds(0, NULL) || !finds(~0ULL, NULL);
		wrong += unwind_range_info(snapshot, snapshot->ranges.range + nr) != NULL;
		wrong += unwind_range_info(snapshot, &unwinder->late[0].range) != NULL;
		drop();
	}
	tap_ok(!wrong, "each mapping is found from its first byte to its last, of 0 to 19");
}

static void test_module(void)
{
	struct kunwind_module module;

	make(3);
	snapshot->info[2].module = &module;
	tap_ok(unwind_range_module(snapshot, &snapshot->ranges.range[2]) == &module,
	       "a mapping has its module");
	tap_ok(unwind_range_module(snapshot, &unwinder->late[5].range) == &unwinder->late[5].module,
	       "so has an object that was loaded later");
	drop();
}

static const struct kunwind_range *find(u64 addr)
{
	asked = late_asked = 0;
	return kunwind_ranges_find(&snapshot->ranges, addr);
}

static void test_loose(void)
{
	struct unwind_object object = { .loaded.at = 0 };
	struct kunwind_range *range;
	struct kunwind_range other = { .start = start_of(1), .end = start_of(2) };

	make(3);
	range = &snapshot->ranges.range[1];
	late_range = NULL;
	tap_ok(find(range->start) == range && !asked && !late_asked, "code of no file: libc is not asked");
	snapshot->info[1].object = &object;
	tap_ok(find(range->start) == range && !asked && !late_asked,
	       "an object that stays: libc is not asked");
	object.loaded.at = range->start;
	same = true;
	tap_ok(find(range->start) == range && asked == 1 && !late_asked && !range->dead &&
	       snapshot->ranges.id == 7, "an object that is still loaded");
	same = false;
	tap_ok(find(range->start) == range && asked == 1 && late_asked == 1 && range->dead,
	       "one that is not: its range is dead");
	tap_ok(snapshot->ranges.id == 8 && unwinder->ids == 8, "rules of it in the cache are no longer used");
	same = true;
	tap_ok(find(range->start) == range && !asked && late_asked == 1 && snapshot->ranges.id == 8,
	       "it stays dead, whatever libc says later");
	tap_ok(!kunwind_ranges_live(&snapshot->ranges, range->start), "a dead range is not live");
	late_range = &other;
	tap_ok(find(range->start) == &other, "an object that took its place is found");
	tap_ok(kunwind_ranges_live(&snapshot->ranges, range->start) == &other, "and is live");
	tap_ok(find(range->end + PAGE) == &other && late_asked == 1, "so is an object where none was");
	late_range = NULL;
	tap_ok(!find(range->end + PAGE) && late_asked == 1, "or nothing is found");
	tap_ok(!kunwind_ranges_live(&snapshot->ranges, range->end + PAGE) &&
	       kunwind_ranges_live(&snapshot->ranges, start_of(2)) == &snapshot->ranges.range[2],
	       "live ranges are those that are found and not dead");
	unwinder->flags = KUNWIND_UNWINDER_OTHER;
	late_range = &other;
	tap_ok(!find(range->end + PAGE) && !late_asked && find(range->start) == range && !late_asked,
	       "of another process, libc is not asked");
	unwinder->flags = 0;
	drop();
}

int main(void)
{
	unwinder = calloc(1, sizeof(*unwinder));
	test_known();
	test_module();
	test_loose();
	free(unwinder);
	return tap_done();
}

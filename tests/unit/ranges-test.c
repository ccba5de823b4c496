// SPDX-License-Identifier: MIT
/*
 * ranges-test.c - the mapping that holds an address: in a list, in chunks, dead, doubtful
 *
 * Range n has the addresses [START(n), START(n) + LEN), at first with gaps between.
 */
#include "../../kmod/core/walk/ranges.h"
#include "eh.h"
#include "tap.h"

#define MOST	9
#define LEN	0x80ULL
#define START(n)	(0x10000 + 0x1000ULL * (n))

static struct kunwind_ranges *ranges;
static struct kunwind_range range[MOST];
static struct kunwind_range_chunk chunk[MOST];

/* Ranges 0 to @nr - 1. Chunks of @each ranges; 0: one list. */
static void make(u32 nr, u32 each, bool adjoin)
{
	u32 i;

	memset(chunk, 0, sizeof(chunk));
	for (i = 0; i < nr; i++)
		range[i] = (struct kunwind_range){
			.start = START(i), .end = adjoin ? START(i + 1) : START(i) + LEN,
		};
	ranges->id = 1;
	ranges->doubt_start = ranges->doubt_end = 0;
	ranges->nr = each ? (nr + each - 1) / each : nr;
	ranges->chunk = each ? chunk : NULL;
	/* with chunks, nothing is in the list */
	memset(ranges->range, 0xa5, MOST * sizeof(range[0]));
	if (!each)
		memcpy(ranges->range, range, nr * sizeof(range[0]));
	for (i = 0; each && i < ranges->nr; i++)
		chunk[i] = (struct kunwind_range_chunk){
			.start = START(i * each), .range = range + i * each,
			.nr = i + 1 < ranges->nr ? each : nr - i * each,
		};
}

static const struct kunwind_range *number(u32 n)
{
	return ranges->chunk ? &range[n] : &ranges->range[n];
}

static void test_search(u32 each)
{
	u32 nr, i;

	for (nr = 1; nr <= MOST; nr++) {
		bool good = true;

		make(nr, each, false);
		for (i = 0; i < nr; i++)
			good &= kunwind_ranges_find(ranges, START(i)) == number(i) &&
				kunwind_ranges_find(ranges, START(i) + LEN - 1) == number(i) &&
				!kunwind_ranges_find(ranges, START(i) - 1) &&
				!kunwind_ranges_find(ranges, START(i) + LEN);
		good &= !kunwind_ranges_find(ranges, 0) && !kunwind_ranges_find(ranges, ~0ULL);
		make(nr, each, true);
		for (i = 0; i < nr; i++)
			good &= kunwind_ranges_find(ranges, START(i)) == number(i) &&
				kunwind_ranges_find(ranges, START(i + 1) - 1) == number(i);
		tap_ok(good, "search of %u ranges, %u in a chunk: each has all its bytes and no others",
		       nr, each);
	}
	make(0, each, false);
	tap_ok(!kunwind_ranges_find(ranges, START(0)), "search of no ranges, %u in a chunk", each);
}

/* A snapshot says by its own interval which ranges are doubtful. */
static void test_usable(void)
{
	static const struct { u64 start, end; bool usable; } doubts[] = {
		{ 0, 0, true }, { START(0), START(1), true }, { START(1) - 1, START(1) + 1, false },
		{ START(1) + LEN - 1, START(2), false }, { START(1) + LEN, START(2), true },
		{ START(1) + 8, START(1) + 9, false }, { START(0), START(2), false },
	};
	u32 i, each, bad = 0;

	for (each = 0; each <= 2; each++)
		for (i = 0; i < ARRAY_SIZE(doubts); i++) {
			make(3, each, false);
			ranges->doubt_start = doubts[i].start;
			ranges->doubt_end = doubts[i].end;
			bad += kunwind_ranges_live(ranges, START(1)) !=
			       (doubts[i].usable ? number(1) : NULL) ||
			       kunwind_ranges_find(ranges, START(1)) != number(1);
		}
	tap_ok(!bad, "a range is live unless it overlaps the doubtful interval");
	make(3, 0, false);
	ranges->range[1].dead = 1;
	tap_ok(!kunwind_ranges_live(ranges, START(1)) && kunwind_ranges_find(ranges, START(1)) == number(1),
	       "code of a replaced range is found, but is not live");
	tap_ok(!kunwind_ranges_live(ranges, START(1) - 1), "no range: none is live");
}

/* While a range has a table, its reason means nothing. */
static void test_jit(void)
{
	struct kunwind_range one = { .reason = KUNWIND_NO_OBJECT };

	tap_ok(kunwind_range_is_jit(&one), "a range of no object may be a JIT's");
	one.reason = KUNWIND_NO_TABLE;
	tap_ok(!kunwind_range_is_jit(&one), "a range of an object without table is not a JIT's");
	one.reason = KUNWIND_NO_OBJECT;
	one.table = (const struct kunwind_table *)range;
	tap_ok(!kunwind_range_is_jit(&one), "a range with a table is not a JIT's, whatever its reason");
}

int main(void)
{
	u32 each;

	ranges = calloc(1, sizeof(*ranges) + MOST * sizeof(range[0]));
	if (!ranges)
		abort();
	for (each = 0; each <= 4; each++)
		test_search(each);
	test_usable();
	test_jit();
	free(ranges);
	return tap_done();
}

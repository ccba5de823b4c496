// SPDX-License-Identifier: MIT
/*
 * walk-bench.c - measure the walk in user space, compared with libunwind
 *
 * Walks one stack of the running program by kunwind_walk(), with a warm and a
 * cold cache, by unw_backtrace() (libunwind's cached fast path) and by
 * unw_step(). First compares the addresses of kunwind_walk() and unw_step();
 * the exit status is 1 if they differ. Measures in interleaved rounds, and
 * prints medians.
 *
 * Prints tab-separated: walk, frames, walker, ns a frame, ratio to
 * unw_backtrace.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "median.h"
#include "self.h"
#include "unw_step.h"

#define MOST	1100
#define ROUNDS	41

static struct kunwind_ranges *ranges;
static struct kunwind_rule_cache cache;
static u64 stack_lo, stack_hi;
static int failures;

static noinline u32 walk_ours(unsigned long *store, struct kunwind_rule_cache *c,
						enum kunwind_reason *reason)
{
	struct kunwind_walk walk = {
		.ranges = ranges, .cache = c, .addresses = store, .capacity = MOST,
		.mem = { .lo = stack_lo, .hi = stack_hi },
	};

	self_regs(&walk.regs);
	*reason = kunwind_walk(&walk);
	return walk.count;
}

static noinline u32 walk_backtrace(unsigned long *store)
{
	return unw_backtrace((void **)store, MOST);
}

static void measure(int depth)
{
	static unsigned long a[MOST], b[MOST], c[MOST];
	static double warm[ROUNDS], cold[ROUNDS], fast[ROUNDS], step[ROUNDS];
	enum kunwind_reason reason;
	u32 n, nb, nc, i;
	int repeat = 20000 / (depth + 20) + 1, r, k;

	n = walk_ours(a, &cache, &reason);
	nb = walk_step(b, MOST);
	nc = walk_backtrace(c);
	/* The first two addresses are in the walkers and in this function. */
	if (reason != KUNWIND_COMPLETE || n != nb) {
		printf("# depth %d: %u frames (%s), unw_step %u, unw_backtrace %u\n", depth, n,
		       kunwind_reason_name(reason), nb, nc);
		failures++;
	}
	for (i = 2; i < min(n, nb); i++)
		if (a[i] != b[i]) {
			printf("# depth %d: frame %u: %lx, unw_step %lx\n", depth, i, a[i], b[i]);
			failures++;
			break;
		}

	for (r = 0; r < ROUNDS; r++) {
		double t0 = now(), t1, t2, t3, t4;

		for (k = 0; k < repeat; k++)
			n = walk_ours(a, &cache, &reason);
		t1 = now();
		for (k = 0; k < repeat; k++)
			nc = walk_backtrace(c);
		t2 = now();
		for (k = 0; k < repeat / 20 + 1; k++)
			nb = walk_step(b, MOST);
		t3 = now();
		for (k = 0; k < repeat / 20 + 1; k++) {
			memset(&cache, 0, sizeof(cache));
			n = walk_ours(a, &cache, &reason);
		}
		t4 = now();
		warm[r] = (t1 - t0) / repeat / n;
		fast[r] = (t2 - t1) / repeat / nc;
		step[r] = (t3 - t2) / (repeat / 20 + 1) / nb;
		cold[r] = (t4 - t3) / (repeat / 20 + 1) / n;
	}
	{
		double w = median(warm, ROUNDS), f = median(fast, ROUNDS);
		double s = median(step, ROUNDS), o = median(cold, ROUNDS);

		printf("walk\t%u\tkunwind warm\t%.1f\t%.2f\n", n, w, w / f);
		printf("walk\t%u\tkunwind cold\t%.1f\t%.2f\n", n, o, o / f);
		printf("walk\t%u\tunw_backtrace\t%.1f\t1.00\n", n, f);
		printf("walk\t%u\tunw_step\t%.1f\t%.2f\n", n, s, s / f);
	}
}

/*
 * Twenty-four functions with different frames, called in turn through a table;
 * one calls the next through qsort(). So the stack has many different rules.
 */
typedef int chain_fn(int left, int total);
static chain_fn *const chain[24];

static int next(int left, int total)
{
	if (!left) {
		measure(total);
		return 0;
	}
	return chain[left % 24](left - 1, total);
}

static int sort_left, sort_total, sort_done;

static int from_qsort(const void *a, const void *b)
{
	if (!sort_done) {
		sort_done = 1;
		next(sort_left, sort_total);
	}
	return *(const int *)a - *(const int *)b;
}

#define LINK(n)									\
static noinline int link##n(int left, int total)		\
{										\
	volatile char room[8 + n * 24];						\
	int result;								\
										\
	room[0] = left;								\
	result = next(left, total);						\
	return result + room[0] - (char)left;					\
}
LINK(0) LINK(1) LINK(2) LINK(3) LINK(4) LINK(5) LINK(6) LINK(7)
LINK(8) LINK(9) LINK(10) LINK(11) LINK(12) LINK(13) LINK(14) LINK(15)
LINK(16) LINK(17) LINK(18) LINK(19) LINK(20) LINK(21) LINK(22)

static noinline int link_qsort(int left, int total)
{
	int pair[2] = { 2, 1 };

	sort_left = left;
	sort_total = total;
	sort_done = 0;
	qsort(pair, 2, sizeof(pair[0]), from_qsort);
	return pair[0] - 1;
}

static chain_fn *const chain[24] = {
	link0, link1, link2, link3, link4, link5, link6, link7, link8, link9, link10, link11,
	link12, link13, link14, link15, link16, link17, link18, link19, link20, link21, link22,
	link_qsort,
};

int main(void)
{
	static const int depths[] = { 10, 40, 400 };
	u32 i;

	ranges = self_ranges();
	self_stack(&stack_lo, &stack_hi);
	printf("#what\tframes\twalker\tns_per_frame\tratio_to_unw_backtrace\n");
	for (i = 0; i < ARRAY_SIZE(depths); i++)
		next(depths[i], depths[i]);
	return failures != 0;
}

// SPDX-License-Identifier: MIT
/*
 * lock_sums.c - the locks of a trace, summed up for a report
 */
#include <stdlib.h>

#include "lock_sums.h"

static int longest(const void *a, const void *b)
{
	const struct lock_sum *x = a, *y = b;
	int64_t x_time = x->lock.time + x->lock.other_time, y_time = y->lock.time + y->lock.other_time;

	return x_time < y_time ? 1 : -(x_time > y_time);
}

static int longest_pair(const void *a, const void *b)
{
	const struct lock_pair *x = *(const struct lock_pair *const *)a;
	const struct lock_pair *y = *(const struct lock_pair *const *)b;

	return x->time < y->time ? 1 : -(x->time > y->time);
}

/* Adds what another address of the same lock counted. */
static void add(struct lock *to, const struct lock *from)
{
	to->waits += from->waits;
	to->others += from->others;
	to->time += from->time;
	to->other_time += from->other_time;
	to->latency += from->latency;
	to->releases += from->releases;
	if (from->longest > to->longest)
		to->longest = from->longest;
}

struct lock_sum *lock_sums(const struct locks *locks, uint32_t *nr)
{
	struct lock_sum *all = needed(calloc(locks->nr + 1, sizeof(*all))), *sum;
	uint32_t i, n = 0;

	for (i = 0; i < locks->nr; i++) {
		sum = &all[lock_number(locks, i)];
		add(&sum->lock, &locks->lock[i]);
		if (sum == &all[i]) {
			sum->lock.pid = locks->lock[i].pid;
			sum->lock.address = locks->lock[i].address;
			sum->lock.kind = locks->lock[i].kind;
		}
	}
	for (i = 0; i < locks->nr_pairs; i++) {
		sum = &all[lock_number(locks, locks->pair[i].lock)];
		if (!(sum->nr_pairs & (sum->nr_pairs - 1)))	/* 0 or a power of two: full */
			sum->pair = needed(realloc(sum->pair, (sum->nr_pairs * 2 + 1) *
						   sizeof(*sum->pair)));
		sum->pair[sum->nr_pairs++] = &locks->pair[i];
		if (locks->pair[i].holder != CALLS_ROOT)
			sum->held += locks->pair[i].time;
	}
	for (i = 0; i < locks->nr; i++) {
		if (all[i].nr_pairs)
			qsort(all[i].pair, all[i].nr_pairs, sizeof(*all[i].pair), longest_pair);
		if (all[i].lock.waits || all[i].lock.others)
			all[n++] = all[i];
	}
	if (n)
		qsort(all, n, sizeof(*all), longest);
	*nr = n;
	return all;
}

void lock_sums_free(struct lock_sum *sums, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		free(sums[i].pair);
	free(sums);
}

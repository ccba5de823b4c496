// SPDX-License-Identifier: MIT
/*
 * activity.c - what a thread does at a time: it runs, could run, or is blocked
 *
 * A thread that is not in a wait is on the CPU.
 */
#include <stdlib.h>

#include "activity.h"

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

uint32_t waits_before(const struct waits *waits, uint32_t thread, int64_t time)
{
	uint32_t low = 0, high = waits->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (waits->wait[middle].thread < thread ||
		    (waits->wait[middle].thread == thread && waits->wait[middle].begin < time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void activity_each(const struct waits *waits, uint32_t thread, int64_t from, int64_t until,
		   bool (*take)(const struct activity *part, void *data), void *data)
{
	uint32_t i = waits_before(waits, thread, until), k;
	int64_t ready, end;

	while (until > from) {
		const struct wait *wait = i-- > 0 && waits->wait[i].thread == thread ? &waits->wait[i] : NULL;

		end = !wait || wait->end <= from ? from : wait->end < until ? wait->end : until;
		ready = !wait || wait->wakeup < 0 ? end : later(wait->wakeup, from);
		if (ready > end)
			ready = end;
		const struct activity part[] = {
			{ ACTIVITY_ON_CPU, NULL, end, until },
			{ ACTIVITY_RUNNABLE, wait, ready, end },
			{ ACTIVITY_BLOCKED, wait, end == from ? from : later(wait->begin, from), ready },
		};

		for (k = 0; k < 3; k++) {
			if (part[k].from < part[k].until && !take(&part[k], data))
				return;
		}
		until = part[ACTIVITY_BLOCKED].from;
	}
}

struct holder {
	struct waits *waits;
	uint32_t pair;
};

static bool add(const struct activity *part, void *data)
{
	const struct holder *holder = data;
	struct calls *calls = &holder->waits->samples.calls;
	const struct wait_pair key = {
		.line = holder->pair,
		.what = part->kind == ACTIVITY_BLOCKED ? part->wait->cause :
			calls_string(calls, part->kind == ACTIVITY_RUNNABLE ? "runnable" : "on the CPU"),
		.waiter = part->kind == ACTIVITY_ON_CPU ? CALLS_ROOT : part->wait->node,
	};

	waits_add_pair(&holder->waits->meanwhile, &key, part->until - part->from);
	return true;
}

static int by_pair(const void *a, const void *b)
{
	const struct wait_pair *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->time < y->time ? 1 : -(x->time > y->time);
}

void activity_of_holders(struct waits *waits)
{
	struct holder holder = { .waits = waits };
	uint32_t i;

	for (i = 0; i < waits->nr_holds; i++) {
		const struct wait_hold *hold = &waits->hold[i];

		holder.pair = hold->pair;
		activity_each(waits, hold->thread, hold->begin, hold->begin + hold->ns, add, &holder);
	}
	if (waits->meanwhile.nr)
		qsort(waits->meanwhile.pair, waits->meanwhile.nr, sizeof(*waits->meanwhile.pair), by_pair);
}

uint32_t activity_of_pair(const struct waits *waits, uint32_t pair)
{
	uint32_t low = 0, high = waits->meanwhile.nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (waits->meanwhile.pair[middle].line < pair)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

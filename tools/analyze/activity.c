// SPDX-License-Identifier: MIT
/*
 * activity.c - what a thread does at a time: it runs, could run, or is blocked
 *
 * A thread that is not in a wait is on the CPU.
 *
 * Memory, until the holders of locks are summed up: that of sums.c for three times for each wait of a holder.
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

/* What a thread that holds locks does, all the time. Keys: index of kind. */
struct holder {
	struct sums_times times;
	struct sums_time *time;
	bool made;
};

struct holders {
	struct waits *waits;
	struct wait_pairs kind;		/* what and waiter: all that holders do; the first one: on the CPU */
	struct holder *holder;		/* by thread */
};

static void lasts(struct holders *holders, struct holder *holder, int64_t begin, uint32_t what,
		  uint32_t node)
{
	const struct wait_pair kind = { .what = what, .waiter = node };

	holder->time[holder->times.nr++] = (struct sums_time){
		.begin = begin, .key = waits_add_pair(&holders->kind, &kind, 0),
	};
}

/* Makes the times of a thread. A time begins on the CPU. */
static void make_holder(struct holders *holders, struct holder *holder, uint32_t thread)
{
	const struct waits *waits = holders->waits;
	struct calls *calls = &holders->waits->samples.calls;
	const uint32_t running = calls_string(calls, "on the CPU");
	const uint32_t runnable = calls_string(calls, "runnable");
	const uint32_t first = waits_before(waits, thread, INT64_MIN);
	const uint32_t last = waits_before(waits, thread, INT64_MAX);
	uint32_t i;

	holder->made = true;
	holder->time = needed(calloc((last - first) * 3ul + 1, sizeof(*holder->time)));
	holder->times.time = holder->time;
	lasts(holders, holder, 0, running, CALLS_ROOT);
	for (i = first; i < last; i++) {
		const struct wait *wait = &waits->wait[i];
		const bool cut = i + 1 < last && wait[1].begin < wait->end;
		const int64_t end = cut ? wait[1].begin : wait->end;
		const int64_t ready = wait->wakeup < 0 || wait->wakeup > end ? end :
				      later(wait->wakeup, wait->begin);

		lasts(holders, holder, wait->begin, wait->cause, wait->node);
		lasts(holders, holder, ready, runnable, wait->node);
		lasts(holders, holder, end, running, CALLS_ROOT);
	}
	sums_times_make(&holder->times);
}

static void add_hold(struct holders *holders, struct sums_total *sums, const struct wait_hold *hold)
{
	struct holder *holder = &holders->holder[hold->thread];
	uint32_t i;

	if (!holder->made)
		make_holder(holders, holder, hold->thread);
	sums_empty(sums);
	sums_add_times(sums, &holder->times, hold->begin, hold->begin + hold->ns);
	for (i = 0; i < sums->nr; i++) {
		const struct wait_pair *kind = &holders->kind.pair[sums->part[i].key];
		const struct wait_pair key = {
			.line = hold->pair, .what = kind->what, .waiter = kind->waiter,
		};

		waits_add_pair(&holders->waits->meanwhile, &key, sums->part[i].ns);
	}
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
	const uint32_t nr = waits->samples.nr_threads;
	struct holders holders = { .waits = waits };
	struct sums_total sums = { 0 };
	uint32_t i;

	holders.holder = needed(calloc(nr + 1, sizeof(*holders.holder)));
	for (i = 0; i < waits->nr_holds; i++)
		add_hold(&holders, &sums, &waits->hold[i]);
	for (i = 0; i < nr; i++) {
		sums_times_free(&holders.holder[i].times);
		free(holders.holder[i].time);
	}
	sums_free(&sums);
	waits_pairs_free(&holders.kind);
	free(holders.holder);
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

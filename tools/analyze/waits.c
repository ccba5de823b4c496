// SPDX-License-Identifier: MIT
/*
 * waits.c - times off the CPU: why, who ended them, and how soon the thread ran
 *
 * A wait is blocked until the wakeup (sched_waking). From then on the thread could
 * run: that time is the scheduler's latency. A preempted thread is never blocked.
 * A wait whose wakeup is not recorded counts as blocked all the time.
 *
 * The time of a preempted thread is split by the threads that had the processor
 * then, which is known when all of the trace has been read.
 *
 * Memory: 64 bytes for each time off the CPU; 24 for each pair of stacks, for each time
 * in which a thread held a lock, and for each thing that it did then.
 */
#include <stdlib.h>
#include <string.h>

#include "waits.h"

static uint32_t mix(uint32_t hash, uint32_t value)
{
	hash = (hash ^ value) * 0x9e3779b1;
	return hash ^ hash >> 15;
}

static uint32_t hash_line(const struct wait_line *line)
{
	uint32_t waiter = mix(mix(1, line->waiter_comm), line->cause);

	return mix(mix(mix(mix(waiter, line->interrupt), line->comm), line->call),
		   line->preempted * 2u + line->recorded);
}

static uint32_t hash_pair(const struct wait_pair *pair)
{
	return mix(mix(mix(2, pair->line), pair->waiter), pair->waker);
}

/* Returns the slot of an entry; an empty slot if there is none. */
#define FIND(index, hash, number, same) ({ \
	uint32_t at_ = (hash), number; \
	while ((number = (index).slot[at_ & ((index).cap - 1)]) && !(same)) \
		at_++; \
	&(index).slot[at_ & ((index).cap - 1)]; })

/* Makes room for one more entry than @nr. True: enter all again. */
static bool make_room(struct calls_index *index, uint32_t nr)
{
	if (nr < index->cap / 2)
		return false;
	free(index->slot);
	index->cap = index->cap ? index->cap * 2 : 1024;
	index->slot = needed(calloc(index->cap, sizeof(*index->slot)));
	return true;
}

static struct wait_line *line_of(struct waits *waits, const struct wait_line *key)
{
	uint32_t *slot, i;

	if (make_room(&waits->lines, waits->nr_lines)) {
		for (i = 0; i < waits->nr_lines; i++)
			*FIND(waits->lines, hash_line(&waits->line[i]), n, false) = i + 1;
	}
	slot = FIND(waits->lines, hash_line(key), n,
		    waits->line[n - 1].waiter_comm == key->waiter_comm &&
		    waits->line[n - 1].cause == key->cause &&
		    waits->line[n - 1].interrupt == key->interrupt &&
		    waits->line[n - 1].comm == key->comm && waits->line[n - 1].call == key->call &&
		    waits->line[n - 1].preempted == key->preempted &&
		    waits->line[n - 1].recorded == key->recorded);
	if (!*slot) {
		waits->line = grown(waits->line, waits->nr_lines, &waits->cap_lines, sizeof(*key));
		waits->line[waits->nr_lines] = *key;
		*slot = ++waits->nr_lines;
	}
	return &waits->line[*slot - 1];
}

uint32_t waits_add_pair(struct wait_pairs *pairs, const struct wait_pair *key, int64_t time)
{
	uint32_t *slot, i;

	if (make_room(&pairs->index, pairs->nr)) {
		for (i = 0; i < pairs->nr; i++)
			*FIND(pairs->index, hash_pair(&pairs->pair[i]), n, false) = i + 1;
	}
	slot = FIND(pairs->index, hash_pair(key), n,
		    pairs->pair[n - 1].line == key->line && pairs->pair[n - 1].waiter == key->waiter &&
		    pairs->pair[n - 1].waker == key->waker);
	if (!*slot) {
		pairs->pair = grown(pairs->pair, pairs->nr, &pairs->cap, sizeof(*key));
		pairs->pair[pairs->nr] = *key;
		*slot = ++pairs->nr;
	}
	pairs->pair[*slot - 1].time += time;
	return *slot - 1;
}

void waits_pairs_free(struct wait_pairs *pairs)
{
	free(pairs->pair);
	free(pairs->index.slot);
}

static void keep(struct waits *waits, const struct wait *wait)
{
	waits->wait = grown(waits->wait, waits->nr, &waits->cap, sizeof(*wait));
	waits->wait[waits->nr++] = *wait;
}

static void keep_holds(struct waits *waits, const struct sample *sample)
{
	uint32_t i;

	for (i = 0; i < sample->nr_holds; i++) {
		const struct lock_hold *hold = &sample->hold[i];

		if (hold->thread == SAMPLE_NO_THREAD)
			continue;
		waits->hold = grown(waits->hold, waits->nr_holds, &waits->cap_holds, sizeof(*waits->hold));
		waits->hold[waits->nr_holds++] = (struct wait_hold){ hold->begin, hold->ns, hold->thread,
								     hold->pair };
	}
}

static void count_thread(struct waits *waits, const struct wait *wait)
{
	uint32_t old = waits->cap_threads;
	int64_t ready = wait->wakeup < 0 ? wait->end : wait->wakeup;

	if (wait->thread >= old) {
		waits->cap_threads = wait->thread * 2 + 64;
		waits->thread = needed(realloc(waits->thread, waits->cap_threads *
					       sizeof(*waits->thread)));
		memset(&waits->thread[old], 0, (waits->cap_threads - old) * sizeof(*waits->thread));
	}
	waits->thread[wait->thread].waits++;
	waits->thread[wait->thread].blocked += ready - wait->begin;
	waits->thread[wait->thread].runnable += wait->end - ready;
}

/* Counts a part of a wait in its line. */
static void count_line(struct waits *waits, const struct wait_line *key, uint32_t waiter, uint32_t waker,
		       int64_t blocked, int64_t latency)
{
	struct wait_line *line = line_of(waits, key);
	struct wait_pair pair = { .line = (uint32_t)(line - waits->line), .waiter = waiter, .waker = waker };

	if (line->pid != key->pid)
		line->pid = -1;
	line->times++;
	line->blocked += blocked;
	line->latency += latency;
	if (blocked > line->longest)
		line->longest = blocked;
	waits_add_pair(&waits->pairs, &pair, blocked + latency);
}

static void count_woken(struct waits *waits, const struct wait *wait, const struct sample_waker *waker)
{
	const bool thread = waker && !waker->interrupt;
	const struct wait_line key = {
		.waiter_comm = wait->comm, .cause = wait->cause, .recorded = waker != NULL,
		.interrupt = wait->interrupt, .comm = wait->waker_comm, .call = thread ? waker->call : 0,
		.pid = waits->samples.thread[wait->thread].pid,
	};
	int64_t ready = wait->wakeup < 0 ? wait->end : wait->wakeup;

	count_line(waits, &key, wait->node, thread ? waker->node : CALLS_ROOT, ready - wait->begin,
		   wait->end - ready);
}

void waits_split(struct waits *waits, const struct wait *wait, int64_t from, int64_t until)
{
	runnable_split(&waits->runnable, &waits->samples.cpus, wait->preempted ? wait->lost_at : CPU_NONE,
		       wait->ran_at, from, until);
}

/* All of the trace must have been read. */
static void count_preempted(struct waits *waits, const struct wait *wait)
{
	struct wait_line key = { .waiter_comm = wait->comm, .cause = wait->cause, .preempted = true,
				 .pid = waits->samples.thread[wait->thread].pid };
	uint32_t i;

	waits_split(waits, wait, wait->begin, wait->end);
	for (i = 0; i < waits->runnable.split.nr; i++) {
		key.comm = waits->runnable.split.part[i].key;
		count_line(waits, &key, wait->node, CALLS_ROOT, 0, waits->runnable.split.part[i].ns);
	}
}

void waits_take(const struct sample *sample, const bt_event *event, void *data)
{
	struct waits *waits = data;
	const struct sample_waker *waker = sample->waker;
	struct wait wait = {
		.begin = sample->begin, .end = sample->begin + sample->duration, .wakeup = -1,
		.thread = sample->thread, .comm = sample->comm, .cause = sample->what,
		.node = waits->samples.calls.node[sample->node].parent,
		.waker = SAMPLE_NO_THREAD, .preempted = sample->preempted,
		.hidden = sample->hidden, .lost_at = sample->lost_at, .ran_at = sample->ran_at,
	};

	if (sample->kind != SAMPLE_OFF_CPU || sample->begin < 0)
		return;
	if (sample->duration < 0 && event) {
		waits->lost += !sample->hidden;
		return;
	}
	if (sample->hidden && !sample->duration)
		return;		/* outside of the window */
	waits->nr_hidden += sample->hidden;
	if (sample->duration < 0) {
		wait.end = INT64_MAX;
		waits->endless += !sample->hidden;
		keep(waits, &wait);
		return;
	}
	if (wait.preempted) {
		wait.wakeup = wait.begin;
	} else if (waker) {
		wait.wakeup = waker->time;
		wait.interrupt = waker->interrupt;
		wait.waker_comm = waker->interrupt ? 0 : waker->comm;
		if (!waker->interrupt)
			wait.waker = waker->thread;
	}
	keep(waits, &wait);
	if (sample->hidden)
		return;
	*(wait.preempted ? &waits->preempted : !waker ? &waits->unrecorded :
	  waker->interrupt ? &waits->by_interrupt : &waits->by_thread) += 1;
	keep_holds(waits, sample);
	count_thread(waits, &wait);
	if (!wait.preempted)
		count_woken(waits, &wait, waker);
}

static int by_time(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_key(const void *a, const void *b)
{
	const struct wait_line *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->times < y->times ? 1 : x->times > y->times ? -1 : 0;
}

uint32_t waits_threads(const struct waits *waits)
{
	uint32_t i, nr = 0;

	for (i = 0; i < waits->samples.nr_threads; i++)
		nr += waits->samples.thread[i].selected;
	return nr;
}

void waits_sort(struct waits *waits)
{
	struct wait_line *line;
	uint32_t i;

	for (i = 0; i < waits->nr; i++) {
		if (waits->wait[i].preempted && !waits->wait[i].hidden && waits->wait[i].end != INT64_MAX)
			count_preempted(waits, &waits->wait[i]);
	}
	for (i = 0; i < waits->pairs.nr; i++) {
		line = &waits->line[waits->pairs.pair[i].line];
		if (waits->pairs.pair[i].time < line->most)
			continue;
		line->most = waits->pairs.pair[i].time;
		line->waiter = waits->pairs.pair[i].waiter;
		line->waker = waits->pairs.pair[i].waker;
	}
	for (i = 0; i < waits->nr_lines; i++)
		waits->line[i].key = waits->line[i].blocked + waits->line[i].latency;
	if (waits->nr_lines)
		qsort(waits->line, waits->nr_lines, sizeof(*waits->line), by_key);
	if (waits->nr)
		qsort(waits->wait, waits->nr, sizeof(*waits->wait), by_time);
	i = waits->samples.nr_threads;
	if (i > waits->cap_threads) {
		waits->thread = needed(realloc(waits->thread, i * sizeof(*waits->thread)));
		memset(&waits->thread[waits->cap_threads], 0,
		       (i - waits->cap_threads) * sizeof(*waits->thread));
		waits->cap_threads = i;
	}
}

void waits_free(struct waits *waits)
{
	samples_free(&waits->samples);
	calls_free(&waits->chains);
	free(waits->wait);
	free(waits->line);
	free(waits->hold);
	free(waits->thread);
	free(waits->lines.slot);
	waits_pairs_free(&waits->pairs);
	waits_pairs_free(&waits->meanwhile);
	runnable_free(&waits->runnable);
}

// SPDX-License-Identifier: MIT
/*
 * threads.c - the threads of a trace, by their numbers
 *
 * A thread has the number in its events, which may be of its own pid namespace, and
 * the number in sched_switch and sched_waking. A hash table with open addressing
 * finds it by either.
 */
#include <stdlib.h>

#include "threads.h"

/* Where the search for a thread begins in by_tid or by_global_tid. */
static uint32_t slot_of(const struct samples *samples, const void *trace, int64_t number)
{
	uint64_t hash = ((uint64_t)number + (uintptr_t)trace) * 0x9e3779b97f4a7c15;

	return (uint32_t)(hash >> 32) & (samples->cap_index - 1);
}

static void index_thread(struct samples *samples, uint32_t *table, int64_t number, uint32_t i)
{
	uint32_t at = slot_of(samples, samples->thread[i].trace, number);

	while (table[at])
		at = (at + 1) & (samples->cap_index - 1);
	table[at] = i + 1;
}

/* Takes a thread out of by_global_tid, which has it. */
static void unindex_thread(struct samples *samples, uint32_t i)
{
	uint32_t *table = samples->by_global_tid, other;
	uint32_t at = slot_of(samples, samples->thread[i].trace, samples->thread[i].global_tid);

	while (table[at] != i + 1)
		at = (at + 1) & (samples->cap_index - 1);
	table[at] = 0;
	/* The empty slot must not hide threads that the search finds after it. */
	while (table[at = (at + 1) & (samples->cap_index - 1)]) {
		other = table[at] - 1;
		table[at] = 0;
		index_thread(samples, table, samples->thread[other].global_tid, other);
	}
}

void threads_number(struct samples *samples, struct sample_thread *thread, int64_t tid)
{
	uint32_t i = (uint32_t)(thread - samples->thread);

	if (thread->global_tid == tid)
		return;
	if (thread->global_tid >= 0)
		unindex_thread(samples, i);
	thread->global_tid = tid;
	index_thread(samples, samples->by_global_tid, tid, i);
}

static void grow_threads(struct samples *samples)
{
	uint32_t i;

	if (samples->nr_threads < samples->cap_threads)
		return;
	samples->cap_threads = samples->cap_threads ? samples->cap_threads * 2 : 256;
	samples->cap_index = samples->cap_threads * 4;
	samples->thread = needed(realloc(samples->thread,
					 samples->cap_threads * sizeof(*samples->thread)));
	free(samples->by_tid);
	free(samples->by_global_tid);
	samples->by_tid = needed(calloc(samples->cap_index, sizeof(uint32_t)));
	samples->by_global_tid = needed(calloc(samples->cap_index, sizeof(uint32_t)));
	for (i = 0; i < samples->nr_threads; i++) {
		index_thread(samples, samples->by_tid, samples->thread[i].tid, i);
		if (samples->thread[i].global_tid >= 0)
			index_thread(samples, samples->by_global_tid,
				     samples->thread[i].global_tid, i);
	}
}

struct sample_thread *threads_find(const struct samples *samples, const void *trace,
					 const struct kunwind_head *head)
{
	struct sample_thread *thread;
	uint32_t at;

	if (!samples->cap_index)
		return NULL;
	for (at = slot_of(samples, trace, head->tid); samples->by_tid[at];
	     at = (at + 1) & (samples->cap_index - 1)) {
		thread = &samples->thread[samples->by_tid[at] - 1];
		if (thread->trace == trace && thread->tid == head->tid && thread->pid == head->pid)
			return thread;
	}
	return NULL;
}

struct sample_thread *threads_get(struct samples *samples, const void *trace,
					const struct kunwind_head *head)
{
	struct sample_thread *thread = threads_find(samples, trace, head);

	if (!thread) {
		grow_threads(samples);
		thread = &samples->thread[samples->nr_threads];
		*thread = (struct sample_thread){
			.pid = head->pid, .tid = head->tid, .trace = trace,
			.global_tid = -1, .call.begin = -1, .off.begin = -1,
			.waker.time = -1,
		};
		index_thread(samples, samples->by_tid, head->tid, samples->nr_threads++);
		if (!head->own_number)
			threads_number(samples, thread, head->tid);
	}
	thread->dead = false;
	thread->comm = calls_string(&samples->calls, head->comm);
	return thread;
}

struct sample_thread *threads_by_number(struct samples *samples, const void *trace, int64_t tid)
{
	struct sample_thread *thread, *other = NULL;
	uint32_t at;

	if (!samples->cap_index)
		return NULL;
	for (at = slot_of(samples, trace, tid); samples->by_global_tid[at];
	     at = (at + 1) & (samples->cap_index - 1)) {
		thread = &samples->thread[samples->by_global_tid[at] - 1];
		if (thread->trace != trace || thread->global_tid != tid)
			continue;
		if (thread->off.begin >= 0)
			return thread;
		if (!thread->dead)
			other = thread;
	}
	return other;
}

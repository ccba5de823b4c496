// SPDX-License-Identifier: MIT
/*
 * timeline.c - all samples, by thread and time
 *
 * Memory: 152 bytes for each sample, and for each holder of a lock that one waits
 * for; twice that after the array has grown.
 */
#include <stdlib.h>

#include "timeline.h"

static struct timeline_entry *add(struct timeline *timeline, const struct sample *sample)
{
	if (timeline->nr == timeline->cap) {
		timeline->cap = timeline->cap ? timeline->cap * 2 : 4096;
		timeline->entry = needed(realloc(timeline->entry,
						 timeline->cap * sizeof(*timeline->entry)));
	}
	timeline->entry[timeline->nr] = (struct timeline_entry){ .sample = *sample };
	timeline->entry[timeline->nr].sample.hold = NULL;	/* valid during end() only */
	timeline->entry[timeline->nr].sample.nr_holds = 0;
	return &timeline->entry[timeline->nr++];
}

struct timeline_entry *timeline_add(struct timeline *timeline, const struct sample *sample)
{
	struct sample *part;
	uint32_t i;

	for (i = 0; i < sample->nr_holds; i++) {
		part = &add(timeline, sample)->sample;
		part->kind = SAMPLE_LOCK;
		part->begin = sample->hold[i].begin;
		part->duration = sample->hold[i].ns;
		part->node = sample->hold[i].node;
	}
	return add(timeline, sample);
}

static int in_order(const void *a, const void *b)
{
	const struct sample *x = &((const struct timeline_entry *)a)->sample;
	const struct sample *y = &((const struct timeline_entry *)b)->sample;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->duration > y->duration ? -1 : x->duration < y->duration ? 1 : 0;
}

void timeline_sort(struct timeline *timeline)
{
	if (timeline->nr)
		qsort(timeline->entry, timeline->nr, sizeof(*timeline->entry), in_order);
}

size_t timeline_thread_end(const struct timeline *timeline, size_t from)
{
	size_t to = from;

	while (to < timeline->nr &&
	       timeline->entry[to].sample.thread == timeline->entry[from].sample.thread)
		to++;
	return to;
}

bool sample_weighs(const struct sample *sample, enum weight weight)
{
	if (weight == WEIGHT_EVENTS)
		return sample->kind == SAMPLE_SYSCALL || sample->kind == SAMPLE_EVENT;
	return sample->duration >= 0 && sample->kind != SAMPLE_EVENT &&
	       weight == sample_time_weight(sample->kind);
}

int64_t sample_weight(const struct sample *sample, enum weight weight)
{
	return weight == WEIGHT_EVENTS ? 1 : sample->duration;
}

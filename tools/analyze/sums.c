// SPDX-License-Identifier: MIT
/*
 * sums.c - how long each of several things lasted, in any part of a sequence of times
 *
 * Many waits may last while a processor, or the holder of a lock, does many things. So the
 * sequence is summed up once in blocks of 16 times, of 256, and so on. A part of the sequence
 * is some times at its ends and at most 30 blocks of each size: its cost depends on the number of different
 * things in it, not on its length.
 *
 * Memory: at most 16 bytes for each time and size of blocks, less if few things alternate;
 * 16 bytes for each key of the latest sum.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "sums.h"

enum { BLOCK = 16 };

void sums_empty(struct sums_total *sums)
{
	while (sums->nr > 0)
		sums->slot[sums->part[--sums->nr].key] = 0;
}

void sums_add(struct sums_total *sums, uint32_t key, int64_t ns)
{
	const uint32_t old = sums->cap_slots;

	if (ns <= 0)
		return;
	if (key >= old) {
		sums->cap_slots = key * 2 + 64;
		sums->slot = needed(realloc(sums->slot, sums->cap_slots * sizeof(*sums->slot)));
		memset(&sums->slot[old], 0, (sums->cap_slots - old) * sizeof(*sums->slot));
	}
	if (!sums->slot[key]) {
		sums->part = grown(sums->part, sums->nr, &sums->cap, sizeof(*sums->part));
		sums->part[sums->nr] = (struct sums_part){ .key = key };
		sums->slot[key] = ++sums->nr;
	}
	sums->part[sums->slot[key] - 1].ns += ns;
}

void sums_free(struct sums_total *sums)
{
	free(sums->part);
	free(sums->slot);
}

static void add_block(struct sums_total *sums, const struct sums_level *level, uint32_t block)
{
	uint32_t i;

	for (i = block ? level->end[block - 1] : 0; i < level->end[block]; i++)
		sums_add(sums, level->part[i].key, level->part[i].ns);
}

static void add_time(struct sums_total *sums, const struct sums_times *times, uint32_t i)
{
	sums_add(sums, times->time[i].key, times->time[i + 1].begin - times->time[i].begin);
}

/* Sums up each 16 blocks of the level @below; NULL: each 16 times, of which the last one has no end. */
static void make_level(struct sums_level *level, const struct sums_times *times,
		       const struct sums_level *below)
{
	struct sums_total sums = { 0 };
	uint32_t block, i, nr = 0, cap = 0;

	level->nr = (below ? below->nr : times->nr ? times->nr - 1 : 0) / BLOCK;
	level->end = needed(calloc(level->nr + 1, sizeof(*level->end)));
	for (block = 0; block < level->nr; block++) {
		sums_empty(&sums);
		for (i = block * BLOCK; i < (block + 1) * BLOCK; i++) {
			if (below)
				add_block(&sums, below, i);
			else
				add_time(&sums, times, i);
		}
		for (i = 0; i < sums.nr; i++) {
			level->part = grown(level->part, nr, &cap, sizeof(*level->part));
			level->part[nr++] = sums.part[i];
		}
		level->end[block] = nr;
	}
	sums_free(&sums);
}

void sums_times_make(struct sums_times *times)
{
	uint32_t i;

	for (i = 0; i < SUMS_LEVELS; i++)
		make_level(&times->level[i], times, i ? &times->level[i - 1] : NULL);
}

void sums_times_free(struct sums_times *times)
{
	uint32_t i;

	for (i = 0; i < SUMS_LEVELS; i++) {
		free(times->level[i].part);
		free(times->level[i].end);
	}
}

uint32_t sums_time_at(const struct sums_times *times, int64_t ns)
{
	return not_later(times->time, times->nr, sizeof(*times->time), offsetof(struct sums_time, begin),
			 ns) - 1;
}

/* Adds the largest block that begins with time @i and ends until @until. Returns its size; 0: none. */
static uint32_t add_largest(struct sums_total *sums, const struct sums_times *times, uint32_t i,
			    int64_t until)
{
	uint32_t size = BLOCK, found = 0, k;

	for (k = 0; k < SUMS_LEVELS; k++, size *= BLOCK) {
		if (i % size || i / size >= times->level[k].nr || times->time[i + size].begin > until)
			break;
		found = size;
	}
	if (found)
		add_block(sums, &times->level[k - 1], i / found);
	return found;
}

void sums_add_times(struct sums_total *sums, const struct sums_times *times, int64_t from, int64_t until)
{
	uint32_t i = sums_time_at(times, from), size;
	int64_t end;

	for (; from < until; from = end) {
		size = 0;
		if (i != UINT32_MAX && from == times->time[i].begin)
			size = add_largest(sums, times, i, until);
		i += size;
		if (size) {
			end = times->time[i].begin;
			continue;
		}
		end = i + 1 < times->nr && times->time[i + 1].begin < until ? times->time[i + 1].begin :
									      until;
		sums_add(sums, i == UINT32_MAX ? 0 : times->time[i].key, end - from);
		i++;
	}
}

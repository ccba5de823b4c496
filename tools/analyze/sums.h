/* SPDX-License-Identifier: MIT */
/*
 * sums.h - how long each of several things lasted, in any part of a sequence of times
 */
#ifndef KUNWIND_ANALYZE_SUMS_H
#define KUNWIND_ANALYZE_SUMS_H

#include <stdint.h>

/* A time in which one thing lasts, until the next one begins. */
struct sums_time {
	int64_t begin;
	uint32_t key;		/* which thing: a small number */
};

struct sums_part {
	uint32_t key;
	int64_t ns;
};

/* Times by key. Starts as all zeros. */
struct sums_total {
	struct sums_part *part;	/* one for each key */
	uint32_t nr;
	/* private to sums.c */
	uint32_t cap;
	uint32_t *slot, cap_slots;	/* by key: index of part + 1 */
};

enum { SUMS_LEVELS = 7 };

/* A sequence of times, which is complete, and the sums of its blocks. Starts as all zeros. */
struct sums_times {
	const struct sums_time *time;	/* in order of begin */
	uint32_t nr;
	/* private to sums.c */
	struct sums_level {
		struct sums_part *part;
		uint32_t *end;		/* by block: index after its last part */
		uint32_t nr;		/* blocks */
	} level[SUMS_LEVELS];
};

void sums_empty(struct sums_total *sums);
void sums_add(struct sums_total *sums, uint32_t key, int64_t ns);
void sums_free(struct sums_total *sums);

/* Sums up the blocks of times->time. */
void sums_times_make(struct sums_times *times);
void sums_times_free(struct sums_times *times);

/* Adds the times in [from, until); what was before the first one has the key 0. */
void sums_add_times(struct sums_total *sums, const struct sums_times *times, int64_t from, int64_t until);

/* Returns the index of the time that lasts at @ns; UINT32_MAX: before the first one. */
uint32_t sums_time_at(const struct sums_times *times, int64_t ns);

#endif /* KUNWIND_ANALYZE_SUMS_H */

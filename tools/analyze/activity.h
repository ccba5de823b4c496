/* SPDX-License-Identifier: MIT */
/*
 * activity.h - what a thread does at a time: it runs, could run, or is blocked
 */
#ifndef KUNWIND_ANALYZE_ACTIVITY_H
#define KUNWIND_ANALYZE_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "waits.h"

/* A part of a thread's time in which it does one thing. */
struct activity {
	enum activity_kind { ACTIVITY_ON_CPU, ACTIVITY_RUNNABLE, ACTIVITY_BLOCKED } kind;
	const struct wait *wait;	/* not for ON_CPU */
	int64_t from, until;		/* not empty */
};

/* Returns the index after the thread's last wait that begins before @time. The waits must be sorted. */
uint32_t waits_before(const struct waits *waits, uint32_t thread, int64_t time);

/*
 * Calls take() for all parts of a time of a thread, the latest one first, until it
 * returns false. The waits must be sorted.
 */
void activity_each(const struct waits *waits, uint32_t thread, int64_t from, int64_t until,
		   bool (*take)(const struct activity *part, void *data), void *data);

/*
 * Sums up in waits->meanwhile what the holders of locks did while other threads
 * waited, sorted by pair.
 */
void activity_of_holders(struct waits *waits);

/* Returns the index of a pair's first entry there. */
uint32_t activity_of_pair(const struct waits *waits, uint32_t pair);

#endif /* KUNWIND_ANALYZE_ACTIVITY_H */

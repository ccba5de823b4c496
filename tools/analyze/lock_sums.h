/* SPDX-License-Identifier: MIT */
/*
 * lock_sums.h - the locks of a trace, summed up for a report
 */
#ifndef KUNWIND_ANALYZE_LOCK_SUMS_H
#define KUNWIND_ANALYZE_LOCK_SUMS_H

#include "locks.h"

/* One lock with its pairs of stacks. */
struct lock_sum {
	struct lock lock;		/* sums of all its addresses */
	const struct lock_pair **pair;	/* longest first */
	uint32_t nr_pairs;
	int64_t held;			/* of lock.time: by holders whose stack is known */
};

/* Returns the locks that were waited for, longest first. Ends the program if out of memory. */
struct lock_sum *lock_sums(const struct locks *locks, uint32_t *nr);
void lock_sums_free(struct lock_sum *sums, uint32_t nr);

#endif /* KUNWIND_ANALYZE_LOCK_SUMS_H */

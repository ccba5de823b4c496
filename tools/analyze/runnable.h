/* SPDX-License-Identifier: MIT */
/*
 * runnable.h - which threads had the processor while another one could run
 */
#ifndef KUNWIND_ANALYZE_RUNNABLE_H
#define KUNWIND_ANALYZE_RUNNABLE_H

#include <stdint.h>

#include "cpus.h"

struct runnable_part {
	uint32_t comm;		/* string: name of the thread that ran; cpus->idle: none; 0: not recorded */
	int64_t ns;
};

/* The latest split. Starts as all zeros. */
struct runnable {
	struct runnable_part *part;	/* one for each name */
	uint32_t nr;
	/* private to runnable.c */
	uint32_t cap;
	uint32_t *slot, cap_slots;	/* by comm: index of part + 1 */
};

/*
 * Splits the time in which a thread could run. @lost_at: the processor that it lost, or
 * CPU_NONE if it was woken; @ran_at: the one that it got then, or CPU_NONE.
 */
void runnable_split(struct runnable *split, const struct cpus *cpus, uint32_t lost_at, uint32_t ran_at,
		    int64_t from, int64_t until);
void runnable_free(struct runnable *split);

#endif /* KUNWIND_ANALYZE_RUNNABLE_H */

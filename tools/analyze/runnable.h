/* SPDX-License-Identifier: MIT */
/*
 * runnable.h - which threads had the processor while another one could run
 */
#ifndef KUNWIND_ANALYZE_RUNNABLE_H
#define KUNWIND_ANALYZE_RUNNABLE_H

#include <stdint.h>

#include "cpus.h"
#include "sums.h"

/* Starts as all zeros. */
struct runnable {
	/* the latest split. key: string: name of the thread that ran; cpus->idle: none; 0: not recorded */
	struct sums_total split;
	/* private to runnable.c */
	struct runnable_cpu *cpu;
	uint32_t nr_cpus;
};

/*
 * Splits the time in which a thread could run. @lost_at: the processor that it lost, or
 * CPU_NONE if it was woken; @ran_at: the one that it got then, or CPU_NONE. The trace
 * must have been read.
 */
void runnable_split(struct runnable *runnable, const struct cpus *cpus, uint32_t lost_at, uint32_t ran_at,
		    int64_t from, int64_t until);
void runnable_free(struct runnable *runnable);

#endif /* KUNWIND_ANALYZE_RUNNABLE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grid.h - the times at which a CPU is sampled
 *
 * These are absolute times, one every period. A timer that was off, or late,
 * continues on the same grid. So the chance that a task is sampled depends only
 * on how long it runs, not on when the timer was started: a task that runs for
 * short times between idle times gets its share. Each CPU has a phase of its
 * own, so that CPUs do not take their samples at the same time.
 */
#ifndef _KUNWIND_GRID_H
#define _KUNWIND_GRID_H

#include <linux/types.h>

struct kunwind_grid {
	u64 period;			/* in ns; not 0 */
	u64 phase;			/* below @period */
};

/* @nr: the number of CPUs */
static inline struct kunwind_grid kunwind_grid_of(u32 hz, u32 cpu, u32 nr)
{
	struct kunwind_grid grid = { .period = 1000000000U / hz };

	grid.phase = grid.period * cpu / nr;
	return grid;
}

/* Returns the last time of the grid that is not after @now. */
static __always_inline u64 kunwind_grid_last(struct kunwind_grid grid, u64 now)
{
	return now < grid.phase ? 0 : now - (now - grid.phase) % grid.period;
}

/* Returns the first time of the grid after @now. */
static __always_inline u64 kunwind_grid_next(struct kunwind_grid grid, u64 now)
{
	return now < grid.phase ? grid.phase : kunwind_grid_last(grid, now) + grid.period;
}

#endif /* _KUNWIND_GRID_H */

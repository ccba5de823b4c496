// SPDX-License-Identifier: MIT
/*
 * runnable.c - which threads had the processor while another one could run
 *
 * A preempted thread is in the queue of the processor that it lost. That processor
 * is not idle as long as the thread is there. So if it becomes idle, the thread
 * has moved, and from then on it waited for the threads on the processor where it ran next.
 * A woken thread is in the queue of the processor where it runs then.
 *
 * Memory: that of sums.c for the runs of each processor, and 8 bytes for each idle run.
 */
#include <stdlib.h>

#include "runnable.h"

struct runnable_cpu {
	struct sums_times runs;
	int64_t *idle;		/* when it became idle, in order of time */
	uint32_t nr_idle, cap_idle;
};

static void make(struct runnable *runnable, const struct cpus *cpus)
{
	uint32_t number, i;

	runnable->cpu = needed(calloc(cpus->nr, sizeof(*runnable->cpu)));
	runnable->nr_cpus = cpus->nr;
	for (number = 0; number < cpus->nr; number++) {
		const struct cpu *cpu = &cpus->cpu[number];
		struct runnable_cpu *sums = &runnable->cpu[number];

		sums->runs = (struct sums_times){ .time = cpu->run, .nr = cpu->nr_runs };
		sums_times_make(&sums->runs);
		for (i = 0; i < cpu->nr_runs; i++) {
			if (cpu->run[i].key != cpus->idle)
				continue;
			sums->idle = grown(sums->idle, sums->nr_idle, &sums->cap_idle, sizeof(*sums->idle));
			sums->idle[sums->nr_idle++] = cpu->run[i].begin;
		}
	}
}

/* Returns the first time in [from, until) at which the processor is idle; @until: never. */
static int64_t idle_from(const struct runnable_cpu *cpu, uint32_t idle, int64_t from, int64_t until)
{
	const uint32_t run = sums_time_at(&cpu->runs, from);
	const uint32_t i = not_later(cpu->idle, cpu->nr_idle, sizeof(*cpu->idle), 0, from);

	if (run != UINT32_MAX && cpu->runs.time[run].key == idle)
		return from;
	return i < cpu->nr_idle && cpu->idle[i] < until ? cpu->idle[i] : until;
}

void runnable_split(struct runnable *runnable, const struct cpus *cpus, uint32_t lost_at, uint32_t ran_at,
		    int64_t from, int64_t until)
{
	const uint32_t last = ran_at != CPU_NONE ? ran_at : lost_at;
	int64_t moved = from;

	if (!runnable->cpu && cpus->nr)
		make(runnable, cpus);
	sums_empty(&runnable->split);
	if (lost_at != CPU_NONE) {
		moved = last == lost_at ? until : idle_from(&runnable->cpu[lost_at], cpus->idle, from, until);
		sums_add_times(&runnable->split, &runnable->cpu[lost_at].runs, from, moved);
	}
	if (last != CPU_NONE)
		sums_add_times(&runnable->split, &runnable->cpu[last].runs, moved, until);
	else
		sums_add(&runnable->split, 0, until - from);
}

void runnable_free(struct runnable *runnable)
{
	uint32_t i;

	for (i = 0; i < runnable->nr_cpus; i++) {
		sums_times_free(&runnable->cpu[i].runs);
		free(runnable->cpu[i].idle);
	}
	free(runnable->cpu);
	sums_free(&runnable->split);
}

// SPDX-License-Identifier: MIT
/*
 * runnable.c - which threads had the processor while another one could run
 *
 * A preempted thread is in the queue of the processor that it lost. That processor
 * is not idle as long as the thread is there. So if it becomes idle, the thread
 * has moved, and from then on it waited for the threads on the processor where it ran next.
 * A woken thread is in the queue of the processor where it runs then.
 *
 * Memory: 16 bytes for each name in one split, and 4 for each string of the trace.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runnable.h"

/* Returns the index of the run that a processor has at a time; UINT32_MAX: before the first one. */
static uint32_t run_at(const struct cpu *cpu, int64_t time)
{
	return not_later(cpu->run, cpu->nr_runs, sizeof(*cpu->run), offsetof(struct cpu_run, begin),
			 time) - 1;
}

static void add(struct runnable *split, uint32_t comm, int64_t ns)
{
	uint32_t old = split->cap_slots;

	if (comm >= old) {
		split->cap_slots = comm * 2 + 64;
		split->slot = needed(realloc(split->slot, split->cap_slots * sizeof(*split->slot)));
		memset(&split->slot[old], 0, (split->cap_slots - old) * sizeof(*split->slot));
	}
	if (!split->slot[comm]) {
		split->part = grown(split->part, split->nr, &split->cap, sizeof(*split->part));
		split->part[split->nr] = (struct runnable_part){ .comm = comm };
		split->slot[comm] = ++split->nr;
	}
	split->part[split->slot[comm] - 1].ns += ns;
}

/*
 * Adds the threads that a processor ran. With @stop, ends when it becomes idle. Returns that
 * time, or @until.
 */
static int64_t add_runs(struct runnable *split, const struct cpus *cpus, uint32_t number, int64_t from,
			int64_t until, bool stop)
{
	const struct cpu *cpu = number == CPU_NONE ? NULL : &cpus->cpu[number];
	uint32_t i = cpu ? run_at(cpu, from) : UINT32_MAX;
	int64_t end;

	for (; from < until; i++, from = end) {
		end = cpu && i + 1 < cpu->nr_runs ? cpu->run[i + 1].begin : until;
		if (end > until)
			end = until;
		if (i == UINT32_MAX) {
			add(split, 0, end - from);
			continue;
		}
		if (stop && cpu->run[i].comm == cpus->idle)
			return from;
		if (end > from)
			add(split, cpu->run[i].comm, end - from);
	}
	return until;
}

void runnable_split(struct runnable *split, const struct cpus *cpus, uint32_t lost_at, uint32_t ran_at,
		    int64_t from, int64_t until)
{
	while (split->nr > 0)
		split->slot[split->part[--split->nr].comm] = 0;
	if (lost_at != CPU_NONE)
		from = add_runs(split, cpus, lost_at, from, until, ran_at != CPU_NONE && ran_at != lost_at);
	add_runs(split, cpus, ran_at != CPU_NONE ? ran_at : lost_at, from, until, false);
}

void runnable_free(struct runnable *split)
{
	free(split->part);
	free(split->slot);
}

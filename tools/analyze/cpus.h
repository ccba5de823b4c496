/* SPDX-License-Identifier: MIT */
/*
 * cpus.h - what each processor does: since when its thread runs, and which
 * interrupt it is in
 */
#ifndef KUNWIND_ANALYZE_CPUS_H
#define KUNWIND_ANALYZE_CPUS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "sums.h"
#include "trace/event.h"

enum { CPU_DEPTH = 8, CPU_SOFTIRQS = 10 };

#define CPU_NONE	UINT32_MAX

struct cpu {
	const void *trace;
	int64_t number;
	int64_t since;		/* time of the last sched_switch; -1: none yet */
	int64_t tid;		/* of the thread that got the CPU then, as in sched_switch */
	struct sums_time *run;	/* by string: name of the thread; only with cpus->keep_runs */
	uint32_t nr_runs;
	/* private to cpus.c */
	uint32_t cap_runs;
	uint32_t interrupt[CPU_DEPTH];	/* strings: names of the interrupts that it is in */
	int depth, softirq;	/* softirq: number of the one that runs; -1: none */
	bool by_thread[CPU_SOFTIRQS];	/* the thread itself raised it */
	bool raised[CPU_SOFTIRQS];
};

struct cpus {
	struct cpu *cpu;
	uint32_t nr, cap, last;
	bool interrupts;	/* the trace has events of interrupts */
	bool keep_runs;
	uint32_t idle;		/* string: what runs have for the idle threads */
};

void cpus_free(struct cpus *cpus);

/* Keeps the runs. Call it before reading. */
void cpus_keep_runs(struct cpus *cpus, struct calls *calls);

/* Returns the index of a processor; CPU_NONE for NULL. */
static inline uint32_t cpus_index(const struct cpus *cpus, const struct cpu *cpu)
{
	return cpu ? (uint32_t)(cpu - cpus->cpu) : CPU_NONE;
}

/* Returns the processor, made if needed; valid until the next call. NULL: not known. */
struct cpu *cpus_of(struct cpus *cpus, const void *trace, int64_t number);

/* Takes an event; does nothing if it is not one of an interrupt. */
void cpus_interrupt(struct cpus *cpus, struct calls *calls, const void *trace,
		    const struct kunwind_head *head, const bt_event *event);

/* Takes a sched_switch. @begin: of the trace. */
void cpus_switched(struct cpus *cpus, struct cpu *cpu, struct calls *calls, const bt_event *event,
		   int64_t time, int64_t begin);

/*
 * Returns the name of the interrupt that the processor is in (a string of calls);
 * 0: its thread runs, or a softirq which that thread raised itself. Loopback
 * packets arrive in such a one: their sender is the waker.
 */
uint32_t cpu_in_interrupt(const struct cpu *cpu, struct calls *calls);

#endif /* KUNWIND_ANALYZE_CPUS_H */

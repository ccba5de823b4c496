// SPDX-License-Identifier: GPL-2.0-only
/*
 * interrupt_budget.c - limit the average cost of walks in hard interrupts and
 * NMIs
 *
 * perf measures the time of its NMI handler. If the running average of 128
 * samples exceeds perf's limit, perf lowers perf_event_max_sample_rate (from
 * 100,000 Hz), so that a handler that takes 1.25 times the average uses a
 * quarter of the time. The rate stays low for all users until an administrator
 * raises it. For the rate to stay at or above 4,000 Hz, the default of perf
 * record, the average must be at most 50 us, whatever stacks a task has.
 *
 * Each CPU has a token bucket. A token is one unit of the budget of walks
 * (core/walk/mem.h). Each walk in a hard interrupt or NMI adds REFILL tokens to
 * the bucket, which holds at most CAPACITY, takes its budget from the bucket,
 * and returns the tokens that it did not spend. Therefore any N such walks
 * spend at most N * REFILL + CAPACITY units. For N = 128, these are 960 units a
 * walk, of at most 141 instructions each (tests/vm/check/t-walk-cost.sh): 45 us
 * at 3 GHz and one instruction a cycle. Each walk has at least REFILL units. A
 * task with expensive stacks reduces the budget of other walks in interrupts of
 * the same CPU to REFILL, never below it.
 *
 * Memory: 4 bytes a CPU. Any context, with preemption off. An NMI between the
 * two calls of a walk takes from the same bucket; each change is a single
 * instruction, so no update is lost.
 */
#include <linux/kernel.h>
#include <linux/percpu.h>

#include "../core/walk/mem.h"
#include "interrupt_budget.h"

#define REFILL		896	/* tokens that each walk adds */
#define CAPACITY	(2 * KUNWIND_BUDGET_URGENT)	/* tokens */

static DEFINE_PER_CPU(u32, tokens) = CAPACITY;

u32 notrace kunwind_interrupt_budget_take(u32 most)
{
	u32 before, after, taken;

	do {
		before = this_cpu_read(tokens);
		after = min(before + REFILL, (u32)CAPACITY);
		taken = min(after, most);
	} while (this_cpu_cmpxchg(tokens, before, after - taken) != before);
	return taken;
}

void notrace kunwind_interrupt_budget_return(u32 units)
{
	this_cpu_add(tokens, units);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * interrupt_budget.c - limit the average cost of walks in hard interrupts and
 * NMIs, and of walks with interrupts off or in softirqs
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
 * walk, of at most 154 instructions each (tests/vm/check/t-walk-cost.sh): 49 us
 * at 3 GHz and one instruction a cycle. Each walk has at least REFILL units. A
 * task with expensive stacks reduces the budget of other walks in interrupts of
 * the same CPU to REFILL, never below it.
 *
 * An NMI between the two calls of a walk takes from the same bucket; each
 * change is a single instruction, so no update is lost.
 *
 * Bursts: a task may cause thousands of events while it has interrupts off. For
 * example, a write to an eventfd wakes all threads that poll it, and a tracer
 * may record the stack of the waker with each wakeup. Softirqs may cause as many
 * events, for each packet or each callback of RCU, with the stack of the task
 * that they interrupt. So walks with interrupts off and walks in softirqs share
 * a second bucket, which time refills: one token each 256 ns. An expensive walk
 * spends a token in some 50 ns. A walk that finds the bucket empty has LEAST
 * units, enough for 21 frames with unwind information (any number if their rules
 * are in the cache). Only a walk that finds too few tokens reads the clock. So
 * the time of a pause before a burst counts when the first bucket is spent: a
 * burst may spend twice CAPACITY before the limit holds.
 *
 * Memory: 16 bytes a CPU. Any context, with preemption off.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/timekeeping.h>

#include "../core/walk/mem.h"
#include "interrupt_budget.h"

#define REFILL		800	/* tokens that each walk adds */
#define CAPACITY	(2 * KUNWIND_BUDGET_URGENT)	/* tokens */
#define TOKEN_SHIFT	8	/* log2 of the ns for one more token of a burst */
#define LEAST		64	/* units of each walk of a burst */

static DEFINE_PER_CPU(u32, tokens) = CAPACITY;
/* Walks with interrupts off and walks in softirqs do not interrupt each other. */
static DEFINE_PER_CPU(u32, burst_tokens) = CAPACITY;
static DEFINE_PER_CPU(u64, burst_filled);	/* tokens were added up to this time, ns */

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

u32 notrace kunwind_burst_budget_take(u32 most)
{
	u64 left = this_cpu_read(burst_tokens), filled = this_cpu_read(burst_filled), more;

	if (left < most) {
		more = (ktime_get_mono_fast_ns() - filled) >> TOKEN_SHIFT;
		left = min(left + more, (u64)CAPACITY);
		this_cpu_write(burst_tokens, left);
		this_cpu_write(burst_filled, filled + (more << TOKEN_SHIFT));
	}
	return clamp(left, (u64)LEAST, (u64)most);
}

void notrace kunwind_burst_budget_spend(u32 units)
{
	const u32 left = this_cpu_read(burst_tokens);

	this_cpu_write(burst_tokens, left - min(left, units));
}

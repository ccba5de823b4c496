// SPDX-License-Identifier: GPL-2.0-only
/*
 * credit.c - limit what walks in hard interrupts and NMIs cost on average
 *
 * perf measures the time of its NMI handler. While the running average of 128
 * samples is above what it allows, perf lowers perf_event_max_sample_rate (from
 * 100,000 Hz), to what leaves the handler a quarter of the time if it takes 1.25
 * times as long. The rate stays low for all users until an administrator raises
 * it. So that it stays at 4,000 Hz, the default of perf record, the average has to
 * be at most 50 us, whatever stacks a task has.
 *
 * Each CPU has a credit in units of the budget (core/walk/mem.h). Each walk in an
 * interrupt adds EACH, up to MOST in all, takes its budget from the credit, and
 * gives back what it did not spend. Any N such walks thus spend at most
 * N * EACH + MOST units: 960 each for N = 128, of at most 141 instructions
 * (tests/vm/t-walk-cost.sh), which is 45 us at 3 GHz and one instruction a cycle.
 * Each walk has at least EACH units. A task with expensive stacks reduces the budget
 * of other walks in interrupts of the same CPU to EACH, never below it.
 *
 * Memory: 4 bytes a CPU. Any context, preemption off. An NMI between the two calls
 * of a walk takes from the same credit, which is changed by one instruction.
 */
#include <linux/kernel.h>
#include <linux/percpu.h>

#include "../core/walk/mem.h"
#include "credit.h"

#define EACH	896
#define MOST	(2 * KUNWIND_BUDGET_URGENT)

static DEFINE_PER_CPU(u32, credit) = MOST;

u32 notrace kunwind_credit_take(u32 most)
{
	u32 before, after, taken;

	do {
		before = this_cpu_read(credit);
		after = min(before + EACH, (u32)MOST);
		taken = min(after, most);
	} while (this_cpu_cmpxchg(credit, before, after - taken) != before);
	return taken;
}

void notrace kunwind_credit_return(u32 units)
{
	this_cpu_add(credit, units);
}

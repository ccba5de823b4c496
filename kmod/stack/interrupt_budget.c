// SPDX-License-Identifier: GPL-2.0-only
/*
 * interrupt_budget.c - limit what walks in hard interrupts and NMIs cost on
 * average
 *
 * perf measures the time of its NMI handler. If the running average of 128
 * samples exceeds perf's limit, perf lowers perf_event_max_sample_rate (from
 * 100,000 Hz), so that a handler that takes 1.25 times the average uses a
 * quarter of the time. The rate stays low for all users until an administrator
 * raises it. For the rate to stay at or above 4,000 Hz, the default of perf
 * record, the average must be at most 50 us, whatever stacks a task has.
 *
 * Each CPU has a credit in units of the budget (core/walk/mem.h). Each walk in
 * a hard interrupt or NMI adds EACH units to the credit, which is at most MOST,
 * takes its budget from the credit, and gives back the units that it did not
 * spend. Therefore any N such walks spend at most N * EACH + MOST units: for N
 * = 128, 960 units each, of at most 141 instructions (tests/vm/t-walk-cost.sh),
 * which is 45 us at 3 GHz and one instruction a cycle. Each walk has at least
 * EACH units. A task with expensive stacks reduces the budget of other walks in
 * interrupts of the same CPU to EACH, never below it.
 *
 * Memory: 4 bytes a CPU. Any context, with preemption off. An NMI between the
 * two calls of a walk takes from the same credit; each change is a single
 * instruction, so no update is lost.
 */
#include <linux/kernel.h>
#include <linux/percpu.h>

#include "../core/walk/mem.h"
#include "interrupt_budget.h"

#define EACH	896
#define MOST	(2 * KUNWIND_BUDGET_URGENT)

static DEFINE_PER_CPU(u32, credit) = MOST;

u32 notrace kunwind_interrupt_budget_take(u32 most)
{
	u32 before, after, taken;

	do {
		before = this_cpu_read(credit);
		after = min(before + EACH, (u32)MOST);
		taken = min(after, most);
	} while (this_cpu_cmpxchg(credit, before, after - taken) != before);
	return taken;
}

void notrace kunwind_interrupt_budget_return(u32 units)
{
	this_cpu_add(credit, units);
}

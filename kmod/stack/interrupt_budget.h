/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * interrupt_budget.h - limit the average cost of walks in hard interrupts and
 * NMIs, and of walks with interrupts off or in softirqs
 *
 * Any context. Preemption is off from kunwind_interrupt_budget_take() to
 * kunwind_interrupt_budget_return().
 */
#ifndef _KUNWIND_INTERRUPT_BUDGET_H
#define _KUNWIND_INTERRUPT_BUDGET_H

#include <linux/types.h>

/*
 * Returns the budget of one walk, in units: at most @most, and 0 only if @most
 * is 0.
 */
u32 kunwind_interrupt_budget_take(u32 most);
/* Returns the units that the walk did not spend to the CPU's token bucket. */
void kunwind_interrupt_budget_return(u32 units);

/*
 * The same for a walk in a softirq, or for a walk with interrupts off that is in
 * no hard interrupt or NMI. take() returns the budget of the walk, at most @most.
 * spend() takes the @units that the walk has spent from the bucket. Preemption
 * is off from take() to spend().
 */
u32 kunwind_burst_budget_take(u32 most);
void kunwind_burst_budget_spend(u32 units);

#endif /* _KUNWIND_INTERRUPT_BUDGET_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * interrupt_budget.h - limit what walks in hard interrupts and NMIs cost on average
 *
 * Any context. Preemption is off from kunwind_interrupt_budget_take() to
 * kunwind_interrupt_budget_return().
 */
#ifndef _KUNWIND_INTERRUPT_BUDGET_H
#define _KUNWIND_INTERRUPT_BUDGET_H

#include <linux/types.h>

/*
 * Returns the budget of one walk, in units, at most @most. Never 0 if @most is
 * not.
 */
u32 kunwind_interrupt_budget_take(u32 most);
/* Gives back the units that the walk did not spend. */
void kunwind_interrupt_budget_return(u32 units);

#endif /* _KUNWIND_INTERRUPT_BUDGET_H */

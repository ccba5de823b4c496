/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * credit.h - limit what walks in hard interrupts and NMIs cost on average; see credit.c
 *
 * Any context, with preemption off from one call to the other.
 */
#ifndef _KUNWIND_CREDIT_H
#define _KUNWIND_CREDIT_H

#include <linux/types.h>

/* The budget of one walk, in units: at most @most. */
u32 kunwind_credit_take(u32 most);
/* Gives back what the walk did not spend. */
void kunwind_credit_return(u32 units);

#endif /* _KUNWIND_CREDIT_H */

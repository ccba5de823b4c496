/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_ids.h - number the stacks of kunwind_callstack_whole
 */
#ifndef _KUNWIND_STACK_IDS_H
#define _KUNWIND_STACK_IDS_H

#include "stack.h"

struct kunwind_stack_ids;		/* of one CPU */

/* @cpu: the table's. Returns NULL if out of memory. May sleep. */
struct kunwind_stack_ids *kunwind_stack_ids_alloc(int cpu);
/* Call it after a grace period. May sleep. @ids may be NULL. */
void kunwind_stack_ids_free(struct kunwind_stack_ids *ids);

/**
 * kunwind_stack_ids_number() - set the id of a stack, and which of its addresses
 * the event has to hold
 * @ids: of this CPU
 * @stack: in: the members before ->id; out: the others
 * Any context, NMI included; preemption off. notrace.
 */
void kunwind_stack_ids_number(struct kunwind_stack_ids *ids, struct kunwind_stack *stack);

#endif /* _KUNWIND_STACK_IDS_H */

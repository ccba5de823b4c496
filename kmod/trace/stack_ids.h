/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_ids.h - number the stacks of kunwind_callstack_whole
 */
#ifndef _KUNWIND_STACK_IDS_H
#define _KUNWIND_STACK_IDS_H

#include "stack.h"

struct kunwind_stack_ids;		/* of one CPU */

/*
 * An id has its CPU above these bits. Stacks get new ids less than some million
 * times a second, so a CPU's counter takes weeks to fill them.
 */
#define KUNWIND_STACK_ID_BITS	41
#define KUNWIND_STACK_ID_MASK	((1ULL << KUNWIND_STACK_ID_BITS) - 1)

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

#define KUNWIND_NO_SLOT		(~0U)
/*
 * The same for an event that the caller emits only if ->inner is not 0. Returns
 * the slot of the stack; KUNWIND_NO_SLOT: it has none.
 */
u32 kunwind_stack_ids_define(struct kunwind_stack_ids *ids, struct kunwind_stack *stack);

/*
 * Returns whether @id, which kunwind_stack_ids_define() set when it returned @slot,
 * needs no new definition yet. The same contexts.
 */
bool kunwind_stack_ids_defined(const struct kunwind_stack_ids *ids, u32 slot, u64 id);

#endif /* _KUNWIND_STACK_IDS_H */

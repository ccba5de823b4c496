/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_context.h - give events of LTTng the id of their user stack
 */
#ifndef _KUNWIND_STACK_CONTEXT_H
#define _KUNWIND_STACK_CONTEXT_H

/* Makes the PMU "kunwind". After an error, which is logged, there is none. May sleep. */
void kunwind_stack_context_init(void);
/* No event of perf uses the PMU any more, because each has a reference to the module. May sleep. */
void kunwind_stack_context_exit(void);

#endif /* _KUNWIND_STACK_CONTEXT_H */

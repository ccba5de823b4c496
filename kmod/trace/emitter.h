/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * emitter.h - memory and probe of the event kunwind_callstack, while it is on
 */
#ifndef _KUNWIND_EMITTER_H
#define _KUNWIND_EMITTER_H

#include <linux/types.h>

#include "../uapi/kunwind.h"

struct kunwind_stack_ids;
struct pt_regs;

#define KUNWIND_CONTEXTS	4	/* interrupt_context_level(): task, softirq, hardirq, NMI */
#define KUNWIND_MARK_BITS	10

/* Memory for a stack, of one context of one CPU. */
struct kunwind_scratch {
	bool busy;
	u8 trust[KUNWIND_MAX_FRAMES];	/* between two uses: REGISTERS, then only CFI */
	unsigned long addresses[KUNWIND_MAX_FRAMES];
};

struct kunwind_emitter {
	u64 mark[1 << KUNWIND_MARK_BITS];
	struct {
		struct kunwind_scratch *scratch;	/* KUNWIND_CONTEXTS of them */
		struct kunwind_stack_ids *ids;
	} cpu[];					/* each possible CPU */
};

/* NULL: the event is off. Read with preemption off, in any context. */
extern struct kunwind_emitter __rcu *kunwind_emitter;

/*
 * Sets the probe of sys_enter, which is registered while the event is on. Call
 * it once, in the module's init. The event may be on before that; until then it
 * has memory, and no probe.
 */
void kunwind_emitter_init(void (*probe)(void *data, struct pt_regs *regs, long id));
/*
 * Call it when nothing emits the event any more. On return the probe is not
 * registered, and the memory is freed. May sleep.
 */
void kunwind_emitter_exit(void);

#endif /* _KUNWIND_EMITTER_H */

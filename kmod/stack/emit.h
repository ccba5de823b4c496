/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * emit.h - the trace event kunwind_callstack: whole stacks, once for each kernel entry
 */
#ifndef _KUNWIND_EMIT_H
#define _KUNWIND_EMIT_H

#include "../space/space.h"
#include "../trace/trace_hooks.h"

struct pt_regs;
struct seq_file;

void kunwind_emit_init(void);
/* May sleep. When no hook and no call of the event comes any more. */
void kunwind_emit_exit(void);

/* Is the event on? One branch that is patched. */
static __always_inline bool kunwind_emit_wanted(void)
{
	return trace_kunwind_callstack_enabled() || trace_kunwind_callstack_whole_enabled();
}

/**
 * kunwind_emit() - emit the current task's stack, if this kernel entry's was not yet
 * Arguments as those of kunwind_callstack_walk(), which it calls; @store gets what
 * that would give there. @size may be 0.
 * Return: false when nothing was emitted: then nothing was stored.
 */
bool kunwind_emit(struct kunwind_space *space, const struct pt_regs *regs, u32 valid,
		  unsigned long *store, u32 size, u32 *count);

void kunwind_emit_show(struct seq_file *m);

#endif /* _KUNWIND_EMIT_H */

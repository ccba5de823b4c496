/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * take.h - take a sample of what this CPU executes
 */
#ifndef _KUNWIND_TAKE_H
#define _KUNWIND_TAKE_H

#include "../trace/sample.h"

struct kunwind_sample_memory;
struct pt_regs;
struct seq_file;

/* Why a sample is not taken, and the name of this reason in the status. */
#define KUNWIND_SKIP_NAMES(X)							\
	X(IDLE, "idle")			/* the idle task runs */			\
	X(UNREGISTERED, "unregistered")	/* sample_all is N */				\
	X(DISABLED, "disabled")		/* enabled=N, or a hook is missing */		\
	X(NESTED, "nested")		/* an NMI during a sample */

enum kunwind_skip {
#define KUNWIND_SKIP_VALUE(skip, name)	KUNWIND_SKIP_##skip,
	KUNWIND_SKIP_NAMES(KUNWIND_SKIP_VALUE)
#undef KUNWIND_SKIP_VALUE
	KUNWIND_NR_SKIPS
};

/*
 * Allocates, for each CPU, memory for one sample and for ids of stacks. NULL:
 * out of memory. May sleep.
 */
struct kunwind_sample_memory *kunwind_sample_memory_alloc(void);
/* @memory may be NULL. */
void kunwind_sample_memory_free(struct kunwind_sample_memory *memory);

/*
 * Sets the memory of all CPUs. NULL: samples are skipped; the caller waits for
 * an RCU grace period before it frees the memory.
 */
void kunwind_sample_memory_use(struct kunwind_sample_memory *memory);

/**
 * kunwind_sample_take() - emit kunwind_sample for the current task
 * @regs: those of the interrupt or NMI
 * @period: weight, in the unit of @clock
 * Hard interrupt or NMI. notrace. Counts the sample, or why there is none.
 */
void kunwind_sample_take(struct pt_regs *regs, u64 period, enum kunwind_clock clock);

/* Counts a sample that is not taken. Any context with preemption off. */
void kunwind_sample_skip(enum kunwind_skip why);

void kunwind_sample_take_show_params(struct seq_file *m);
void kunwind_sample_take_show(struct seq_file *m);

#endif /* _KUNWIND_TAKE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h - a sample of a processor, as the probes of kunwind_sample get it
 */
#ifndef _KUNWIND_SAMPLE_H
#define _KUNWIND_SAMPLE_H

#include <linux/tracepoint.h>
#include <linux/types.h>
#include "compat/trace.h"
#include "stack.h"

/* A kernel stack has at most this many addresses, like LTTng's context. */
#define KUNWIND_MAX_KERNEL_FRAMES	128

/* The clocks, which decide when a sample is taken: a list for enum and names. */
#define KUNWIND_CLOCK_NAMES(X)							\
	X(CPU, "cpu-clock")	/* a timer of the CPU; weights in nanoseconds */	\
	X(CYCLES, "cycles")	/* a counter of the CPU; weights in cycles */

enum kunwind_clock {
#define KUNWIND_CLOCK_VALUE(clock, name)	KUNWIND_CLOCK_##clock,
	KUNWIND_CLOCK_NAMES(KUNWIND_CLOCK_VALUE)
#undef KUNWIND_CLOCK_VALUE
	KUNWIND_NR_CLOCKS
};

/**
 * struct kunwind_sample - what the current task executes; valid during the call
 * only
 * @stack: the user part. ->count and ->id are 0 if there is none (a kernel
 *	thread); ->syscall is -1 if user code was interrupted
 * @kernel: @kernel_count addresses of the kernel part, innermost first: the
 *	program counter, then return addresses
 * @kernel_count: 0 if user code was interrupted
 * @period: weight of the sample: what has passed since this CPU's last sampling
 *	time, without idle time, in the unit of @clock
 */
struct kunwind_sample {
	struct kunwind_stack stack;
	const unsigned long *kernel;
	u32 kernel_count;
	enum kunwind_clock clock;
	u64 period;
};

/* Called by the tracepoint when it is turned on and off. May sleep. */
int kunwind_sample_begin(void);
void kunwind_sample_end(void);

/*
 * Sets the function that begins (true) and ends (false) sampling; NULL: none,
 * and the tracepoint cannot be turned on any more. If the tracepoint was turned
 * on before the module's init, this calls @change(true). May sleep.
 */
void kunwind_sample_serve(int (*change)(bool on));

KUNWIND_DECLARE_TRACE(kunwind_sample,
	TP_PROTO(const struct kunwind_sample *sample),
	TP_ARGS(sample));

#endif /* _KUNWIND_SAMPLE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.h - interfaces between the files of kunwind_bench.ko
 */
#ifndef _KUNWIND_BENCH_H
#define _KUNWIND_BENCH_H

#include <linux/types.h>

/*
 * The kernel's stack_trace_save_user(), by its first instruction: hooks apply.
 */
typedef unsigned int bench_save_fn(unsigned long *store, unsigned int size);
extern bench_save_fn *bench_save_user;

/*
 * Calls stack_trace_save_user() for @size addresses. Returns the TSC difference
 * of the call; *frames: addresses found. Preemption must be off.
 */
u64 bench_count(unsigned long *store, unsigned int size, unsigned int *frames);

/*
 * Returns the address of a function that need not be exported, or NULL. May
 * sleep.
 */
void *bench_symbol(const char *name);

int bench_record_init(void);
void bench_record_exit(void);

#endif /* _KUNWIND_BENCH_H */

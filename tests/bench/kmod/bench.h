/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench.h - what the files of kunwind_bench.ko share
 */
#ifndef _KUNWIND_BENCH_H
#define _KUNWIND_BENCH_H

#include <linux/types.h>

/* The kernel's stack_trace_save_user(), through its first instruction and what hooks it. */
typedef unsigned int bench_save_fn(unsigned long *store, unsigned int size);
extern bench_save_fn *bench_save_user;

/* Instructions of one call; interrupts are off. The address of what is not exported; NULL. */
u64 bench_count(unsigned long *store, unsigned int size, unsigned int *frames);
void *bench_symbol(const char *name);

int bench_record_init(void);
void bench_record_exit(void);

#endif /* _KUNWIND_BENCH_H */

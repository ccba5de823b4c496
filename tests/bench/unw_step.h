/* SPDX-License-Identifier: MIT */
/*
 * unw_step.h - for the benches that compare the walk with libunwind's: its walk
 * step by step, and the time
 */
#ifndef _KUNWIND_BENCH_UNW_STEP_H
#define _KUNWIND_BENCH_UNW_STEP_H

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <time.h>

#include "kunwind_core.h"

/* Nanoseconds. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Stores at most @most addresses. Returns how many. */
static noinline u32 walk_step(unsigned long *store, u32 most)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;
	u32 n = 0;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		store[n++] = ip;
	} while (n < most && unw_step(&cursor) > 0);
	return n;
}

#endif /* _KUNWIND_BENCH_UNW_STEP_H */

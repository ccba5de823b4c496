/* SPDX-License-Identifier: MIT */
/*
 * lines.h - count the lines of the data cache that a walk touches
 *
 * The compiler calls lines.c before every access to memory of a core that was
 * built with -fsanitize=thread (its run-time library is not linked). Accesses
 * to locals that stay in the function are not counted, and need not be.
 */
#ifndef _KUNWIND_BENCH_LINES_H
#define _KUNWIND_BENCH_LINES_H

#include "kunwind_core.h"

#define LINE_SIZE	64

struct lines {
	u32 stack;	/* of the walked stack */
	u32 cache;	/* of the cache of rules */
	u32 table;	/* of tables */
	u32 other;	/* ranges, registers, addresses out */
};

#ifdef COUNTED	/* such a core is linked, and lines.c */
#define lines_counted	true

/* Count each line once between the two calls. The walked stack: [lo, hi). */
void lines_begin(void);
void lines_end(u64 lo, u64 hi, const struct kunwind_walk *walk, struct lines *lines);
#else
#define lines_counted	false

static inline void lines_begin(void)
{
}

static inline void lines_end(u64 lo, u64 hi, const struct kunwind_walk *walk, struct lines *lines)
{
	(void)lo, (void)hi, (void)walk;
	*lines = (struct lines){ 0 };
}
#endif

#endif /* _KUNWIND_BENCH_LINES_H */

/* SPDX-License-Identifier: MIT */
/*
 * cost.h - count the work of the core in a way that does not depend on the machine
 *
 * The core is compiled with -fsanitize-coverage=trace-pc, so that each basic
 * block adds one to cost_spent, and with this header included first, so that
 * each call of memcpy, memset, memmove, memcmp and calloc adds one for each
 * eight bytes. The same bytes cost the same in every run.
 */
#ifndef _TEST_COST_H
#define _TEST_COST_H

#include <stdlib.h>
#include <string.h>

extern unsigned long cost_spent;

#ifdef COST_CORE
static inline __attribute__((__always_inline__)) size_t cost_of(size_t bytes)
{
	cost_spent += bytes / 8;
	return bytes;
}

#define memcpy(to, from, n)	memcpy(to, from, cost_of(n))
#define memmove(to, from, n)	memmove(to, from, cost_of(n))
#define memset(to, byte, n)	memset(to, byte, cost_of(n))
#define memcmp(a, b, n)		memcmp(a, b, cost_of(n))
#define calloc(nr, n)		calloc(nr, cost_of(n))
#endif

#endif /* _TEST_COST_H */

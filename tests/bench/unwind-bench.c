// SPDX-License-Identifier: MIT
/*
 * unwind-bench.c - libkunwind-unwind against unw_backtrace(), unw_step() and glibc's
 * backtrace(), by the same stacks in one run
 *
 * Prints, for each depth, nanoseconds a frame and the ratio to unw_backtrace(), which is
 * the quickest of the others. Warm: the same stack again. The median of rounds in which all
 * take turns, so that a busy machine slows all of them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <kunwind/unwind.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <time.h>

#include "median.h"

#define MOST	1000
#define ROUNDS	41

static struct kunwind_unwinder *by_tables, *by_fdes;
static uint64_t addresses[MOST];

static size_t take(struct kunwind_unwinder *unwinder)
{
	struct kunwind_stack_walk walk;

	kunwind_walk_begin_here(&walk, unwinder);
	return kunwind_walk_addresses(&walk, addresses, MOST);
}

static size_t take_tables(void)
{
	return take(by_tables);
}

static size_t take_fdes(void)
{
	return take(by_fdes);
}

static size_t take_frames(void)
{
	struct kunwind_stack_frame frame;
	struct kunwind_stack_walk walk;
	size_t n = 0;

	kunwind_walk_begin_here(&walk, by_tables);
	while (kunwind_walk_next(&walk, &frame))
		addresses[n++] = frame.ip;
	return n;
}

static size_t take_unw_backtrace(void)
{
	return unw_backtrace((void **)addresses, MOST);
}

static size_t take_unw_step(void)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;
	size_t n = 0;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		addresses[n++] = ip;
	} while (n < MOST && unw_step(&cursor) > 0);
	return n;
}

/* libunwind has a function of this name, too. */
static int (*libc_backtrace)(void **addresses, int most);

static size_t take_backtrace(void)
{
	return libc_backtrace((void **)addresses, MOST);
}

static const struct {
	const char *name;
	size_t (*take)(void);
	int times;
} ways[] = {
	{ "unw_backtrace", take_unw_backtrace, 2000 },
	{ "kunwind_walk_addresses, tables", take_tables, 2000 },
	{ "kunwind_walk_addresses, single FDEs", take_fdes, 2000 },
	{ "kunwind_walk_next, tables", take_frames, 2000 },
	{ "backtrace", take_backtrace, 100 },
	{ "unw_step", take_unw_step, 100 },
};
#define WAYS	(sizeof(ways) / sizeof(ways[0]))

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void measure(void)
{
	static double cost[WAYS][ROUNDS];
	size_t way, frames[WAYS];
	int round, i;
	double start, base = 0, result;

	for (round = 0; round < ROUNDS; round++)
		for (way = 0; way < WAYS; way++) {
			frames[way] = ways[way].take();
			start = now();
			for (i = 0; i < ways[way].times; i++)
				ways[way].take();
			cost[way][round] = (now() - start) / ways[way].times / frames[way];
		}
	for (way = 0; way < WAYS; way++) {
		result = median(cost[way], ROUNDS);
		base = way ? base : result;
		printf("%4zu frames  %-36s %7.1f ns a frame  %6.2f of unw_backtrace\n", frames[way],
		       ways[way].name, result, result / base);
	}
}

static void __attribute__((__noinline__)) deeper(int depth)
{
	if (depth > 1)
		deeper(depth - 1);
	else
		measure();
	__asm__ __volatile__("");
}

int main(void)
{
	static const int depth[] = { 10, 43, 448 };
	size_t i;

	by_tables = kunwind_unwinder_new(KUNWIND_UNWINDER_TABLES, 0);
	by_fdes = kunwind_unwinder_new(0, 0);
	*(void **)&libc_backtrace = dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), "backtrace");
	if (!by_tables || !by_fdes || !libc_backtrace)
		return 1;
	for (i = 0; i < sizeof(depth) / sizeof(depth[0]); i++)
		deeper(depth[i]);
	return 0;
}

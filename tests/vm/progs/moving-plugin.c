// SPDX-License-Identifier: MIT
/*
 * moving-plugin.c - functions in a library that moving.c loads and unloads
 */
#include <alloca.h>
#include <string.h>

#include "moving.h"

#define NOINLINE	__attribute__((noinline, noclone))
#define KEEP()		__asm__ volatile("" ::: "memory")

static NOINLINE void plain(int depth, moving_fn *next)
{
	next(depth);
	KEEP();
}

static NOINLINE void wide(int depth, moving_fn *next)
{
	volatile char block[700];

	block[depth] = 1;
	next(depth);
	block[depth + 1] = block[depth];
}

static NOINLINE void aligned(int depth, moving_fn *next)
{
	_Alignas(64) volatile char block[128];
	volatile char *more = alloca(32 + (unsigned)depth);

	block[0] = more[0] = 1;
	next(depth);
	block[1] = more[0];
}

static NOINLINE void twice(int depth, moving_fn *next)
{
	if (depth & 1)
		plain(depth, next);
	else
		aligned(depth, next);
	KEEP();
}

moving_plugin_fn *const moving_plugin_table[] = { plain, wide, aligned, twice };
const int moving_plugin_nr = 4;

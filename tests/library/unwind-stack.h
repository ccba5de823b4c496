/* SPDX-License-Identifier: MIT */
/*
 * unwind-stack.h - a stack whose return addresses are known, for tests of libkunwind-unwind
 *
 * Each call of deeper() notes its own return address. The frames have different sizes.
 */
#ifndef _TEST_UNWIND_STACK_H
#define _TEST_UNWIND_STACK_H

#include <alloca.h>
#include <string.h>
#include <kunwind/unwind.h>

#include "../unit/tap.h"

#define STACK_MOST	4000

/* How an unwinder finds rules. */
static const struct {
	unsigned int flags;
	const char *kind;
} unwinders[] __attribute__((__unused__)) = {
	{ 0, "single FDEs" },
	{ KUNWIND_UNWINDER_TABLES, "tables" },
	{ KUNWIND_UNWINDER_THREAD, "tables of a thread" },
};

static __thread uint64_t stack_true[STACK_MOST];	/* return addresses, the outermost first */
static __thread int stack_depth;
static uint64_t stack_seen[STACK_MOST + 100];

/* Compilers must not turn the calls into a loop, nor remove the frames. */
static void __attribute__((__noinline__, __unused__)) deeper(int depth, void (*last)(void))
{
	volatile char *some = alloca(16 + depth % 7 * 24);

	some[0] = depth;
	stack_true[stack_depth++] = (uint64_t)__builtin_return_address(0);
	if (depth > 1)
		deeper(depth - 1, last);
	else
		last();
	some[1] = depth;
	stack_depth--;
}

/* Walks to the end. Returns the number of frames in stack_seen[]. */
static inline int stack_walk(struct kunwind_stack_walk *walk)
{
	struct kunwind_stack_frame frame;
	int nr = 0;

	while (nr < STACK_MOST + 100 && kunwind_walk_next(walk, &frame))
		stack_seen[nr++] = frame.ip;
	return nr;
}

/* Whether the last @depth return addresses are stack_seen[from] and those after it. */
static inline bool stack_right(int nr, int from, int depth)
{
	int i;

	for (i = 0; i < depth; i++)
		if (from + i >= nr || stack_seen[from + i] != stack_true[stack_depth - 1 - i]) {
			printf("# frame %d of %d: %#lx is not %#lx\n", from + i, nr,
			       from + i < nr ? stack_seen[from + i] : 0,
			       stack_true[stack_depth - 1 - i]);
			return false;
		}
	return true;
}

#endif /* _TEST_UNWIND_STACK_H */

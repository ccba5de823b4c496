/* SPDX-License-Identifier: MIT */
/*
 * unwind-pages-test.c - which part of a stack a walk may load without a check, and which pages are
 * checked for it, once
 *
 * The thread pointer and the system calls are the test's; no stack is read.
 */
#define _UNWIND_SYSCALL_H
static long unwind_syscall(long number, long a, long b, long c, long d, long e, long f);

#include <stdlib.h>
#include <string.h>

static unsigned long thread_pointer;
#define __builtin_thread_pointer()	((void *)thread_pointer)
#include "../../libkunwind/unwind/stack.c"
#include "../unit/tap.h"

#define MAIN_END	0x7ffff0000000ULL
#define THREAD_END	0x7fff80000a40ULL	/* not at the beginning of a page */
#define BOTTOM		(THREAD_END & -PAGE)

static u32 calls, pages;
static u64 lowest, highest;		/* pages that were checked */
static u64 unmapped;			/* one page */

static long unwind_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const struct iovec *there = (void *)d, *here = (void *)b;
	long i;

	(void)f;
	if (number == SYS_getpid)
		return 77;
	calls++;
	if (number != SYS_process_vm_readv || a != 77 || c != 1 || here->iov_len != (size_t)e || e < 1)
		return -22;
	for (i = 0; i < e; i++) {
		const u64 page = (u64)there[i].iov_base;

		if (page % PAGE || there[i].iov_len != 1)
			return -22;
		if (page == unmapped)
			return i ?: -14;
		lowest = page < lowest ? page : lowest;
		highest = page > highest ? page : highest;
		pages++;
	}
	return e;
}

static struct kunwind_unwinder *unwinder;
static struct unwind_walk *walk;

/* Whether @sp is trusted up to @end. */
static bool trusted(u64 sp, u64 end)
{
	calls = pages = 0;
	lowest = ~0ULL;
	highest = 0;
	walk->unwinder = unwinder;
	walk->stack_sp = sp;
	walk->core.mem.lo = walk->core.mem.span = 0;
	unwind_stack_trust(walk);
	return walk->core.mem.lo == sp && walk->core.mem.span == end - sp - 8;
}

static bool not_trusted(u64 sp)
{
	trusted(sp, 0);
	return !walk->core.mem.span;
}

static void test_main_stack(void)
{
	const u64 low = MAIN_END - 10 * PAGE;

	unwinder->main_hi = unwinder->main_lo = MAIN_END;
	tap_ok(trusted(low + 100 * 8, MAIN_END) && pages == 10 && lowest == low && highest == MAIN_END - PAGE,
	       "main stack: all of its pages are checked");
	tap_ok(trusted(low, MAIN_END) && !calls && trusted(MAIN_END - 16, MAIN_END) && !calls,
	       "main stack: and not again");
	tap_ok(trusted(low - 8, MAIN_END) && pages == 1 && lowest == low - PAGE,
	       "main stack: of a lower stack pointer, only the new page is");
	tap_ok(not_trusted(MAIN_END - 15) && not_trusted(MAIN_END - 8) && walk->core.mem.lo == MAIN_END - 8,
	       "main stack: its last word is not trusted");
	tap_ok(not_trusted(MAIN_END) && !walk->core.mem.lo, "main stack: what is above it is not");
	unmapped = low - 20 * PAGE;
	tap_ok(not_trusted(low - 40 * PAGE) && !walk->core.mem.lo,
	       "main stack: with a page that is not mapped, it is not");
	tap_ok(not_trusted(low - 20 * PAGE) && trusted(low - 19 * PAGE, MAIN_END),
	       "main stack: above that page, it is");
	unmapped = 0;
	tap_ok(trusted(MAIN_END - MOST_PAGES * PAGE, MAIN_END), "main stack: 16 MB");
	tap_ok(not_trusted(MAIN_END - MOST_PAGES * PAGE - 8) && !calls, "main stack: not more");
	tap_ok(!unwinder->main_lo || unwinder->main_lo == MAIN_END - MOST_PAGES * PAGE,
	       "main stack: its lowest page is kept");
}

static u64 word_of(u64 end)
{
	u32 i;

	for (i = 0; i < UNWIND_STACKS; i++)
		if (unwinder->stacks[i] >> PAGES_BITS == end >> 6)
			return unwinder->stacks[i];
	return 0;
}

static void test_thread(void)
{
	u32 i, wrong = 0;

	thread_pointer = THREAD_END;
	tap_ok(trusted(BOTTOM + 64, THREAD_END) && !calls, "thread: the page of the thread pointer is there");
	tap_ok(trusted(BOTTOM - 8, THREAD_END) && pages == 1 && lowest == BOTTOM - PAGE,
	       "thread: the page below it is checked");
	tap_ok(trusted(BOTTOM - 4 * PAGE, THREAD_END) && pages == 3 && highest == BOTTOM - 2 * PAGE &&
	       lowest == BOTTOM - 4 * PAGE, "thread: then the pages below that one");
	tap_ok(trusted(BOTTOM - 2 * PAGE - 8, THREAD_END) && !calls &&
	       trusted(BOTTOM - 4 * PAGE, THREAD_END) && !calls, "thread: they are not checked again");
	tap_ok((word_of(THREAD_END) & PAGES_MASK) == 4, "thread: four pages are kept");
	tap_ok(trusted(BOTTOM - 36 * PAGE, THREAD_END) && calls == 1 && pages == 32,
	       "thread: 32 pages at once");
	tap_ok(trusted(BOTTOM - 69 * PAGE, THREAD_END) && calls == 2 && pages == 33,
	       "thread: 33 by two calls");
	unmapped = BOTTOM - 71 * PAGE;
	tap_ok(not_trusted(BOTTOM - 71 * PAGE) && !walk->core.mem.lo && not_trusted(BOTTOM - 72 * PAGE) &&
	       (word_of(THREAD_END) & PAGES_MASK) == 69, "thread: a page that is not mapped ends it");
	unmapped = BOTTOM - 70 * PAGE;
	tap_ok(not_trusted(BOTTOM - 110 * PAGE), "thread: also as the last one of two calls");
	unmapped = 0;
	tap_ok(not_trusted(THREAD_END) && not_trusted(THREAD_END + 8) && !walk->core.mem.lo,
	       "thread: what is above its end is not trusted");
	tap_ok(trusted(THREAD_END - 16, THREAD_END) && not_trusted(THREAD_END - 15),
	       "thread: nor its last word");
	tap_ok(not_trusted((THREAD_END & -PAGE) + PAGE - MOST_PAGES * PAGE - PAGE) && !calls,
	       "thread: nor what is more than 16 MB below");
	tap_ok(trusted((THREAD_END & -PAGE) + PAGE - MOST_PAGES * PAGE, THREAD_END),
	       "thread: nearly 16 MB are");
	for (i = 1; i < 2000; i++) {
		thread_pointer = THREAD_END + i * 0x2040;
		wrong += !trusted(thread_pointer - 3 * PAGE, thread_pointer) || pages != 3;
	}
	tap_ok(!wrong, "threads: what was checked for one counts for no other");
	thread_pointer = 1ULL << 47;
	tap_ok(not_trusted(thread_pointer - 64) && !walk->core.mem.lo,
	       "a thread pointer of the kernel's half");
}

int main(void)
{
	unwinder = calloc(1, sizeof(*unwinder));
	walk = calloc(1, sizeof(*walk));
	test_main_stack();
	test_thread();
	free(unwinder);
	free(walk);
	return tap_done();
}

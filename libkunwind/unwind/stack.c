// SPDX-License-Identifier: MIT
/*
 * stack.c - find the part of a thread's stack that a walk may load without a check
 *
 * The stack of a thread stays mapped as long as the thread lives. So each page between
 * the stack pointer and the stack's end is checked once, and walks of this thread that
 * begin there or above load its words.
 *
 * The main thread's stack ends where the kernel has put the program's name (AT_EXECFN).
 * The stack of another thread ends at its thread pointer: both glibc and musl put the
 * thread's control block on top of its stack. What was checked is kept by thread pointer,
 * in one word, so that no thread sees half of it: the pointer, in units of 64 bytes, and
 * the number of pages below it. If a later thread has the same thread pointer, its stack
 * ends there, too, and it uses the word only for a stack pointer of its own.
 *
 * All other stacks are read by memory.c: signal stacks, coroutines, stacks of Go, stacks
 * with an unmapped stack pointer, the parts of a stack more than 16 MB below its end.
 */
#include <sys/syscall.h>
#include <sys/uio.h>

#include "internal.h"
#include "syscall.h"

#define PAGE		4096ULL
#define MOST_PAGES	4096ULL
#define PAGES_BITS	23
#define PAGES_MASK	((1ULL << PAGES_BITS) - 1)
#define AT_ONCE		32		/* pages that one system call checks */

/* Whether each page of [from, to) can be read. */
static bool pages_readable(u64 from, u64 to)
{
	const long pid = unwind_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	struct iovec there[AT_ONCE], here;
	u8 bytes[AT_ONCE];
	long nr;

	for (; from < to; from += nr * PAGE) {
		for (nr = 0; nr < AT_ONCE && from + nr * PAGE < to; nr++)
			there[nr] = (struct iovec){ (void *)(from + nr * PAGE), 1 };
		here = (struct iovec){ bytes, nr };
		if (unwind_syscall(SYS_process_vm_readv, pid, (long)&here, 1, (long)there, nr, 0) != nr)
			return false;
	}
	return true;
}

/* Sets the trusted part to [sp, hi), except for its last word. */
static void trust(struct kunwind_mem *mem, u64 sp, u64 hi)
{
	mem->lo = sp;
	mem->span = hi - sp < 16 ? 0 : hi - sp - 8;
}

void unwind_stack_trust(struct unwind_walk *walk)
{
	struct kunwind_unwinder *unwinder = walk->unwinder;
	struct kunwind_mem *mem = &walk->core.mem;
	const u64 sp = walk->stack_sp, page = sp & -PAGE;
	const u64 hi = unwinder->main_hi, lo = READ_ONCE(unwinder->main_lo);
	u64 end, pages, word, *slot;

	if (sp >= lo && sp < hi) {
		trust(mem, sp, hi);
		return;
	}
	if (sp < hi && hi - page <= MOST_PAGES * PAGE) {
		if (pages_readable(page, lo)) {
			/* Another thread's walk cannot lower it: it is not on this stack. */
			WRITE_ONCE(unwinder->main_lo, page);
			trust(mem, sp, hi);
		}
		return;
	}
	end = (u64)__builtin_thread_pointer();
	if (sp >= end || end - page > MOST_PAGES * PAGE || end >> 47)
		return;
	slot = &unwinder->stacks[(end >> 6) * 0x9e3779b97f4a7c15ULL >> 56];
	word = READ_ONCE(*slot);
	pages = word >> PAGES_BITS == end >> 6 ? word & PAGES_MASK : 0;
	if (page < (end & -PAGE) - pages * PAGE) {
		if (!pages_readable(page, (end & -PAGE) - pages * PAGE))
			return;
		WRITE_ONCE(*slot, (end >> 6) << PAGES_BITS | ((end & -PAGE) - page) / PAGE);
	}
	trust(mem, sp, end);
}

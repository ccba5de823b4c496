/* SPDX-License-Identifier: MIT */
/*
 * kunwind_base.h - the types and macros of kunwind_deps.h, in user space
 *
 * Each kunwind_deps.h for user space includes this file, and adds a reader: the
 * one beside this file for tests, libkunwind/unwind/deps for libkunwind-unwind,
 * tests/steps/deps for the stepper.
 */
#ifndef _KUNWIND_BASE_H
#define _KUNWIND_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#define data_race(expr)		(expr)	/* kernel: KCSAN ignores the accesses */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define barrier()		__asm__ __volatile__("" : : : "memory")
#define OPTIMIZER_HIDE_VAR(var)	__asm__("" : "=r"(var) : "0"(var))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#undef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#define noinline		__attribute__((__noinline__))
#define __must_check		__attribute__((__warn_unused_result__))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define min(a, b)		({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b)		({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define fallthrough		__attribute__((__fallthrough__))
#define kunwind_walk_attr	/* kernel: notrace */
#define kunwind_unset		/* kernel: a variable that the compiler does not fill with zeros */

/*
 * Kernel: no branch, against speculation. Here the compiler may remove the
 * check.
 */
#define kunwind_index(i, nr)	({ __typeof__(i) i_ = (i); i_ < (nr) ? i_ : 0; })

/* Kernel: the address is checked once for several reads near it. Here each read is checked. */
#define KUNWIND_MEM_REACH	(1UL << 16)
#define kunwind_mem_clamp(mem, addr)	((void)(mem), (u64)(addr))
#define kunwind_mem_load(mem, val, addr, fault)	kunwind_mem_read(mem, val, addr, fault)

/* Returns zeroed memory, or NULL if there is none. May sleep. */
static inline void *kunwind_alloc(size_t size)
{
	return calloc(1, size ? size : 1);
}

static inline void kunwind_free(void *p)
{
	free(p);
}

/* How many bytes kunwind_alloc(@size) took when it returned @p. The kernel's takes more. */
static inline size_t kunwind_alloc_size(const void *p, size_t size)
{
	(void)p;
	return size;
}

/* Lets other tasks run; called in long loops, where sleeping is allowed. */
static inline void kunwind_resched(void)
{
}

#endif /* _KUNWIND_BASE_H */

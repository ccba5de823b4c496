/* SPDX-License-Identifier: MIT */
/*
 * kunwind_deps.h (user twin) - all that the unwinder's core needs from outside
 *
 * The kernel twin is kmod/deps/kernel/kunwind_deps.h. Keep both alike:
 *   types      u8 ... u64, s8 ... s64, bool, size_t, NULL
 *   macros     READ_ONCE, WRITE_ONCE, smp_store_release, barrier, likely,
 *              unlikely, __always_inline, noinline, __must_check, fallthrough,
 *              min, max, ARRAY_SIZE, kunwind_walk_attr (kernel: notrace),
 *              kunwind_unset, kunwind_index (clamps an index without a branch)
 *   cache      kunwind_cache_claim
 *   tables     kunwind_mem_find
 *   memory     kunwind_alloc (zeroed, may sleep), kunwind_free,
 *              kunwind_alloc_size, memcpy, memset, memcmp, memmove
 *   reader     struct kunwind_mem, kunwind_mem_space, kunwind_mem_fs,
 *              kunwind_mem_begin, kunwind_mem_read, kunwind_mem_end,
 *              kunwind_mem_clamp, kunwind_mem_load
 *   signals    kunwind_mem_handler
 *   probes     kunwind_mem_return, kunwind_mem_original
 *   rest       kunwind_resched
 */
#ifndef _KUNWIND_DEPS_H
#define _KUNWIND_DEPS_H

#include "kunwind_base.h"

/* Kernel: the same. In libkunwind-unwind, threads share the cache. */
#define kunwind_cache_claim(word, old, new)	({ WRITE_ONCE(*(word), new); true; })

/* Kernel: the same. libkunwind-unwind also has tables that it reads by single FDEs. */
#define kunwind_mem_find(mem, table, addr, rule)	kunwind_table_find(table, addr, rule)

/*
 * The memory of the walked process: one readable stretch [lo, hi) of its
 * addresses, which is at address + delta in this process (delta 0: this
 * process's own stack); and a stretch of code, which is empty unless it is set.
 */
struct kunwind_mem {
	u64 lo, hi;
	u64 delta;
	u64 code_lo, code_hi;
	u64 code_delta;
	u64 probe_slot, probe_return;	/* kunwind_mem_return(): slot, result */
	u64 original_at, original_id;	/* kunwind_mem_original(): address, id, result */
	u8 original;
	u64 id;				/* of the walk's ranges */
	struct kunwind_analysis_cache *answers; /* NULL: none are kept */
	u32 left;			/* of the walk's budget: mem.h */
	bool asked; /* kunwind_analysis_cache_begin() was called for this walk */
	bool open;			/* with KUNWIND_CHECKS: between begin and end */
	u64 space;			/* returned by kunwind_mem_space() */
	u64 fs;				/* returned by kunwind_mem_fs() */
	u64 handler;			/* returned by kunwind_mem_handler() */
};

/* The number of the address space that is read. No number is used twice. */
static __always_inline u64 kunwind_mem_space(const struct kunwind_mem *mem)
{
	return mem->space;
}

/* The base of the segment fs in the code that is walked. */
static __always_inline u64 kunwind_mem_fs(const struct kunwind_mem *mem)
{
	return mem->fs;
}

/* The nearest handler of a signal at or before @ip; 0: there is none, or this is not known. */
static inline u64 kunwind_mem_handler(const struct kunwind_mem *mem, u64 ip)
{
	return mem->handler <= ip ? mem->handler : 0;
}

/* Tests define KUNWIND_CHECKS: a window is opened, used and closed in this order. */
#ifdef KUNWIND_CHECKS
#define kunwind_mem_check(mem, is_open)	((mem)->open == (is_open) ? (void)0 : abort())
#else
#define kunwind_mem_check(mem, is_open)	((void)(mem), (void)(is_open))
#endif

static __always_inline bool kunwind_mem_begin(struct kunwind_mem *mem, u64 first)
{
	(void)first;
	kunwind_mem_check(mem, false);
#ifdef KUNWIND_CHECKS
	mem->open = mem->hi >= mem->lo + 8;
#endif
	return mem->hi >= mem->lo + 8;
}

static __always_inline void kunwind_mem_end(struct kunwind_mem *mem)
{
	kunwind_mem_check(mem, true);
#ifdef KUNWIND_CHECKS
	mem->open = false;
#endif
}

/*
 * Reads the 8 bytes at @addr into @val, or jumps to @fault. Between begin and
 * end no function may be called: in the kernel this is one user-access window.
 */
#define kunwind_mem_read(mem, val, addr, fault)					\
do {										\
	u64 a_ = (addr), d_ = (mem)->delta;					\
	kunwind_mem_check(mem, true);						\
	if (unlikely(a_ < (mem)->lo || a_ > (mem)->hi - sizeof(u64))) {		\
		if ((mem)->code_hi < sizeof(u64) || a_ < (mem)->code_lo ||	\
		    a_ > (mem)->code_hi - sizeof(u64))				\
			goto fault;						\
		d_ = (mem)->code_delta;						\
	}									\
	memcpy(&(val), (const void *)(uintptr_t)(a_ + d_), 8);			\
} while (0)

/*
 * A return probe's trampoline may have replaced the return address at stack
 * slot @slot. Returns the original return address, or 0 if no such probe is
 * known. *@looked: number of probed returns that were compared.
 */
static inline u64 kunwind_mem_return(const struct kunwind_mem *mem, u64 slot, u32 *looked)
{
	*looked = 1;
	return slot == mem->probe_slot ? mem->probe_return : 0;
}

/*
 * Finds the byte of code that a breakpoint at @addr hides. False: not known, or
 * @mem->id is not the id of the ranges.
 */
static inline bool kunwind_mem_original(struct kunwind_mem *mem, u64 addr, u8 *byte)
{
	*byte = mem->original;
	return addr == mem->original_at && mem->id == mem->original_id;
}

#endif /* _KUNWIND_DEPS_H */

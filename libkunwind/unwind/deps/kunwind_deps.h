/* SPDX-License-Identifier: MIT */
/*
 * kunwind_deps.h (libkunwind-unwind's twin) - the reader for walks in user space
 *
 * A word in the trusted part of the stack (stack.h) is loaded. All other words
 * are read by memory.c, which does not fault. libkunwind/deps/kunwind_deps.h
 * lists what each twin provides.
 */
#ifndef _KUNWIND_UNWIND_DEPS_H
#define _KUNWIND_UNWIND_DEPS_H

#include "../../deps/kunwind_base.h"

/* Threads share the cache, and signals interrupt its writers. */
#define kunwind_cache_claim(word, old, new)					\
({										\
	u64 old_ = (old);							\
	__atomic_compare_exchange_n(word, &old_, new, false, __ATOMIC_ACQ_REL,	\
				    __ATOMIC_RELAXED);				\
})

struct unwind_memory;
struct kunwind_analysis_cache;

struct kunwind_mem {
	u64 lo, span;			/* trusted: the words at [lo, lo + span]; span 0: none */
	struct unwind_memory *memory;	/* all other words */
	struct kunwind_analysis_cache *answers;
	u32 left;			/* of the walk's budget: mem.h */
	u64 id;				/* of the ranges */
	bool asked;			/* analysis_cache.h: the walk has begun to ask */
	u64 space;			/* of the unwinder */
	u64 fs;				/* base of the segment; 0: not known */
};

/* memory.c: reads a word that is not trusted. False: it cannot be read. */
bool kunwind_unwind_read(struct kunwind_mem *mem, u64 addr, u64 *value);

/* fde_find.c */
struct kunwind_table;
struct kunwind_rule;
int kunwind_unwind_find(struct kunwind_mem *mem, const struct kunwind_table **table, u64 addr,
			struct kunwind_rule *rule);
#define kunwind_mem_find(mem, table, addr, rule)	kunwind_unwind_find(mem, table, addr, rule)

static __always_inline u64 kunwind_mem_space(const struct kunwind_mem *mem)
{
	return mem->space;
}

static __always_inline u64 kunwind_mem_fs(const struct kunwind_mem *mem)
{
	return mem->fs;
}

/* Not known: sigaction(2) would be one system call for each signal. */
static inline u64 kunwind_mem_handler(const struct kunwind_mem *mem, u64 ip)
{
	(void)mem;
	(void)ip;
	return 0;
}

/* A word that cannot be read ends the read, not the walk: the stack pointer may be unmapped. */
static __always_inline bool kunwind_mem_begin(struct kunwind_mem *mem, u64 first)
{
	(void)mem;
	(void)first;
	return true;
}

static __always_inline void kunwind_mem_end(struct kunwind_mem *mem)
{
	(void)mem;
}

#define kunwind_mem_read(mem, val, addr, fault)					\
do {										\
	u64 a_ = (addr), word_;							\
										\
	if (likely(a_ - (mem)->lo < (mem)->span))				\
		memcpy(&word_, (const void *)(uintptr_t)a_, sizeof(word_));	\
	else if (unlikely(!kunwind_unwind_read(mem, a_, &word_)))		\
		goto fault;							\
	(val) = word_;								\
} while (0)

/* Uprobes' breakpoints, and the addresses that their trampolines replace, are not known here. */
static inline bool kunwind_mem_original(struct kunwind_mem *mem, u64 addr, u8 *byte)
{
	(void)mem;
	(void)addr;
	(void)byte;
	return false;
}

static inline u64 kunwind_mem_return(const struct kunwind_mem *mem, u64 slot, u32 *looked)
{
	(void)mem;
	(void)slot;
	*looked = 0;
	return 0;
}

#endif /* _KUNWIND_UNWIND_DEPS_H */

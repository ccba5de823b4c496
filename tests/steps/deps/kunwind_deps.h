/* SPDX-License-Identifier: MIT */
/*
 * kunwind_deps.h (the stepper's twin) - a reader for walks of a stopped
 * process's memory
 */
#ifndef _STEPS_DEPS_H
#define _STEPS_DEPS_H

#include "../../../libkunwind/deps/kunwind_base.h"

#define kunwind_cache_claim(word, old, new)		({ WRITE_ONCE(*(word), new); true; })
#define kunwind_mem_find(mem, table, addr, rule)	kunwind_table_find(table, addr, rule)
#define kunwind_mem_check(mem, is_open)			((void)(mem), (void)(is_open))

struct memory;

/* memory.c: one word as the walk sees it. False: it cannot be read. */
bool memory_word(struct memory *memory, u64 addr, u64 *value);

/* memory.c: the nearest handler of a signal at or before @ip; 0: none. */
u64 memory_handler(const struct memory *memory, u64 ip);

/* memory.c: the process's own byte at @addr. False: not known. */
bool memory_original(struct memory *memory, u64 addr, u8 *byte);

struct kunwind_mem {
	struct memory *memory;
	struct kunwind_analysis_cache *answers;
	u32 left;			/* of the walk's budget: mem.h */
	u64 id;				/* of the ranges */
	bool asked;			/* analysis_cache.h: the walk has begun to ask */
	u64 fs;				/* base of the segment */
};

/* There is only one stopped process, so all answers are its own. */
static __always_inline u64 kunwind_mem_space(const struct kunwind_mem *mem)
{
	(void)mem;
	return 1;
}

static __always_inline u64 kunwind_mem_fs(const struct kunwind_mem *mem)
{
	return mem->fs;
}

static inline u64 kunwind_mem_handler(const struct kunwind_mem *mem, u64 ip)
{
	return memory_handler(mem->memory, ip);
}

static __always_inline bool kunwind_mem_begin(struct kunwind_mem *mem, u64 first)
{
	u64 word;

	return memory_word(mem->memory, first, &word);
}

static __always_inline void kunwind_mem_end(struct kunwind_mem *mem)
{
	(void)mem;
}

#define kunwind_mem_read(mem, val, addr, fault)					\
do {										\
	u64 word_;								\
										\
	if (unlikely(!memory_word((mem)->memory, addr, &word_)))		\
		goto fault;							\
	(val) = word_;								\
} while (0)

/* The byte is known only with memory->known. */
static inline bool kunwind_mem_original(struct kunwind_mem *mem, u64 addr, u8 *byte)
{
	return memory_original(mem->memory, addr, byte);
}

/* No return probe is set. */
static inline u64 kunwind_mem_return(const struct kunwind_mem *mem, u64 slot, u32 *looked)
{
	(void)mem;
	(void)slot;
	*looked = 0;
	return 0;
}

#endif /* _STEPS_DEPS_H */

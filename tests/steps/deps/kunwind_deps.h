/* SPDX-License-Identifier: MIT */
/*
 * kunwind_deps.h (the stepper's twin) - libkunwind's twin with another reader:
 * walks read the memory of a stopped process
 *
 * The functions of libkunwind's reader get other names here.
 */
#ifndef _STEPS_DEPS_H
#define _STEPS_DEPS_H

#define kunwind_mem		kunwind_mem_own
#define kunwind_mem_begin	kunwind_mem_own_begin
#define kunwind_mem_end		kunwind_mem_own_end
#define kunwind_mem_original	kunwind_mem_own_original
#define kunwind_mem_return	kunwind_mem_own_return
#define kunwind_mem_space	kunwind_mem_own_space
#define kunwind_mem_fs		kunwind_mem_own_fs
#define kunwind_mem_handler	kunwind_mem_own_handler
#include "../../../libkunwind/deps/kunwind_deps.h"
#undef kunwind_mem
#undef kunwind_mem_begin
#undef kunwind_mem_end
#undef kunwind_mem_original
#undef kunwind_mem_return
#undef kunwind_mem_space
#undef kunwind_mem_fs
#undef kunwind_mem_handler
#undef kunwind_mem_read

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

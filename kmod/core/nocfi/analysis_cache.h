/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * analysis_cache.h - a cache of answers to questions about code, one for each
 * CPU (analysis_cache.c)
 *
 * Any context, NMI included.
 */
#ifndef _KUNWIND_ANALYSIS_CACHE_H
#define _KUNWIND_ANALYSIS_CACHE_H

#include "../kunwind_core.h"

/*
 * Call this before the first question of a walk. Without it, no answer is
 * cached or reused. Further calls in the same walk do nothing.
 */
static __always_inline void kunwind_analysis_cache_begin(struct kunwind_walk *walk)
{
	struct kunwind_analysis_cache *cache = walk->mem.answers;

	if (!cache || walk->mem.asked)
		return;
	walk->mem.asked = true;
	cache->walk++;
	cache->id = READ_ONCE(walk->ranges->id);
	cache->space = kunwind_mem_space(&walk->mem);
}

/*
 * kunwind_code_read(), kunwind_code_ahead() (for 64-bit code) and
 * kunwind_code_tail(), with the cache. The caller must have no window open.
 */
void kunwind_cached_code_read(struct kunwind_mem *mem, u64 from, u64 to, struct kunwind_code *code);
bool kunwind_cached_code_ahead(struct kunwind_mem *mem, u64 from, u32 how, struct kunwind_code *code);
u64 kunwind_cached_code_tail(struct kunwind_mem *mem, u64 from, u64 lo, u64 hi, u32 *left);

#endif /* _KUNWIND_ANALYSIS_CACHE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * analysis_cache.h - answers about code that are kept on each CPU
 * (analysis_cache.c)
 *
 * Any context, NMI included.
 */
#ifndef _KUNWIND_ANALYSIS_CACHE_H
#define _KUNWIND_ANALYSIS_CACHE_H

#include "../kunwind_core.h"

/*
 * Call this before the first question of a walk. Without it, no answer is kept
 * or reused. Further calls in the same walk do nothing.
 */
static __always_inline void kunwind_analysis_cache_begin(struct kunwind_walk *walk)
{
	struct kunwind_analysis_cache *answers = walk->mem.answers;

	if (!answers || walk->mem.asked)
		return;
	walk->mem.asked = true;
	answers->walk++;
	answers->id = READ_ONCE(walk->ranges->id);
	answers->space = kunwind_mem_space(&walk->mem);
}

/*
 * kunwind_code_read(), kunwind_code_ahead() (for 64-bit code) and
 * kunwind_code_tail(), with kept answers. The caller must have no window open.
 */
void kunwind_asked_read(struct kunwind_mem *mem, u64 from, u64 to, struct kunwind_code *code);
bool kunwind_asked_ahead(struct kunwind_mem *mem, u64 from, struct kunwind_code *code);
u64 kunwind_asked_tail(struct kunwind_mem *mem, u64 from, u64 lo, u64 hi, u32 *left);

#endif /* _KUNWIND_ANALYSIS_CACHE_H */

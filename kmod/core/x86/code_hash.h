/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * code_hash.h - hash the code that is read to answer a question (code_hash.c,
 * analysis_cache.c)
 *
 * Any context.
 */
#ifndef _KUNWIND_CODE_HASH_H
#define _KUNWIND_CODE_HASH_H

#include "../kunwind_core.h"

#define KUNWIND_HASH_FACTOR	0x9e3779b97f4a7c15ULL
#define KUNWIND_HASH_ODD	0x51ULL		/* so that zeros count */

static __always_inline u64 kunwind_hash_add(u64 hash, u64 word)
{
	return ((hash << 29 | hash >> 35) ^ word) * KUNWIND_HASH_FACTOR;
}

/*
 * Adds @nr words of code, which were read at @at, to the hash of the question
 * that is being answered. Returns how many of these bytes the caller may
 * decode: those that the hash covers, or all if no question is being answered
 * or the hash cannot cover the code (no room for more pieces, or
 * KUNWIND_ANALYSIS_CACHE_SPOILT).
 */
u32 kunwind_analysis_cache_note(struct kunwind_analysis_cache *cache, u64 at, const u64 *words,
				u32 nr);

/* Instead of the number of pieces: the answer may be different later; it holds for one walk. */
#define KUNWIND_ANALYSIS_CACHE_SPOILT	(KUNWIND_ANALYSIS_CACHE_PIECES + 2)

/* Marks the question that is being answered, if any, as one whose answer may change later. */
static __always_inline void kunwind_analysis_cache_spoil(struct kunwind_analysis_cache *cache)
{
	if (cache && cache->asked)
		cache->asked->pieces = KUNWIND_ANALYSIS_CACHE_SPOILT;
}

#endif /* _KUNWIND_CODE_HASH_H */

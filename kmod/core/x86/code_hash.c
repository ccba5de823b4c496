// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code_hash.c - hash the code that is read to answer a question
 *
 * insn_decode.c calls kunwind_analysis_cache_note() for all code that it reads.
 * analysis_cache.c keeps the hash with the answer. Any context.
 */
#include "code_hash.h"
#include "insn_decode.h"

u32 kunwind_walk_attr kunwind_analysis_cache_note(struct kunwind_analysis_cache *cache, u64 at,
						  const u64 *words, u32 nr)
{
	struct kunwind_analysis *entry = cache->asked;
	struct kunwind_piece *piece;
	u64 start, known, word;

	if (!entry)
		return 8 * nr;
	start = at - entry->from;
	/* Some words could not be read. The answer may depend on this: it holds for one walk. */
	if (nr < KUNWIND_TEXT_WORDS || start != (u64)(s64)(s32)start)
		entry->pieces = KUNWIND_ANALYSIS_CACHE_SPOILT;
	if (entry->pieces > KUNWIND_ANALYSIS_CACHE_PIECES)
		return 8 * nr;
	piece = &entry->piece[entry->pieces - !!entry->pieces];
	if (!entry->pieces || start - (u64)(s64)piece->start > 8ULL * piece->words) {
		if (entry->pieces++ == KUNWIND_ANALYSIS_CACHE_PIECES)
			return 8 * nr;
		piece = &entry->piece[entry->pieces - 1];
		*piece = (struct kunwind_piece){ .start = start };
	}
	for (known = piece->start + 8ULL * piece->words - start; known + 8 <= 8 * nr; known += 8) {
		memcpy(&word, (const u8 *)words + known, sizeof(word));
		entry->hash = kunwind_hash_add(entry->hash, word);
		piece->words++;
	}
	/* Trailing bytes that do not fill a word are not in the hash. */
	return min(known, (u64)8 * nr);
}

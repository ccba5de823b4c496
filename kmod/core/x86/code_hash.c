// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code_hash.c - add code to the hash of the question that is being answered
 *
 * insn_decode.c calls kunwind_analysis_cache_note() for all code that it reads;
 * analysis_cache.c uses the hash. Any context.
 */
#include "code_hash.h"
#include "insn_decode.h"

u32 kunwind_walk_attr kunwind_analysis_cache_note(struct kunwind_analysis_cache *answers, u64 at,
						  const u64 *words, u32 nr)
{
	struct kunwind_analysis *answer = answers->asked;
	struct kunwind_piece *piece;
	u64 start, known, word;

	if (!answer)
		return 8 * nr;
	start = at - answer->from;
	/* Some words could not be read. The answer may depend on this: it holds for one walk. */
	if (nr < KUNWIND_TEXT_WORDS || start != (u64)(s64)(s32)start)
		answer->pieces = KUNWIND_ANALYSIS_CACHE_SPOILT;
	if (answer->pieces > KUNWIND_ANALYSIS_CACHE_PIECES)
		return 8 * nr;
	piece = &answer->piece[answer->pieces - !!answer->pieces];
	if (!answer->pieces || start - (u64)(s64)piece->start > 8ULL * piece->words) {
		if (answer->pieces++ == KUNWIND_ANALYSIS_CACHE_PIECES)
			return 8 * nr;
		piece = &answer->piece[answer->pieces - 1];
		*piece = (struct kunwind_piece){ .start = start };
	}
	for (known = piece->start + 8ULL * piece->words - start; known + 8 <= 8 * nr; known += 8) {
		memcpy(&word, (const u8 *)words + known, sizeof(word));
		answer->hash = kunwind_hash_add(answer->hash, word);
		piece->words++;
	}
	/* Trailing bytes that do not fill a word are not in the hash. */
	return min(known, (u64)8 * nr);
}

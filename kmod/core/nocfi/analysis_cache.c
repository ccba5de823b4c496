// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * analysis_cache.c - cache the results of code_analysis.c and code_ahead.c, to
 * avoid decoding code again
 *
 * A walk asks the same question about the same code many times: for each word of the stack that
 * follows a call of one function, for each frame of a recursion, and again in the next walk. An
 * entry holds the question, the answer, the places of the code that was read, and a hash of that
 * code, as it was read for decoding. Within a walk, a cached answer is used without any check.
 * The next walk reads the code again and compares the hash, because a JIT may have changed it.
 *
 * Anyone can write code with the hash of other code. Therefore an answer is used only in the
 * address space that it was found in. (Processes after fork() have the same ranges, but different
 * memory. A value of kunwind_mem_space() is never used again.) A process that makes hashes collide
 * gets wrong frames in its own stacks only. Places of code are kept as distances from the address
 * that was asked about: after a mispredicted comparison, the processor could otherwise load from
 * an address in the entry of another process.
 *
 * An answer is valid for one walk only if its code is in more pieces than an entry has room for,
 * or if part of the code could not be read. The answer "nothing found" stays valid with the first
 * pieces alone, if all code was read: a walk that finds nothing is never wrong. Each question has
 * one place in the cache. Another question with the same place replaces it.
 *
 * Any context, NMI included. Entries have no lock: a walk that interrupts
 * another walk on its CPU has no cache (mem->answers is NULL). Cost in units of
 * the budget: 1 for a question, 1 for each piece, and 1 for each eight words
 * compared.
 */
#include "../walk/mem.h"
#include "../x86/code_hash.h"
#include "code_ahead.h"
#include "analysis_cache.h"
#include "code_analysis.h"

/* Questions, named after the functions of code_analysis.c and code_ahead.c. */
#define READ	0
#define AHEAD	1
#define TAIL	2	/* plus the number of instructions that may be read */

/* Whether the code that was read for the entry's answer about @from is unchanged. */
static noinline bool kunwind_walk_attr unchanged(struct kunwind_mem *mem, u64 from,
						 const struct kunwind_analysis *entry)
{
	u64 hash = KUNWIND_HASH_ODD, word, at;
	u32 i, words;

	for (i = 0; i < entry->pieces; i++) {
		const struct kunwind_piece *piece =
			&entry->piece[kunwind_index(i, (u32)KUNWIND_ANALYSIS_CACHE_PIECES)];

		/* Under speculation, entry->from may be another process's. @from is not. */
		at = from + (s64)piece->start;
		words = piece->words;
		if (!kunwind_pay(mem, 1 + words / 8) || !kunwind_mem_begin(mem, at))
			return false;
		for (; words; words--, at += 8) {
			kunwind_mem_read(mem, word, at, fault);
			hash = kunwind_hash_add(hash, word);
		}
		kunwind_mem_end(mem);
	}
	return i && hash == entry->hash;
fault:
	kunwind_mem_end(mem);
	return false;
}

/*
 * The entry for a question; NULL if this walk has no cache. *known: the entry
 * has a valid answer. Otherwise the caller must find the answer and call
 * keep().
 */
static struct kunwind_analysis *kunwind_walk_attr find(struct kunwind_mem *mem, u32 question,
						       u64 from, u64 to, bool *known)
{
	struct kunwind_analysis_cache *cache = mem->answers;
	struct kunwind_analysis *entry;

	*known = false;
	if (!cache || !mem->asked)
		return NULL;
	kunwind_pay(mem, 1);
	entry = &cache->entry[kunwind_hash_add(kunwind_hash_add(from, to), question) >>
				  (64 - KUNWIND_ANALYSIS_CACHE_BITS)];
	if (entry->from == from && entry->to == to && entry->question == question &&
	    entry->id == cache->id && entry->space == cache->space &&
	    (entry->walk == cache->walk || unchanged(mem, from, entry))) {
		entry->walk = cache->walk;
		*known = true;
		return entry;
	}
	entry->id = 0;
	entry->from = from;
	entry->to = to;
	entry->question = question;
	entry->pieces = 0;
	entry->hash = KUNWIND_HASH_ODD;
	cache->asked = entry;
	return entry;
}

/* Complete the entry from find(), which may be NULL. @nothing: nothing was found. */
static void kunwind_walk_attr keep(const struct kunwind_mem *mem, struct kunwind_analysis *entry,
				   bool nothing)
{
	struct kunwind_analysis_cache *cache = mem->answers;

	if (!entry)
		return;
	cache->asked = NULL;
	if (entry->pieces > KUNWIND_ANALYSIS_CACHE_PIECES)
		entry->pieces = nothing && entry->pieces != KUNWIND_ANALYSIS_CACHE_SPOILT ?
					 KUNWIND_ANALYSIS_CACHE_PIECES : 0;
	entry->walk = cache->walk;
	entry->space = cache->space;
	/* If the budget is spent, the answer may be incomplete. */
	entry->id = mem->left ? cache->id : 0;
}

void kunwind_walk_attr kunwind_cached_code_read(struct kunwind_mem *mem, u64 from, u64 to,
						struct kunwind_code *code)
{
	struct kunwind_analysis *entry;
	bool known;

	entry = find(mem, READ, from, to, &known);
	if (known) {
		*code = entry->code;
		return;
	}
	kunwind_code_read(mem, from, to, code);
	if (entry)
		entry->code = *code;
	keep(mem, entry, false);
}

bool kunwind_walk_attr kunwind_cached_code_ahead(struct kunwind_mem *mem, u64 from, u32 how,
						 struct kunwind_code *code)
{
	struct kunwind_analysis *entry;
	bool known, yes;

	entry = find(mem, AHEAD, from, how, &known);
	if (known) {
		*code = entry->code;
		return entry->yes;
	}
	yes = kunwind_code_ahead(mem, false, from, how, code);
	if (entry) {
		entry->code = *code;
		entry->yes = yes;
	}
	keep(mem, entry, !yes);
	return yes;
}

u64 kunwind_walk_attr kunwind_cached_code_tail(struct kunwind_mem *mem, u64 from, u64 lo, u64 hi,
					       u32 *left)
{
	struct kunwind_analysis *entry;
	bool known;
	u64 found;

	/* The answer depends on *left. @lo follows from @hi and the ranges (cache->id). */
	entry = find(mem, TAIL + *left, from, hi, &known);
	if (known) {
		*left = entry->left;
		return entry->yes ? from + entry->tail : 0;
	}
	found = kunwind_code_tail(mem, from, lo, hi, left);
	if (entry) {
		entry->yes = found;
		entry->tail = found - from;
		entry->left = *left;
	}
	keep(mem, entry, !found);
	return found;
}

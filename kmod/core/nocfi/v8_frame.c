// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * v8_frame.c - whether rbp is the frame pointer of a JavaScript function of V8
 *
 * V8's optimizing compilers begin each function with the same instructions, and the
 * function does not change rbp before it returns:
 *
 *	push	%rbp
 *	mov	%rsp, %rbp
 *	push	%rsi			the context, an object
 *	push	%rdi			the function, an object
 *	push	%rax			the number of arguments
 *
 * A frame may have words that older calls have left below rbp, so that a word there may
 * follow a call. Then these instructions, shortly before the frame's address, and the three
 * words that they have pushed decide that rbp is the frame's own. V8 has no code that calls
 * and has no frame by rbp; if the instructions belong to the function before this one, rbp is
 * this one's frame pointer, too.
 *
 * V8's pointers to objects end with the bits 01.
 *
 * Bounds: MOST_CHUNKS * KUNWIND_CHUNK words of code, only if the words fit; the budget pays.
 */
#include "../walk/mem.h"
#include "../walk/ranges.h"
#include "v8_frame.h"

#define MOST_CHUNKS	64
#define CHUNK_BYTES	(8 * KUNWIND_CHUNK)
#define MOST_ARGUMENTS	0xffff
#define PROLOGUE	0x505756e5894855ULL	/* 55 48 89 e5 56 57 50 */
#define PROLOGUE_BYTES	7

static bool kunwind_walk_attr is_object(u64 word)
{
	return (word & 3) == 1 && word >> 47 == 0;
}

/* Whether a function begins before the frame's address. */
static bool kunwind_walk_attr begins(struct kunwind_mem *mem, u64 start, u64 ip)
{
	u64 words[KUNWIND_CHUNK + 1] = { }, at = ip, word;
	const u8 *const code = (const u8 *)words;
	u32 chunk, i;

	for (chunk = 0; chunk < MOST_CHUNKS && at - start >= CHUNK_BYTES; chunk++) {
		at -= CHUNK_BYTES;
		if (!kunwind_pay(mem, KUNWIND_CHUNK) ||
		    kunwind_read_words(mem, at, words, KUNWIND_CHUNK) != KUNWIND_CHUNK)
			return false;
		for (i = 0; i < CHUNK_BYTES; i++) {
			if (code[i] != (u8)PROLOGUE)
				continue;
			memcpy(&word, code + i, sizeof(word));
			if (!((word ^ PROLOGUE) << 8 * (8 - PROLOGUE_BYTES)))
				return true;
		}
		words[KUNWIND_CHUNK] = words[0];	/* follows the next chunk */
	}
	return false;
}

bool kunwind_walk_attr kunwind_v8_frame(struct kunwind_walk *walk,
					const struct kunwind_nocfi_frame *frame)
{
	u64 words[3];

	return kunwind_pay(&walk->mem, 3) &&
	       kunwind_read_words(&walk->mem, frame->bp - 24, words, 3) == 3 &&
	       words[0] <= MOST_ARGUMENTS && is_object(words[1]) && is_object(words[2]) &&
	       begins(&walk->mem, frame->range->start, frame->ip);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * hotspot_frame.c - the size of a frame of OpenJDK's compiled code
 *
 * Both compilers of HotSpot begin a function that may call with the same instructions, and
 * its frame does not change its size before the function returns:
 *
 *	mov	%eax, -0x14000(%rsp)	touches the stack that callees may need: a multiple
 *					of a page
 *	push	%rbp
 *	sub	$n, %rsp
 *
 * The nearest such instructions before the frame's address decide. A function begins at a
 * multiple of four. HotSpot fills the end of a function with hlt: the search ends there,
 * because the frame is then in another function. It also ends where a function begins in
 * another way (HotSpot's code for a native method). If the next instruction pops, the call had
 * arguments on the stack, and nothing is found.
 *
 * Bounds: the caller's number of chunks of KUNWIND_CHUNK words of code; the budget pays.
 */
#include "../walk/mem.h"
#include "hotspot_frame.h"

#define CHUNK_BYTES	(8 * KUNWIND_CHUNK)
#define CHUNK_COST	2		/* in units of the budget */
#define TOUCH		0x00248489U	/* mov %eax, n(%rsp), and the lowest byte of n, which is 0 */
#define TOUCH_BYTES	7
#define PUSH_SUB_8	0xec834855U	/* push %rbp; sub $n, %rsp, without n, which has 8 bits */
#define PUSH_SUB_32	0xec814855U	/* the same; n has 32 bits */
#define HLTS		0xf4f4f4f4f4f4f4f4ULL

/* Whether the instruction at @at, which begins as TOUCH, touches the stack. */
static bool kunwind_walk_attr touches(struct kunwind_mem *mem, u64 at)
{
	u64 touch;

	return kunwind_read_word(mem, at, &touch) && (touch >> 32 & 0xff000f) == 0xff0000;
}

/* The size and the end of the instructions at @at, which touch the stack. False: others follow. */
static bool kunwind_walk_attr read_entry(struct kunwind_mem *mem, u64 at, u32 *size, u64 *end)
{
	u64 made;

	if (!kunwind_read_word(mem, at + TOUCH_BYTES, &made))
		return false;
	*end = at + TOUCH_BYTES + ((u32)made == PUSH_SUB_8 ? 5 : 8);
	if ((u32)made == PUSH_SUB_8)
		*size = kunwind_byte(made, 4);
	else if ((u32)made == PUSH_SUB_32)
		*size = made >> 32;
	else
		return false;
	return !(*size & 7) && *size <= KUNWIND_FRAME_MOST;
}

/* pop, or add to rsp */
static bool kunwind_walk_attr pops(u64 code)
{
	const u8 first = code, second = code >> 8;

	return first >> 3 == 11 || (first == 0x41 && second >> 3 == 11) ||
	       (code & 0xfffdff) == 0xc48148;
}

static bool kunwind_walk_attr find_entry(struct kunwind_mem *mem, u64 start, u64 ip, u32 most, u32 *size,
					 u64 *end)
{
	u64 words[KUNWIND_CHUNK], at = ip & ~(u64)7;
	u32 chunk, high, i;

	for (chunk = 0; chunk < most && at - start >= CHUNK_BYTES; chunk++) {
		at -= CHUNK_BYTES;
		if (!kunwind_pay(mem, CHUNK_COST) ||
		    kunwind_read_words(mem, at, words, KUNWIND_CHUNK) != KUNWIND_CHUNK)
			return false;
		for (i = KUNWIND_CHUNK; i-- > 0;) {
			if (words[i] == HLTS)
				return false;
			high = words[i] >> 32 == TOUCH ? 4 : 0;
			if ((high || (u32)words[i] == TOUCH) && touches(mem, at + 8 * i + high))
				return read_entry(mem, at + 8 * i + high, size, end);
		}
	}
	return false;
}

bool kunwind_walk_attr kunwind_hotspot_frame(struct kunwind_walk *walk,
					     const struct kunwind_nocfi_frame *frame, u32 most, s32 *depth,
					     s32 *end)
{
	u64 code, made;
	u32 size;

	if (!kunwind_read_word(&walk->mem, frame->ip, &code) || pops(code) ||
	    !find_entry(&walk->mem, frame->range->start, frame->ip, most, &size, &made) || made >= frame->ip)
		return false;
	*depth = size + 8;
	*end = made - frame->ip;
	return true;
}

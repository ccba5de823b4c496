// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ion_frame.c - the size of a frame of SpiderMonkey's compiled code
 *
 * Before version 105 of SpiderMonkey, functions that its compiler Ion has compiled have no
 * frame pointer. Before each call, they push a descriptor for the garbage collector:
 *
 *	push	$0x16020	bits 8 and up: the frame has 0x160 bytes
 *	call	VMWrapper	bits 4 to 7: 2 words belong to the call
 *
 * The words of the call are the return address, the descriptor, and in calls of functions
 * the function and the number of arguments. The frame's bytes lie above them, and then its
 * return address. The callee may have popped some of these words, but they are still in
 * memory: the address of the instruction after the call, and above it the descriptor.
 *
 * Bounds: 2 words of code, KUNWIND_CHUNK words of the stack; the budget pays.
 */
#include "../walk/mem.h"
#include "ion_frame.h"

#define PUSH_IMM32	0x68
#define CALL_REL32	0xe8
#define MOST_WORDS	4	/* of a call */
#define PUSH_END	4	/* the rule's hash (jit_rule.c) has the 16 bytes before here: push; call */

/* The operand of push $n before the call that ends at the byte after @code. False: none. */
static bool kunwind_walk_attr pushed(const u8 code[16], u32 *imm)
{
	u32 call;

	if (code[11] == CALL_REL32)
		call = 11;
	else if (code[14] == 0xff && code[15] >> 3 == 0x1a)	/* call *%reg */
		call = code[13] == 0x41 && code[8] == PUSH_IMM32 ? 13 : 14;
	else
		return false;
	memcpy(imm, code + call - 4, sizeof(*imm));
	return code[call - 5] == PUSH_IMM32;
}

bool kunwind_walk_attr kunwind_ion_frame(struct kunwind_walk *walk,
					 const struct kunwind_nocfi_frame *frame, s32 *depth, s32 *end)
{
	u64 words[KUNWIND_CHUNK];
	u32 imm, call, i;

	if (!kunwind_pay(&walk->mem, 2) || kunwind_read_words(&walk->mem, frame->ip - 16, words, 2) != 2 ||
	    !pushed((const u8 *)words, &imm))
		return false;
	call = imm >> 4 & 15;
	if (call < 2 || call > MOST_WORDS || imm >> 8 & 7 || imm >> 8 > KUNWIND_FRAME_MOST)
		return false;
	/* The last of these words is at rsp. */
	if (kunwind_read_words(&walk->mem, frame->sp - 8 * (KUNWIND_CHUNK - 1), words, KUNWIND_CHUNK) !=
	    KUNWIND_CHUNK)
		return false;
	for (i = KUNWIND_CHUNK - 1; i && (words[i] != imm || words[i - 1] != frame->ip); i--)
		;
	*depth = 8 * (s32)(i - (KUNWIND_CHUNK - 1) + call - 1) + (s32)(imm >> 8);
	*end = PUSH_END;
	return i && *depth >= 0;
}

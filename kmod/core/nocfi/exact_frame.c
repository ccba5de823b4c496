// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * exact_frame.c - what the registers of an exact frame, and the code just before
 * it, say about its return address
 *
 * For frames without unwind information that have not called: the first frame of
 * a walk, and one that a signal interrupted (step.c). Any context, NMI included.
 * The walk's budget pays for all that is read.
 */
#include "../walk/mem.h"
#include "code_analysis.h"
#include "exact_frame.h"

/* A register, by its number in instructions. False: its value is not known. */
static bool kunwind_walk_attr read_register(const struct kunwind_walk *walk, u32 number, u64 *value)
{
	/* To the numbers of DWARF, which differ below 8. */
	static const u8 names[] = {
		KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RDX, KUNWIND_RBX,
		KUNWIND_RSP, KUNWIND_RBP, KUNWIND_RSI, KUNWIND_RDI,
	};
	const u32 reg = number < ARRAY_SIZE(names) ?
				names[kunwind_index(number, (u32)ARRAY_SIZE(names))] : number;

	if (reg >= KUNWIND_RA || !(walk->regs.valid & KUNWIND_REG(reg)))
		return false;
	*value = walk->regs.r[kunwind_index(reg, (u32)KUNWIND_RA)];
	return true;
}

bool kunwind_walk_attr kunwind_exact_pushed(struct kunwind_walk *walk,
					    const struct kunwind_nocfi_frame *frame, u32 reg,
					    struct kunwind_candidate *c, bool *found)
{
	bool returns;
	u64 target;

	*found = false;
	if (!kunwind_code_keeps(&walk->mem, frame->ip, reg, &returns) || !read_register(walk, reg, &c->ra))
		return !returns;
	if (returns)
		return false;
	if (!kunwind_pay(&walk->mem, KUNWIND_PROOF_COST) ||
	    !kunwind_proof_call(walk, c->ra, &target))
		return false;
	c->slot = frame->sp - 8;
	c->proof = KUNWIND_PROOF_POSSIBLE;
	*found = true;
	return true;
}

/* The bytes may be part of another instruction. Then the register has another value. */
bool kunwind_walk_attr kunwind_exact_pushed_before(struct kunwind_walk *walk,
						   const struct kunwind_candidate *c, u64 ip)
{
	u64 word, value;
	u32 reg;

	if (!kunwind_read_word(&walk->mem, ip, &word) ||
	    (kunwind_byte(word, 0) != 0xc3 && (u16)word != 0xc3f3))	/* ret, repz ret */
		return false;
	if (!kunwind_read_word(&walk->mem, ip - 8, &word) || (kunwind_byte(word, 7) & 0xf8) != 0x50)
		return false;
	reg = kunwind_byte(word, 7) & 7;
	if (read_register(walk, reg, &value) && value == c->ra)
		return true;
	return kunwind_byte(word, 6) == 0x41 && read_register(walk, reg + 8, &value) && value == c->ra;
}

bool kunwind_walk_attr kunwind_exact_popped_flags(struct kunwind_walk *walk, u64 ip)
{
	u32 i = 7;
	u64 word;

	if (!kunwind_read_word(&walk->mem, ip - 8, &word))
		return false;
	while (i && (kunwind_byte(word, i) >> 3 == 11 || kunwind_byte(word, i) == 0x41))
		i--;
	return kunwind_byte(word, i) == 0x9d;
}

u64 kunwind_walk_attr kunwind_exact_after_zero(struct kunwind_walk *walk, u64 ip)
{
	u64 result;

	if (!read_register(walk, 0, &result) || result)
		return ip;
	return kunwind_code_after_zero(&walk->mem, walk->code, ip);
}

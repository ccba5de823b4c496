// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * pointer_call.c - where a call through a pointer leads
 *
 *	call	*n(%rip)
 *
 *	lea	n(%rip), %rax		the pointer's address; or by mov, from the GOT
 *	mov	%rbp, %rdi
 *	call	*(%rax)
 *
 *	mov	n(%rip), %rax		the pointer
 *	call	*%rax
 *
 * In the last two, the instruction that sets the register is shortly before the call, and
 * no instruction between them jumps, calls or writes the register.
 */
#include "../walk/mem.h"
#include "../walk/ranges.h"
#include "../x86/insn_effect.h"
#include "insn_kind.h"
#include "pointer_call.h"

#define MOST_BEFORE	32	/* bytes of code before @ra */
#define MOST_BETWEEN	8	/* instructions */
#define LOAD		7	/* bytes of lea or mov n(%rip), %reg */
#define SHORTEST_CALL	2	/* bytes */
#define LEA		0x8d
#define MOV		0x8b

/* The call's operand is a register, or memory at it without a displacement. */
struct by_register {
	u64 at;		/* address of the call */
	u8 number;
	bool memory;
};

static bool kunwind_walk_attr decode_call(const u8 *end, u64 ra, struct by_register *call)
{
	const u8 modrm = end[-1], number = modrm & 7;

	if (end[-2] != 0xff || (modrm >> 3 & 7) != 2 || (modrm >> 6 && modrm >> 6 != 3))
		return false;
	call->memory = !(modrm >> 6);
	if (call->memory && (number == RSP || number == RBP)) /* SIB, rip */
		return false;
	call->number = number + (end[-3] == 0x41 ? 8 : 0);
	call->at = ra - 2 - (end[-3] == 0x41);
	return true;
}

/* Whether the register that was set before @at still has its value at the call. */
static bool kunwind_walk_attr keeps(struct kunwind_mem *mem, u64 at, const struct by_register *call)
{
	struct kunwind_text text = { .mem = mem, .left = MOST_BETWEEN };
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;

	while (at < call->at) {
		if (!kunwind_insn_next_effect(&text, at, &insn, &e) || e.flow != KUNWIND_FLOW_NEXT ||
		    !kunwind_insn_keeps(&insn, call->number))
			return false;
		at += insn.length;
	}
	return at == call->at;
}

bool kunwind_walk_attr kunwind_pointer_call(struct kunwind_walk *walk, u64 ra, u64 *entry)
{
	const struct kunwind_range *range = kunwind_ranges_live(walk->ranges, ra - 1);
	u64 words[MOST_BEFORE / 8] = { };
	const u8 *const code = (const u8 *)words;
	struct kunwind_mem *mem = &walk->mem;
	struct by_register call;
	s32 disp;
	u32 i;

	if (!range || kunwind_range_is_jit(range) || !kunwind_read_word(mem, ra - 8, &words[3]))
		return false;
	if (code[26] == 0xff && code[27] == 0x15) {
		memcpy(&disp, code + 28, sizeof(disp));
		return kunwind_read_word(mem, ra + (s64)disp, entry);
	}
	if (!decode_call(code + MOST_BEFORE, ra, &call) ||
	    kunwind_read_words(mem, ra - MOST_BEFORE, words, 3) != 3)
		return false;
	for (i = MOST_BEFORE - SHORTEST_CALL - LOAD + 1; i-- > 0;) {
		const u64 next = ra - MOST_BEFORE + i + LOAD;

		/* REX.W, opcode, ModRM: n(%rip) */
		if (code[i] != (call.number & 8 ? 0x4c : 0x48) ||
		    (code[i + 1] != LEA && code[i + 1] != MOV) ||
		    code[i + 2] != ((call.number & 7) << 3 | 5) || !keeps(mem, next, &call))
			continue;
		memcpy(&disp, code + i + 3, sizeof(disp));
		*entry = next + (s64)disp;
		return (code[i + 1] == LEA || kunwind_read_word(mem, *entry, entry)) &&
		       (!call.memory || kunwind_read_word(mem, *entry, entry));
	}
	return false;
}

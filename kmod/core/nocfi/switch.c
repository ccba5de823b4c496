// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * switch.c - where code returns to that takes another stack first
 *
 * A run-time system whose threads of its own call C does that on the stack of the
 * kernel's thread (Go's asmcgocall()): behind the call it reads from the one stack where the other
 * is, sets rsp to that, and returns. No unwind information can say so. The code does: from
 * the call on its instructions are followed with their values, as long as they only
 * move words that the stack leads to:
 *
 *	mov 8(%rsp), %rdi; mov 8(%rdi), %rsi; sub (%rsp), %rsi; mov %rsi, %rsp; pop %rbp; ret
 *
 * Stores among these are not looked at, whatever else stands there ends the matter.
 *
 * Bounds: MOST_INSNS instructions, a word of memory each. Any context; memory is read
 * by the seam's reader. Stack: 300 bytes.
 *
 * What it does not do: go by what lies in thread-local storage.
 */
#include "../walk/mem.h"
#include "../x86/insn.h"
#include "code.h"
#include "switch.h"

#define MOST_INSNS	16
#define RSP		4	/* as ModRM numbers them */
#define RBP		5

struct values {
	u64 r[16];
	u32 known;		/* a bit for each */
	bool switched;		/* rsp was set */
	s64 rbp_from;		/* where rbp was popped from; 0: rbp is as it was, -1: not told */
};

/* The word that the instruction reads, if its address is known. */
static bool kunwind_walk_attr load(struct kunwind_mem *mem, const struct values *v,
				   const struct kunwind_insn *insn, u64 *word)
{
	const u8 mod = insn->modrm >> 6, low = insn->modrm & 7;
	u32 base = low | insn->rm_high << 3;

	if (mod == 3 || (low == 4 && !insn->on_rsp) || (low == 5 && !mod))
		return false;
	if (low == 4)
		base = RSP;
	return v->known & 1U << base && kunwind_read_word(mem, v->r[base] + (s64)insn->disp, word);
}

static void kunwind_walk_attr set(struct values *v, u32 reg, bool known, u64 value)
{
	v->r[reg] = value;
	v->known = known ? v->known | 1U << reg : v->known & ~(1U << reg);
	v->switched |= reg == RSP;
	if (reg == RBP)
		v->rbp_from = -1;
}

/* rsp is known. */
static void kunwind_walk_attr pop(struct kunwind_mem *mem, struct values *v, u32 reg)
{
	const u64 from = v->r[RSP];
	u64 word = 0;
	bool known = kunwind_read_word(mem, from, &word);

	v->r[RSP] += 8;
	set(v, reg, known, word);
	if (reg == RBP)
		v->rbp_from = from;
}

/* False: it is not one of those that are followed. */
static bool kunwind_walk_attr follow(struct kunwind_mem *mem, struct values *v,
				     const struct kunwind_insn *insn)
{
	const u32 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;
	const u32 rm = (insn->modrm & 7) | insn->rm_high << 3;
	const bool memory = insn->modrm >> 6 != 3;
	u64 word = 0;
	bool known;

	if (insn->map || insn->vex)
		return false;
	switch (insn->op) {
	case 0x89:					/* mov reg, r/m */
		if (!memory)
			set(v, rm, insn->wide && v->known & 1U << reg, v->r[reg]);
		return true;
	case 0x8b:					/* mov r/m, reg */
		if (memory)
			known = load(mem, v, insn, &word);
		else
			known = v->known & 1U << rm, word = v->r[rm];
		set(v, reg, known && insn->wide, word);
		return true;
	case 0x2b:					/* sub r/m, reg */
		known = v->known & 1U << reg && insn->wide && memory &&
			load(mem, v, insn, &word);
		set(v, reg, known, v->r[reg] - word);
		return true;
	case 0x58 ... 0x5f:
		pop(mem, v, (insn->op & 7) | insn->rm_high << 3);
		return true;
	case 0xc7:					/* mov imm, r/m */
		if (!memory)
			set(v, rm, false, 0);
		return true;
	}
	return false;
}

bool kunwind_walk_attr kunwind_code_switches(struct kunwind_mem *mem, u64 from, u64 sp, u64 *slot,
					     s32 *rbp_at)
{
	struct kunwind_text text = { .mem = mem, .left = MOST_INSNS };
	struct values v = { .known = 1U << RSP };
	struct kunwind_insn insn;
	u64 at = from;

	v.r[RSP] = sp;
	while (kunwind_insn_next(&text, at, &insn)) {
		at += insn.length;
		if (!(v.known & 1U << RSP))
			return false;
		if (!insn.map && insn.op == 0xc3) {
			*slot = v.r[RSP];
			*rbp_at = !v.rbp_from ? -1 : KUNWIND_CODE_RBP_LOST;
			if (v.rbp_from > 0 && *slot - v.rbp_from <= MOST_INSNS * 8)
				*rbp_at = *slot - v.rbp_from;
			return v.switched;
		}
		if (!follow(mem, &v, &insn))
			return false;
	}
	return false;
}

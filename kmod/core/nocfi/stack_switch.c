// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * stack_switch.c - find the return address of code that first switches stacks,
 * and recognize code that has just switched them
 *
 * A run-time system with threads of its own (goroutines) calls C and parts of
 * itself on the stack of the kernel's thread (Go's asmcgocall() and
 * systemstack()). After the call, its code reads the address of the other stack
 * from this one, or through thread-local storage, sets rsp to it, and returns.
 * Unwind information cannot express this, but the code shows it.
 * kunwind_code_switches() computes the values that the instructions after the
 * call move, starting from rsp and from the base of fs:
 *
 *	mov 8(%rsp), %rdi; mov 8(%rdi), %rsi; sub (%rsp), %rsi;
 *	mov %rsi, %rsp; pop %rbp; ret
 *
 *	mov %fs:-8, %rax; mov 48(%rax), %rbx; mov 192(%rbx), %rax;
 *	mov 56(%rax), %rsp; ret
 *
 * Stores to memory are skipped. Any instruction other than mov, sub, pop and
 * ret means that there is no answer.
 *
 * kunwind_code_took_rsp() looks the other way: whether code has just switched
 * stacks (Go's mcall()). Instructions cannot be decoded backwards, so it
 * searches bytes, and its callers use it only to reject an answer.
 *
 * Bounds: MOST_INSNS instructions, with at most one word of memory each. Any
 * context, NMI included; kunwind_deps.h reads memory. Stack: 510 bytes.
 */
#include "../walk/mem.h"
#include "../x86/insn_decode.h"
#include "code_analysis.h"
#include "stack_switch.h"

#define MOST_INSNS	16
#define RSP		4	/* ModRM's register numbers */
#define RBP		5
#define FS		0x64	/* prefix */
#define NR_VALUES	16	/* registers that are followed: not those of APX */

/* Registers, by ModRM's numbers. */
struct values {
	u64 r[NR_VALUES];
	u32 known;		/* a bit for each register */
	bool switched;		/* rsp was set, other than by a pop of another register */
	s64 rbp_from;		/* where rbp was popped from; 0: rbp is unchanged, -1: not known */
};

/*
 * The word that the instruction reads, which ends @here. False: it is not known
 * or not readable.
 */
static bool kunwind_walk_attr load(struct kunwind_mem *mem, const struct values *v,
				   const struct kunwind_insn *insn, u64 here, u64 *word)
{
	const u8 mod = insn->modrm >> 6, low = insn->modrm & 7;
	const u32 base = low == 4 ? RSP : low | insn->rm_high << 3;
	u64 addr = (s64)insn->disp;

	if (mod == 3 || (low == 4 && !insn->on_rsp && !insn->absolute) || insn->short_address ||
	    base >= NR_VALUES)
		return false;
	if (low == 5 && !mod) {
		addr += here;
	} else if (!insn->absolute) {
		if (!(v->known & 1U << base))
			return false;
		addr += v->r[base];
	}
	if (insn->segment == FS)
		addr += kunwind_mem_fs(mem);
	else if (insn->segment)
		return false;
	return kunwind_read_word(mem, addr, word);
}

static void kunwind_walk_attr set(struct values *v, u32 reg, bool known, u64 value)
{
	v->r[reg] = value;
	v->known = known ? v->known | 1U << reg : v->known & ~(1U << reg);
	v->switched |= reg == RSP;
	if (reg == RBP)
		v->rbp_from = -1;
}

/* The caller has checked that rsp is known. */
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

/* Apply an instruction that ends @here. False: it is none of those that are followed. */
static bool kunwind_walk_attr follow(struct kunwind_mem *mem, struct values *v,
				     const struct kunwind_insn *insn, u64 here)
{
	const u32 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;
	const u32 rm = (insn->modrm & 7) | insn->rm_high << 3;
	const bool memory = insn->modrm >> 6 != 3;
	u64 word = 0;
	bool known;

	if (insn->map || reg >= NR_VALUES || rm >= NR_VALUES)
		return false;
	switch (insn->op) {
	case 0x89:					/* mov reg, r/m */
		if (!memory)
			set(v, rm, insn->wide && v->known & 1U << reg, v->r[reg]);
		return true;
	case 0x8b:					/* mov r/m, reg */
		if (memory)
			known = load(mem, v, insn, here, &word);
		else
			known = v->known & 1U << rm, word = v->r[rm];
		set(v, reg, known && insn->wide, word);
		return true;
	case 0x2b:					/* sub r/m, reg */
		known = v->known & 1U << reg && insn->wide && memory &&
			load(mem, v, insn, here, &word);
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
		if (!follow(mem, &v, &insn, at))
			return false;
	}
	return false;
}

bool kunwind_walk_attr kunwind_code_took_rsp(struct kunwind_mem *mem, u64 ip)
{
	u64 words[2];
	u32 i;

	if (kunwind_read_words(mem, ip - sizeof(words), words, 2) != 2)
		return false;
	for (i = 0; i + 2 < sizeof(words); i++) {
		const u8 *byte = (const u8 *)words + i;

		/* REX.W without REX.R, mov, and a ModRM with rsp and memory */
		if ((byte[0] & 0xfc) == 0x48 && byte[1] == 0x8b &&
		    (byte[2] & 0x38) == 0x20 && byte[2] >> 6 != 3)
			return true;
	}
	return false;
}

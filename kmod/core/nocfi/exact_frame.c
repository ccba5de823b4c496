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
#include "../x86/insn_effect.h"
#include "exact_frame.h"

#define MOST_STRAIGHT	16

/* A register, by its number in instructions. False: its value is not known. */
static bool kunwind_walk_attr read_register(const struct kunwind_walk *walk, u32 number, u64 *value)
{
	const u32 reg = kunwind_insn_dwarf(number);

	if (reg >= KUNWIND_RA || !(walk->regs.valid & KUNWIND_REG(reg)))
		return false;
	*value = walk->regs.r[kunwind_index(reg, (u32)KUNWIND_RA)];
	return true;
}

/* The instruction writes @reg, maybe a system call by implication; or it may jump. */
static bool kunwind_walk_attr may_change(const struct kunwind_insn *insn,
					 const struct kunwind_insn_effect *e, u32 reg)
{
	const bool syscall = insn->map == 1 && insn->op == 0x05;

	return e->flow != KUNWIND_FLOW_NEXT || kunwind_insn_writes(insn, reg) ||
	       (syscall && (!reg || reg == 1 || reg == 11));
}

bool kunwind_walk_attr kunwind_code_keeps(struct kunwind_mem *mem, u64 from, u32 reg, bool *returns)
{
	struct kunwind_text text = { .mem = mem, .left = MOST_STRAIGHT };
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	bool kept = true;
	u64 at = from;

	*returns = false;
	while (kunwind_insn_next_effect(&text, at, &insn, &e)) {
		at += insn.length;
		if (e.words >= 0) {
			kept &= !may_change(&insn, &e, reg);
			continue;
		}
		kept &= insn.op >> 3 == 10 && ((insn.op & 7u) | insn.rm_high << 3) == reg;
		*returns = kunwind_insn_next(&text, at, &insn) && !insn.map && insn.op == 0xc3;
		return kept;
	}
	return false;
}

/* test %rax, %rax; cmp $0, %rax; or of eax */
static bool kunwind_walk_attr tests_rax(const struct kunwind_insn *insn)
{
	return !insn->map && !insn->rm_high && !insn->reg_high &&
	       ((insn->op == 0x85 && insn->modrm == 0xc0) ||
		(insn->op == 0x83 && insn->modrm == 0xf8 && !insn->imm));
}

/* The code before an address: a system call; and a test of rax; and a short jl or js. */
static bool kunwind_walk_attr tested_behind(u64 behind)
{
	const u8 op = behind >> 48;

	if (op == 0x7c || op == 0x78)
		behind <<= 16;
	return behind >> 24 == 0xc08548050fULL || behind >> 32 == 0xc085050f ||
	       behind >> 16 == 0x00f88348050fULL || behind >> 24 == 0x00f883050fULL;
}

u64 kunwind_walk_attr kunwind_code_after_zero(struct kunwind_mem *mem, u64 behind, u64 ip)
{
	struct kunwind_text text = { .mem = mem, .left = 4 };
	bool tested = tested_behind(behind);
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	u64 at = ip, after = ip;

	if (!tested && behind >> 48 != 0x050f)
		return ip;
	while (kunwind_insn_next_effect(&text, at, &insn, &e)) {
		const u8 form = insn.op & 15;

		at += insn.length;
		if (!tested) {
			if (!tests_rax(&insn))
				return ip;
			tested = true;
			continue;
		}
		if (e.flow != KUNWIND_FLOW_BRANCH || (!insn.map && insn.op >> 4 != 7))
			return after;
		if (1 << form & (1 << 3 | 1 << 4 | 1 << 6 | 1 << 9 | 1 << 13 | 1 << 14))
			return at + (s64)insn.imm;	/* jae, je, jbe, jns, jge, jle */
		if (form == 5)				/* jne */
			after = at;
	}
	return after;
}

bool kunwind_walk_attr kunwind_exact_pushed(struct kunwind_walk *walk,
					    const struct kunwind_nocfi_frame *frame, u32 reg,
					    struct kunwind_candidate *c, bool *found)
{
	const s32 rbp_at = c->rbp_at;
	bool returns;

	*found = false;
	if (!kunwind_code_keeps(&walk->mem, frame->ip, reg, &returns) || !read_register(walk, reg, &c->ra))
		return !returns;
	if (returns)
		return false;
	c->slot = frame->sp - 8;
	kunwind_prove(walk, frame, c);
	if (c->proof < KUNWIND_PROOF_POSSIBLE || c->proof == KUNWIND_PROOF_HANDLER)
		return false;
	c->proof = KUNWIND_PROOF_POSSIBLE;
	c->rbp_at = rbp_at;
	*found = true;
	return true;
}

/* The bytes may be part of another instruction. Then the register has another value. */
bool kunwind_walk_attr kunwind_exact_wrote_top(struct kunwind_walk *walk,
					       const struct kunwind_candidate *c, u64 ip)
{
	u64 word, value;
	u32 reg;

	if (!kunwind_read_word(&walk->mem, ip, &word) ||
	    (kunwind_byte(word, 0) != 0xc3 && (u16)word != 0xc3f3))	/* ret, repz ret */
		return false;
	if (!kunwind_read_word(&walk->mem, ip - 8, &word))
		return false;
	if ((word >> 32 & 0xffc7fffb) == 0x24048948) {		/* mov %reg, (%rsp) */
		reg = (kunwind_byte(word, 6) >> 3) | (kunwind_byte(word, 4) & 4) << 1;
		return read_register(walk, reg, &value) && value == c->ra;
	}
	if ((kunwind_byte(word, 7) & 0xf8) != 0x50)
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

bool kunwind_walk_attr kunwind_exact_nested(struct kunwind_walk *walk,
					    const struct kunwind_nocfi_frame *frame)
{
	/* gcc/config/i386/i386.cc, ix86_trampoline_init() */
	static const u8 before[] = { 0, 6, 10, 16, 20 };
	const struct kunwind_range *range = frame->range;
	struct kunwind_mem *mem = &walk->mem;
	const u64 ip = frame->ip;
	u32 i;

	/* The trampoline is on the stack, so one mapping contains both ip and rsp. */
	if (frame->sp - range->start >= range->end - range->start)
		return false;
	for (i = 0; i < ARRAY_SIZE(before); i++) {
		const u64 at = ip - before[i];
		u64 first, second, jump, behind;

		if (!kunwind_read_word(mem, at, &first) ||
		    ((u16)first != 0xbb49 && (u16)first != 0xbb41))
			continue;
		behind = at + ((u16)first == 0xbb49 ? 10 : 6);
		if (kunwind_read_word(mem, behind, &second) && (u16)second == 0xba49 &&
		    kunwind_read_word(mem, behind + 10, &jump) && (jump & 0xffffff) == 0xe3ff49)
			return ip == at || ip == behind || ip == behind + 10;
	}
	return false;
}

bool kunwind_walk_attr kunwind_exact_thunk_returns(struct kunwind_walk *walk, u64 ip,
						   struct kunwind_rule rule)
{
	u64 word;

	return walk->code >> 24 == 0x0824648d48ULL &&		/* lea 8(%rsp), %rsp */
	       rule.kind == KUNWIND_RULE_CFA && rule.reg == KUNWIND_RSP && rule.off == 16 &&
	       kunwind_read_word(&walk->mem, ip, &word) && kunwind_byte(word, 0) == 0xc3;
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

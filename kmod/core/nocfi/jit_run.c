// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * jit_run.c - the return address of a JIT's code that takes rsp from the stack
 *
 * SpiderMonkey's code aligns rsp before it calls C, and its returns remove arguments:
 *
 *	mov %rsp, %rcx;  and $-16, %rsp;  push %rcx;  sub $8, %rsp;  call ...
 *	add $8, %rsp;  pop %rsp;  test %al, %al;  je ...;  pop %rcx;  add $8, %rsp;  ret $0x28
 *
 * Code that calls with arguments that it has made removes them by the size on the stack:
 *
 *	pop %r11;  shr $8, %r11;  add %r11, %rsp;  pop %rbp;  pop %rdi;  pop (%rsp);  ret
 *
 * Here, pop (%rsp) moves the return address up by a word.
 *
 * The place of the return address depends on words of the stack. So the instructions from
 * the frame's address on are emulated with these words. rsp, rbp, and one register that was
 * popped have values. Conditional jumps count as not taken. A call, a push, a store in the
 * frame other than pop (%rsp), and any other change of rsp than those above end the run
 * without an answer. rsp only rises, by at most KUNWIND_FRAME_MOST. pop %rsp raises it by 8
 * or 16 bytes, because it undoes an alignment. A run that takes no word as rsp, and removes
 * nothing, is left to the code ahead.
 *
 * Bounds: MOST_INSNS instructions. Any context, NMI included; the budget pays.
 */
#include "../walk/mem.h"
#include "../x86/insn_effect.h"
#include "insn_kind.h"
#include "jit_run.h"

#define MOST_INSNS	24
#define NO_REG		(~0U)

struct run {
	struct kunwind_mem *mem;
	u64 sp, bp;
	u64 moved;		/* where pop (%rsp) found the return address; 0: it has not run */
	u64 value;		/* of the register */
	u32 reg;		/* the register that was popped last, or that was shifted; or NO_REG */
	bool bp_known;
	bool shifted;
	bool took;		/* rsp was taken from a word */
};

/* rsp becomes @sp. */
static bool kunwind_walk_attr raise(struct run *run, u64 sp, u32 most)
{
	if (sp & 7 || sp - run->sp > most)
		return false;
	run->sp = sp;
	return true;
}

static bool kunwind_walk_attr pop(struct run *run, const struct kunwind_insn *insn)
{
	const u32 reg = (insn->op & 7) | insn->rm_high << 3;
	const u64 at = run->sp;
	u64 value;

	run->sp += 8;
	if (insn->op == 0x8f) {				/* pop (%rsp) */
		run->moved = at;
		return insn->modrm == 0x04 && insn->sib == 0x24;
	}
	if (!kunwind_read_word(run->mem, at, &value))
		return false;
	if (reg == RSP) {				/* rsp before it was aligned */
		run->took = true;
		return raise(run, value, 8);
	}
	if (reg == RBP) {
		run->bp = value;
		run->bp_known = true;
	} else if (!run->shifted || reg == run->reg) {
		run->reg = reg;
		run->value = value;
		run->shifted = false;
	}
	return true;
}

/* The instruction stores in the frame. */
static bool kunwind_walk_attr stores(const struct kunwind_insn *insn)
{
	return insn->has_modrm && insn->modrm >> 6 != 3 && insn->on_rsp && insn->op != 0x8b &&
	       insn->op != 0x8d;
}

/* An instruction that neither jumps nor returns. False: rsp is not known after it. */
static bool kunwind_walk_attr apply(struct run *run, const struct kunwind_insn *insn,
				    const struct kunwind_insn_effect *e)
{
	const u32 rm = (insn->modrm & 7) | insn->rm_high << 3;

	if (!insn->map && (insn->op >> 3 == 11 || insn->op == 0x8f))
		return pop(run, insn);
	if (!insn->map && insn->op == 0xc1 && insn->wide && insn->modrm >> 3 == 0x1d && rm == run->reg &&
	    insn->imm == 8) {				/* shr $8 */
		run->value >>= 8;
		run->shifted = true;
		return true;
	}
	if (!insn->map && insn->op == 0x03 && insn->wide && insn->modrm >> 3 == 0x1c && rm == run->reg &&
	    run->shifted) {				/* add to rsp */
		run->took = true;
		return raise(run, run->sp + run->value, KUNWIND_FRAME_MOST);
	}
	if (e->words || stores(insn))
		return false;
	if (run->reg != NO_REG && !kunwind_insn_keeps(insn, run->reg))
		run->reg = NO_REG;
	if (e->rbp == KUNWIND_RBP_FROM_RSP || e->rbp == KUNWIND_RBP_WRITTEN)
		run->bp_known = false;
	else if (e->rbp)
		return false;
	if (e->rsp == KUNWIND_RSP_FROM_RBP)
		return run->bp_known && raise(run, run->bp + (s64)e->off, KUNWIND_FRAME_MOST);
	return e->rsp == KUNWIND_RSP_ADD && raise(run, run->sp + (s64)e->off, KUNWIND_FRAME_MOST);
}

bool kunwind_walk_attr kunwind_jit_runs(struct kunwind_walk *walk,
					const struct kunwind_nocfi_frame *frame,
					struct kunwind_jit_run *result)
{
	struct run run = { .mem = &walk->mem, .sp = frame->sp, .bp = frame->bp, .reg = NO_REG,
			   .bp_known = frame->bp_known };
	struct kunwind_text text = { .mem = &walk->mem, .left = MOST_INSNS };
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	u64 at = frame->ip;

	while (kunwind_insn_next_effect(&text, at, &insn, &e)) {
		at += insn.length;
		switch (e.flow) {
		case KUNWIND_FLOW_BRANCH:
			continue;
		case KUNWIND_FLOW_JUMP:
			at += (s64)e.distance;
			text.read = text.used = 0;
			continue;
		case KUNWIND_FLOW_NEXT:
			if (run.moved || !apply(&run, &insn, &e))
				return false;
			continue;
		case KUNWIND_FLOW_ANY:			/* the code that it jumps to returns */
			if (!run.took || run.moved)
				return false;
			break;
		case KUNWIND_FLOW_RETURN:
			if (!run.took && !run.moved && insn.op != 0xc2)
				return false;
			break;
		default:
			return false;
		}
		result->slot = run.moved ?: run.sp;
		result->sp = run.sp + 8;
		if (e.flow == KUNWIND_FLOW_RETURN && insn.op == 0xc2)
			result->sp += (u16)insn.imm;
		result->bp = run.bp;
		result->bp_known = run.bp_known;
		return true;
	}
	return false;
}

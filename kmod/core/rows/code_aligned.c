// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code_aligned.c - where the old rsp is in code that has aligned rsp; see code_aligned.h
 *
 * Such code copies rsp to a register first. It keeps the copy there, or in a word of its frame:
 *	mov %rsp, %r13;  and $-32, %rsp;  ...;  mov %r13, %rsp
 *	mov %rsp, %rax;  and $-32, %rsp;  mov %rax, (%rsp);  ...;  pop %rsp
 * After "and", distances count from the aligned value (KUNWIND_FLOW_ALIGNED).
 *
 * A register counts as long as nothing can have written it. A word counts as long as some
 * instruction that follows loads it: what the code overwrites before, it does not load. So
 * stores need not be followed.
 *
 * Task context. Uses only its arguments.
 */
#include "code_aligned.h"

#define SAVED_REGS 0xf008 /* rbx and r12 to r15, which functions return unchanged */

/* Whether the instruction keeps register @number. */
static bool keeps(const struct kunwind_insn *decoded, const struct kunwind_flow_insn *insn, u8 number)
{
	if (insn->effect.flow == KUNWIND_FLOW_CALL)
		return SAVED_REGS >> number & 1;
	return kunwind_insn_keeps(decoded, number);
}

/* The same for a copy that is followed until rsp is aligned, in code without jumps. */
static void follow_made(struct kunwind_copy_tracker *t, const struct kunwind_insn *decoded,
			const struct kunwind_flow_insn *insn)
{
	const struct kunwind_insn_effect *e = &insn->effect;
	s32 at;
	const u8 made = kunwind_insn_copies_rsp(decoded, &at);

	if (made != KUNWIND_NO_REG) {
		t->made = made;
		t->at = at;
	} else if (t->made == KUNWIND_NO_REG) {
		return;
	} else if (e->rsp != KUNWIND_RSP_ADD || e->flow != KUNWIND_FLOW_NEXT ||
		   !keeps(decoded, insn, t->made)) {
		t->made = KUNWIND_NO_REG;
	} else {
		t->at -= e->off;
	}
}

void kunwind_copy_track(struct kunwind_copy_tracker *t, const struct kunwind_insn *decoded,
			struct kunwind_flow_insn *insn)
{
	s32 at;

	insn->copy = KUNWIND_NO_REG;
	if (insn->targeted || insn->flags & (KUNWIND_INSN_BEGINS | KUNWIND_INSN_ENTRY))
		t->made = KUNWIND_NO_REG;
	if (insn->effect.rsp == KUNWIND_RSP_ALIGNED) {
		t->kept = t->at == (s32)t->at ? t->made : KUNWIND_NO_REG;
		t->made = KUNWIND_NO_REG;
		insn->effect.at = t->at;
		insn->copy = t->kept;
		return;
	}
	follow_made(t, decoded, insn);
	if (t->kept == KUNWIND_NO_REG || !keeps(decoded, insn, t->kept))
		return;
	insn->copy = t->kept;
	if (kunwind_insn_stores(decoded, t->kept, &at)) {
		insn->copy |= KUNWIND_COPY_STORED;
		insn->effect.at = at;
	}
}

s32 kunwind_aligned_sp(s32 sp, s32 bp)
{
	if (known(sp))
		return ALIGNED;
	if (known(bp) && !kunwind_flow_aligned(bp))
		return VARIES;
	return sp == UNKNOWN ? UNKNOWN : LOST;
}

bool kunwind_aligned_loads(const struct kunwind_flow_insn *insn)
{
	const struct kunwind_flow_state *in = &insn->state;
	const s32 base = insn->effect.loads == KUNWIND_LOADS_BY_RBP ?
				 kunwind_flow_either(in->bp, in->need_bp) :
				 in->sp;

	return insn->effect.loads && kunwind_old_in_word(in->old) && kunwind_flow_aligned(base) &&
	       place(base, &insn->effect) == ALIGNED + kunwind_old_at(in->old);
}

s32 kunwind_aligned_restored(const struct kunwind_flow_insn *insn)
{
	const struct kunwind_insn_effect *e = &insn->effect;
	const s32 old = insn->state.old;

	if (kunwind_aligned_loads(insn))
		return kunwind_old_distance(old);
	if (kunwind_has_old(&insn->state) && known(old) && !kunwind_old_in_word(old) &&
	    e->base == kunwind_old_reg(old))
		return moved(kunwind_old_distance(old), -(s64)e->off);
	return UNKNOWN;
}

s32 kunwind_aligned_old(const struct kunwind_flow_insn *insn, s32 sp)
{
	const struct kunwind_flow_state *in = &insn->state;
	const struct kunwind_insn_effect *e = &insn->effect;
	s32 at;

	if (e->rsp == KUNWIND_RSP_ALIGNED) {
		if (in->sp == UNKNOWN)
			return UNKNOWN;
		at = place(in->sp, e);
		return insn->copy != KUNWIND_NO_REG && known(at) && at >= 0 && at < KUNWIND_DEREF_ADDS &&
				       !(at & 7) ?
			       kunwind_old_in_reg(insn->copy, at) :
			       LOST;
	}
	if (!kunwind_has_old(in) || (known(sp) && !kunwind_flow_aligned(sp)))
		return LOST;
	if (!known(in->old))
		return in->old;
	if (kunwind_old_in_word(in->old))
		return in->old;
	if (insn->copy == KUNWIND_NO_REG ||
	    (insn->copy & ~KUNWIND_COPY_STORED) != kunwind_old_reg(in->old))
		return LOST;
	at = insn->copy & KUNWIND_COPY_STORED ? place(sp, e) : UNKNOWN;
	if (kunwind_flow_aligned(at) && at >= ALIGNED - KUNWIND_OLD_MOST_AT &&
	    at < ALIGNED + KUNWIND_OLD_MOST_AT && !(at & 7))
		return kunwind_old_at_word(at - ALIGNED, kunwind_old_distance(in->old));
	return in->old;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code_moved.c - whether the caller's rsp is the address above the return address; see
 * code_moved.h
 *
 * A function may take arguments off the stack when it returns (ret $16; or pop %rcx;
 * add $16, %rsp; push %rcx; ret). Mostly its caller has pushed them: then the caller had
 * rsp = CFA at the call, as after any other call. But the function may also have moved its
 * return address down, to make room for arguments of its own (V8's builtins: pop %rcx;
 * push %rax; push %rcx). Then the caller's rsp is higher, and nothing in the code after the
 * move says by how much.
 *
 *	kept		the code leads here from a function's entry, and has not popped
 *			the return address: it is where the call has put it
 *	removes		the code leads from here, or from a place that leads here, to a
 *			return that takes words off the stack
 *
 * A row where the return address may have been moved and a return removes words gives the
 * return address, and maybe rbp, but a doubtful rsp (KUNWIND_RULE_MOVED).
 *
 * Both facts pass along the instructions in sweeps over the code, forward and backward.
 * Task context. Uses only the caller's memory.
 */
#include "code_aligned.h"
#include "code_moved.h"

#define ROUNDS 8 /* sweeps in each direction; compiled code needs two or three */

/* Whether the instruction moves rsp above the return address. */
static bool pops_return(const struct kunwind_flow_insn *insn)
{
	const struct kunwind_insn_effect *e = &insn->effect;

	return e->rsp == KUNWIND_RSP_ADD && known(insn->state.sp) &&
	       !kunwind_flow_aligned(insn->state.sp) && (s64)insn->state.sp - e->off < 8;
}

/* Whether the same function goes on at the next instruction. */
static bool goes_on(const struct kunwind_code_flow *f, u32 i)
{
	const struct kunwind_flow_insn *insn = &f->insns[i], *next = insn + 1;
	const u8 flow = insn->effect.flow;

	if (i + 1 == f->nr || next->flags & KUNWIND_INSN_BEGINS)
		return false;
	if (flow != KUNWIND_FLOW_CALL)
		return flow == KUNWIND_FLOW_NEXT || flow == KUNWIND_FLOW_BRANCH;
	/* After a call that does not return, rsp is another one, mostly. */
	return !(next->flags & KUNWIND_INSN_ENTRY) &&
	       ((known(insn->state.sp) && insn->state.sp != 8 && insn->state.sp == next->state.sp) ||
		(known(insn->state.bp) && insn->state.bp == next->state.bp));
}

/* Passes both facts from instruction @i to @to. Returns whether that is new there. */
static bool pass(const struct kunwind_flow_insn *insn, struct kunwind_flow_insn *to)
{
	const bool kept = insn->kept && !pops_return(insn);
	const bool is_new = (kept && !to->kept) || (insn->removes && !to->removes);

	to->kept |= kept;
	to->removes |= insn->removes;
	return is_new;
}

/* Instruction @to may lead to a return that removes words: so does what leads there. */
static bool pass_back(struct kunwind_flow_insn *insn, const struct kunwind_flow_insn *to)
{
	const bool is_new = to->removes && !insn->removes;

	insn->removes |= is_new;
	return is_new;
}

static bool sweep(struct kunwind_code_flow *f)
{
	bool more = false;
	u32 i;

	for (i = 0; i < f->nr; i++) {
		struct kunwind_flow_insn *insn = &f->insns[i];

		if (goes_on(f, i))
			more |= pass(insn, insn + 1);
		if (insn->target != KUNWIND_NO_INSN)
			more |= pass(insn, &f->insns[insn->target]);
	}
	for (i = f->nr; i-- > 0;) {
		struct kunwind_flow_insn *insn = &f->insns[i];

		if (goes_on(f, i))
			more |= pass_back(insn, insn + 1);
		if (insn->target != KUNWIND_NO_INSN)
			more |= pass_back(insn, &f->insns[insn->target]);
	}
	return more;
}

void kunwind_code_moved_solve(struct kunwind_code_flow *f)
{
	u32 round, i;
	bool any = false;

	for (i = 0; i < f->nr; i++) {
		f->insns[i].kept |= f->insns[i].flags & KUNWIND_INSN_ENTRY;
		f->insns[i].removes |= f->insns[i].takes_return;
		any |= f->insns[i].removes;
	}
	if (!any)
		return;
	for (round = 0; round < ROUNDS; round++)
		if (!sweep(f))
			return;
	/* Not all is known. */
	for (i = 0; i < f->nr; i++)
		f->insns[i].removes = true;
}

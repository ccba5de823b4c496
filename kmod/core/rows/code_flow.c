// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code_flow.c - where the CFA is at each instruction of some code; see code_flow.h
 *
 * Three facts are sought for each instruction: how far below the CFA are rsp, rbp, and
 * the word that has the caller's rbp. Each instruction relates the facts before it to
 * those after it (insn_effect.h). So one known fact gives those of its neighbours, in
 * both directions: what follows, what jumps lead to, and what leads there.
 *
 * Known facts to begin with:
 *   a function's entry	rsp is 8 below the CFA, rbp is the caller's
 *   a return		the same
 *
 * Where two ways give different distances of rsp, at least one of them is wrong: all
 * instructions that are connected to this place by known steps lose the fact. So a
 * function whose code was misread, or which does what no compiler does, gets no
 * rows. Exception: if rbp is a frame pointer, and the same on both ways, only rsp has
 * no single distance there: a loop has pushed. A different rbp is no contradiction: then
 * rbp is not known after this place.
 *
 * A tail call does not connect two functions: it may have moved the return address.
 *
 * A call mostly returns with the same rsp and rbp. It may also never return, and the
 * next instruction belongs to something else; or the called function removes its
 * arguments. So what a call leads to is only tried: if a contradiction follows, the trial
 * is undone. The same holds for code that nothing seems to lead to: it may be a
 * function that is only called by pointer, or a case of a switch, to which an indirect
 * jump of the same function leads. Of a trial, those instructions are kept from which it
 * arrives where the distance of rsp was already known, and is the same. For a case of a
 * switch, an indirect jump with the distance of the first one is such a place, too
 * (interpreters): what reads a callee-saved register that it has not written
 * is no function's beginning. For code that aligns rsp, see code_aligned.c.
 * Task context. Uses only the caller's memory.
 */
#include "code_aligned.h"

#define TRIAL_WORK 32 /* steps of trials for each instruction */
#define TRIAL_ROUNDS 8 /* over the trail */
#define INSIDE_INSNS 8 /* of a block that are looked at */
#define RESCHED	   4096 /* steps */

/* What is known at a function's entry, and at its return. */
static const struct kunwind_flow_state entry = { 8, SAME, SAME, UNKNOWN, UNKNOWN, LOST, UNKNOWN };
static const struct kunwind_flow_state at_return = { 8, UNKNOWN, UNKNOWN, SAME, SAME, UNKNOWN, UNKNOWN };
static const struct kunwind_flow_state nothing = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN,
						   UNKNOWN, UNKNOWN, UNKNOWN };

/*
 * Which calls a trial follows. A function may begin at a multiple of 16, and the call
 * before it may never return.
 */
enum followed_calls { NO_CALLS, MOST_CALLS, ALL_CALLS };

/* ------------------------------------------------------ one instruction */

/* What is known after an instruction. */
static struct kunwind_flow_state after(const struct kunwind_flow_insn *insn)
{
	const struct kunwind_flow_state *in = &insn->state;
	const struct kunwind_insn_effect *e = &insn->effect;
	const s32 bp = kunwind_flow_either(in->bp, in->need_bp);
	const s32 slot = kunwind_flow_either(in->slot, in->need_slot);
	struct kunwind_flow_state out = { in->sp, bp, slot, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
	s32 at;

	switch (e->rsp) {
	case KUNWIND_RSP_ADD:
		out.sp = moved(in->sp, -(s64)e->off);
		break;
	case KUNWIND_RSP_FROM_RBP:
		out.sp = known(bp) ? moved(bp, -(s64)e->off) : UNKNOWN;
		break;
	case KUNWIND_RSP_SET:
		out.sp = kunwind_aligned_restored(insn);
		break;
	case KUNWIND_RSP_ALIGNED:
		out.sp = kunwind_aligned_sp(in->sp, bp);
		/* Distances from another aligned value mean nothing any more. */
		out.bp = kunwind_flow_aligned(bp) ? LOST : bp;
		out.slot = kunwind_flow_aligned(slot) ? LOST : slot;
		break;
	default:
		out.sp = known(bp) ? VARIES : LOST;
	}
	switch (e->rbp) {
	case KUNWIND_RBP_FROM_RSP:
		out.bp = in->sp == VARIES ? LOST : place(in->sp, e);
		break;
	case KUNWIND_RBP_STORED:
		if (bp == SAME && slot == SAME)
			out.slot = place(out.sp, e);
		break;
	case KUNWIND_RBP_LOADED:
	case KUNWIND_RBP_LEFT:
		at = e->rbp == KUNWIND_RBP_LEFT ? bp : place(in->sp, e);
		if (at == UNKNOWN || slot == UNKNOWN) {
			out.bp = UNKNOWN;
			out.slot = UNKNOWN;
		} else if (known(at) && at == slot) {
			out.bp = SAME;
			out.slot = SAME;
		} else {
			out.bp = LOST;
		}
		break;
	case KUNWIND_RBP_WRITTEN:
		out.bp = LOST;
		break;
	}
	out.old = kunwind_aligned_old(insn, out.sp);
	return out;
}

/* What is known before an instruction from what is known after it. */
static struct kunwind_flow_state before(const struct kunwind_flow_insn *insn,
					const struct kunwind_flow_state *out)
{
	const struct kunwind_insn_effect *e = &insn->effect;
	struct kunwind_flow_state in = nothing;
	s32 at;

	if (e->rsp == KUNWIND_RSP_ALIGNED) {
		in.need_bp = kunwind_before_aligned(out->need_bp);
		in.need_slot = kunwind_before_aligned(out->need_slot);
		return in;
	}
	if (e->rsp == KUNWIND_RSP_ADD && out->sp != VARIES)
		in.sp = moved(out->sp, e->off);
	in.need_slot = out->need_slot;
	in.need_old = out->need_old;
	/* If the restored rsp is contradictory, so is the old one. */
	if (e->rsp == KUNWIND_RSP_SET)
		in.need_old = out->sp == LOST && known(kunwind_aligned_restored(insn)) ? LOST : UNKNOWN;
	switch (e->rbp) {
	case KUNWIND_RBP_KEPT:
		in.need_bp = out->need_bp;
		/* All that leads to the next instruction has the same frame pointer. */
		if (in.need_bp == UNKNOWN && out->bp != SAME)
			in.need_bp = out->bp;
		/* If rsp is contradictory afterwards, so is rbp. */
		if (e->rsp == KUNWIND_RSP_FROM_RBP && (known(out->sp) || out->sp == LOST))
			in.need_bp = moved(out->sp, e->off);
		break;
	case KUNWIND_RBP_STORED:
		in.need_bp = out->need_bp;
		in.need_slot = UNKNOWN;
		/* What follows loads the caller's rbp from there. */
		if (known(out->need_slot) && out->need_slot == place(out->sp, e))
			in.need_bp = SAME;
		break;
	case KUNWIND_RBP_FROM_RSP:
		if (known(out->need_bp))
			in.sp = moved(out->need_bp, e->at);
		break;
	case KUNWIND_RBP_LOADED:
		at = place(known(insn->state.sp) ? insn->state.sp : in.sp, e);
		if (out->need_bp == SAME)
			in.need_slot = known(at) ? at : UNKNOWN;
		break;
	case KUNWIND_RBP_LEFT:
		at = known(out->sp) || out->sp == LOST ? moved(out->sp, e->off) : UNKNOWN;
		in.need_bp = at;
		in.need_slot = out->need_bp == SAME ? at : UNKNOWN;
		break;
	}
	return in;
}

static void enqueue(struct kunwind_code_flow *f, u32 i)
{
	if (f->insns[i].flags & KUNWIND_INSN_QUEUED)
		return;
	f->insns[i].flags |= KUNWIND_INSN_QUEUED;
	f->queue[f->queued++] = i;
}

/*
 * Whether the distance of rsp below the CFA is known and the same. If rsp was aligned, it is so only
 * with the old rsp: otherwise "and" would confirm any distance before it.
 */
static bool agree(const struct kunwind_flow_state *a, const struct kunwind_flow_state *b)
{
	return known(a->sp) && a->sp == b->sp &&
	       (!kunwind_flow_aligned(a->sp) || (known(a->old) && a->old == b->old));
}

/* Notes the state before a trial changes it. */
static bool note(struct kunwind_code_flow *f, u32 i)
{
	if (!f->trial)
		return true;
	if (f->tried == KUNWIND_FLOW_TRAIL) {
		f->failed = true;
		return false;
	}
	f->trail[f->tried++] = (struct kunwind_flow_change){ i, f->insns[i].state };
	if (!(f->insns[i].flags & KUNWIND_INSN_TRIED)) {
		f->insns[i].was_known = known(f->insns[i].state.sp);
		if (agree(&f->insns[i].state, &f->insns[i].state))
			f->insns[i].flags |= KUNWIND_INSN_GOOD;
	}
	f->insns[i].flags |= KUNWIND_INSN_TRIED;
	return true;
}

static s32 merge(s32 old, s32 new)
{
	return new == UNKNOWN || new == old ? old : old == UNKNOWN ? new : LOST;
}

/*
 * Two ways give different distances of rsp at @insn. Whether both may be right, because a
 * loop pushes: both have the same frame pointer. A trial may find this only where
 * nothing was known before it.
 */
static bool may_vary(const struct kunwind_code_flow *f, const struct kunwind_flow_insn *insn, u32 from,
		     const struct kunwind_flow_state *state, bool backward)
{
	const bool own = f->trial && insn->flags & KUNWIND_INSN_TRIED && !insn->was_known;
	const s32 bp = kunwind_flow_either(insn->state.bp, insn->state.need_bp);

	if (insn->state.sp == LOST || state->sp == LOST || (f->trial && !own && known(insn->state.sp)))
		return false;
	if (backward)
		return from != KUNWIND_NO_INSN && insn->effect.rbp == KUNWIND_RBP_KEPT && known(bp) &&
		       f->insns[from].state.bp != LOST;
	return known(state->bp) && (bp == state->bp || (own && bp == UNKNOWN));
}

/*
 * @state was found at instruction @i, by instruction @from (or KUNWIND_NO_INSN), which leads
 * there, or to which @i leads.
 */
static void found(struct kunwind_code_flow *f, u32 from, u32 i,
		  const struct kunwind_flow_state *state, bool backward)
{
	struct kunwind_flow_insn *insn = &f->insns[i];
	struct kunwind_flow_state to = insn->state;

	to.sp = merge(to.sp, state->sp);
	if (to.sp == LOST && may_vary(f, insn, from, state, backward))
		to.sp = VARIES;
	to.bp = merge(to.bp, state->bp);
	to.slot = merge(to.slot, state->slot);
	to.need_bp = merge(to.need_bp, state->need_bp);
	to.need_slot = merge(to.need_slot, state->need_slot);
	to.need_old = merge(to.need_old, state->need_old);
	/* Elsewhere it says nothing, and a trial would go on for it where all else is known. */
	if (kunwind_has_old(&to))
		to.old = merge(to.old, state->old);
	if (f->trial && from != KUNWIND_NO_INSN && !backward && agree(state, &insn->state) &&
	    (!(insn->flags & KUNWIND_INSN_TRIED) || insn->flags & KUNWIND_INSN_GOOD))
		f->insns[from].flags |= KUNWIND_INSN_GOOD;
	if (!memcmp(&to, &insn->state, sizeof(to)))
		return;
	/* No compiled code has rsp above the return address. */
	if (f->trial && ((to.sp == LOST && known(insn->state.sp)) ||
			 (to.old == LOST && known(insn->state.old)) ||
			 (known(to.sp) && to.sp < entry.sp) ||
			 (to.bp >= SAME && known(to.need_bp) && to.bp != to.need_bp))) {
		f->failed = true;
		return;
	}
	if (!note(f, i))
		return;
	insn->state = to;
	enqueue(f, i);
}

/* Whether the next instruction in memory follows. */
static bool flows_on(const struct kunwind_code_flow *f, u32 i)
{
	const u8 flow = f->insns[i].effect.flow;

	return i + 1 < f->nr && !(f->insns[i + 1].flags & KUNWIND_INSN_BEGINS) &&
	       (flow == KUNWIND_FLOW_NEXT || flow == KUNWIND_FLOW_BRANCH);
}

/*
 * After a call, in a trial. If the distance is known to be another, the call does not return.
 * A function that has nothing on its stack does not call, but every function begins so.
 */
static void call_returns(struct kunwind_code_flow *f, u32 i)
{
	const struct kunwind_flow_insn *insn = &f->insns[i], *next = insn + 1;
	const struct kunwind_flow_state out = after(insn);

	if (i + 1 == f->nr || next->flags & (KUNWIND_INSN_BEGINS | KUNWIND_INSN_ENTRY))
		return;
	if (insn->state.sp == entry.sp || next->flags & KUNWIND_INSN_FOREIGN ||
	    (known(next->state.sp) ? next->state.sp != insn->state.sp :
				     f->calls < ALL_CALLS && next->flags & KUNWIND_INSN_ALIGNED))
		return;
	found(f, i, i + 1, &out, false);
}

/* Tells instruction @before_i, which leads to @i, what is known at @i. */
static void lead_back(struct kunwind_code_flow *f, u32 i, u32 before_i,
		      const struct kunwind_flow_state *state)
{
	const struct kunwind_flow_state in = before(&f->insns[before_i], state);

	found(f, i, before_i, &in, true);
}

/* Pays for a step. False: the trial has failed, or may take no more steps. */
static bool take_step(struct kunwind_code_flow *f)
{
	if (!(++f->steps % RESCHED))
		kunwind_resched();
	if (!f->trial)
		return true;
	if (f->failed || !f->work)
		return false;
	f->work--;
	return true;
}

/* The first jump to instruction @i or a later one. */
static u32 first_jump(const struct kunwind_code_flow *f, u32 i)
{
	u32 low = 0, high = f->nr_jumps;

	while (low < high) {
		const u32 mid = low + (high - low) / 2;

		if (f->insns[f->jumps[mid]].target < i)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Instruction @i, or one that follows, loads the old rsp from the word @at. */
static void need_old(struct kunwind_code_flow *f, u32 i, s32 at)
{
	const struct kunwind_flow_state need = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, at };

	found(f, KUNWIND_NO_INSN, i, &need, true);
}

/* Tells the neighbours of an instruction what is known there. */
static void spread(struct kunwind_code_flow *f, u32 i)
{
	const struct kunwind_flow_insn *insn = &f->insns[i];
	const struct kunwind_flow_state state = insn->state;
	const struct kunwind_flow_state out = after(insn);
	u32 j;

	if (kunwind_aligned_loads(insn))
		need_old(f, i, kunwind_old_at(state.old));
	/* The word is the same after a call. */
	if (i && insn[-1].effect.flow == KUNWIND_FLOW_CALL && !(insn->flags & KUNWIND_INSN_BEGINS) &&
	    known(state.old) && insn[-1].state.old == state.old)
		need_old(f, i - 1, state.need_old);
	/* Backwards first: what is found last goes on first, and forwards more is known. */
	if (i && flows_on(f, i - 1))
		lead_back(f, i, i - 1, &state);
	for (j = insn->targeted ? first_jump(f, i) : f->nr_jumps;
	     j < f->nr_jumps && f->insns[f->jumps[j]].target == i; j++) {
		if (!take_step(f))
			return;
		lead_back(f, i, f->jumps[j], &state);
	}
	/* What follows has another return address. */
	if (!f->trial && state.sp == entry.sp && insn->effect.rsp == KUNWIND_RSP_ADD &&
	    insn->effect.off > 0 && i + 1 < f->nr)
		f->insns[i + 1].flags |= KUNWIND_INSN_BEGINS;
	if (f->trial && f->calls && insn->effect.flow == KUNWIND_FLOW_CALL)
		call_returns(f, i);
	if (insn->target != KUNWIND_NO_INSN)
		found(f, i, insn->target, &out, false);
	if (flows_on(f, i))
		found(f, i, i + 1, &out, false);
	if (f->dispatch && insn->effect.flow == KUNWIND_FLOW_ANY && state.sp == f->dispatch_sp)
		f->insns[i].flags |= KUNWIND_INSN_GOOD;
	/* a tail call */
	if (insn->flags & KUNWIND_INSN_TAIL && state.sp == entry.sp &&
	    kunwind_flow_either(state.bp, state.need_bp) == SAME)
		f->insns[i].flags |= KUNWIND_INSN_GOOD;
}

static void run(struct kunwind_code_flow *f)
{
	while (f->queued) {
		const u32 i = f->queue[--f->queued];

		f->insns[i].flags &= ~KUNWIND_INSN_QUEUED;
		if (take_step(f))
			spread(f, i);
	}
}

/* ---------------------------------------------------------------- trials */

/* Whether an instruction that the trial has reached leads to a good one. */
static bool leads_to_good(const struct kunwind_code_flow *f, u32 i)
{
	const u8 both = KUNWIND_INSN_TRIED | KUNWIND_INSN_GOOD;
	const struct kunwind_flow_insn *insn = &f->insns[i];
	const bool call = f->calls && insn->effect.flow == KUNWIND_FLOW_CALL && i + 1 < f->nr &&
			  !(insn[1].flags & KUNWIND_INSN_BEGINS);

	/* Where rsp is not known after the instruction, nothing was compared. */
	if (after(insn).sp == UNKNOWN)
		return false;
	return ((call || flows_on(f, i)) && (insn[1].flags & both) == both) ||
	       (insn->target != KUNWIND_NO_INSN && (f->insns[insn->target].flags & both) == both);
}

/* Marks what leads to good instructions. The trail is mostly in the order of the flow. */
static void find_good(struct kunwind_code_flow *f)
{
	u32 round, j;
	bool more = true;

	for (round = 0; more && round < TRIAL_ROUNDS; round++) {
		more = false;
		for (j = f->tried; j-- > 0;) {
			struct kunwind_flow_insn *insn = &f->insns[f->trail[j].insn];

			if (!(insn->flags & KUNWIND_INSN_GOOD) && leads_to_good(f, f->trail[j].insn)) {
				insn->flags |= KUNWIND_INSN_GOOD;
				more = true;
			}
		}
	}
	f->work -= min(f->work, (u64)round * f->tried);
}

/*
 * Assumes @state at instruction @i. Follows @calls, and keeps what is good. Returns
 * whether the assumption is kept.
 */
static bool trial(struct kunwind_code_flow *f, u32 i, const struct kunwind_flow_state *state,
		  enum followed_calls calls)
{
	bool good, kept;
	u32 j;

	f->trial = true;
	f->calls = calls;
	f->failed = false;
	f->tried = 0;
	found(f, KUNWIND_NO_INSN, i, state, false);
	run(f);
	if (!f->failed && f->work)
		find_good(f);
	good = !f->failed && f->work;
	kept = good && f->insns[i].flags & KUNWIND_INSN_GOOD;
	for (j = f->tried; j-- > 0;) {
		struct kunwind_flow_insn *insn = &f->insns[f->trail[j].insn];

		if (!good || !(insn->flags & KUNWIND_INSN_GOOD))
			insn->state = f->trail[j].state;
	}
	for (j = f->tried; j-- > 0;)
		f->insns[f->trail[j].insn].flags &= ~(KUNWIND_INSN_TRIED | KUNWIND_INSN_GOOD);
	f->trial = false;
	return kept;
}

static bool try(struct kunwind_code_flow *f, u32 i, const struct kunwind_flow_state *state)
{
	u32 calls = ALL_CALLS;

	/* With fewer calls, it fails less, but it also confirms less. */
	do {
		if (trial(f, i, state, calls))
			return true;
	} while (f->failed && calls--);
	return false;
}

/* Whether the code at @i relies on a callee-saved register: it is within a function. */
static bool inside(const struct kunwind_code_flow *f, u32 i)
{
	u32 named = 0, n;

	for (n = 0; n < INSIDE_INSNS && i < f->nr; n++, i++) {
		const struct kunwind_insn_effect *e = &f->insns[i].effect;

		if (e->read & ~named)
			return true;
		named |= e->named;
		if (e->flow != KUNWIND_FLOW_NEXT && e->flow != KUNWIND_FLOW_BRANCH)
			break;
	}
	return false;
}

/*
 * Tries what may be a function that is called by pointer only, or a case of the switch
 * to which @jump leads. Returns whether it is a function.
 */
static bool try_beginning(struct kunwind_code_flow *f, u32 i, const struct kunwind_flow_insn *jump)
{
	if ((f->insns[i].targeted && !f->insns[i].padded) || f->insns[i].state.sp != UNKNOWN)
		return false;
	/* After a pop of the return address, the word at rsp is none. */
	if (i && f->insns[i - 1].effect.rsp == KUNWIND_RSP_ADD && f->insns[i - 1].effect.off > 0 &&
	    !f->insns[i - 1].drops_word)
		return false;
	f->insns[i].kept = try(f, i, &entry);
	if (f->insns[i].kept)
		return true;
	if (jump && jump->state.sp >= entry.sp) {
		f->dispatch = jump->state.sp > entry.sp && inside(f, i);
		f->dispatch_sp = jump->state.sp;
		try(f, i, &jump->state);
		f->dispatch = false;
	}
	return false;
}

/* Tries to go on after the call @i. */
static void try_call(struct kunwind_code_flow *f, u32 i, const struct kunwind_flow_insn *jump)
{
	const struct kunwind_flow_insn *insn = &f->insns[i], *next = insn + 1;
	struct kunwind_flow_state state = after(insn);

	if (i + 1 == f->nr || next->flags & (KUNWIND_INSN_BEGINS | KUNWIND_INSN_ENTRY))
		return;
	if (state.sp == entry.sp ||
	    (known(next->state.sp) && known(state.sp) && next->state.sp != state.sp))
		return;
	if (known(state.sp) && next->state.sp != LOST) {
		bool kept;

		f->dispatch = jump && jump->state.sp > entry.sp && inside(f, i + 1);
		f->dispatch_sp = jump ? jump->state.sp : 0;
		kept = try(f, i + 1, &state);
		f->dispatch = false;
		if (kept)
			return;
	}
	/* The called function may have removed its arguments. rbp is the same. */
	state.sp = UNKNOWN;
	if (known(state.bp))
		try(f, i + 1, &state);
}

static void try_all(struct kunwind_code_flow *f)
{
	const struct kunwind_flow_insn *jump = NULL;
	u32 i;

	for (i = 0; i < f->nr; i++) {
		const struct kunwind_flow_insn *insn = &f->insns[i];

		/* It makes a frame where compilers put entries: the jump is of another function. */
		if (!(~insn->flags & (KUNWIND_INSN_BEGINS | KUNWIND_INSN_ALIGNED)) && insn->effect.off < 0)
			jump = NULL;
		if (insn->flags & KUNWIND_INSN_ENTRY ||
		    (insn->flags & KUNWIND_INSN_BEGINS && try_beginning(f, i, jump)))
			jump = NULL;
		if (insn->effect.flow == KUNWIND_FLOW_ANY && (!jump || known(insn->state.sp)))
			jump = insn;
		if (insn->effect.flow == KUNWIND_FLOW_CALL)
			try_call(f, i, jump);
	}
}

/* Returns the number of the instruction that has a byte at @at, or KUNWIND_NO_INSN. */
static u32 insn_at(const struct kunwind_code_flow *f, s64 at)
{
	u32 low = 0, high = f->nr;

	while (low < high) {
		const u32 mid = low + (high - low) / 2;

		if (f->insns[mid].at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low && at - f->insns[low - 1].at < f->insns[low - 1].length ? low - 1 : KUNWIND_NO_INSN;
}

/* Sorts jumps by target: heap sort, which needs no memory. */
static void sift(struct kunwind_code_flow *f, u32 root, u32 nr)
{
	u32 *jumps = f->jumps, child;

	while ((child = 2 * root + 1) < nr) {
		const u32 value = jumps[root];

		if (child + 1 < nr && f->insns[jumps[child]].target < f->insns[jumps[child + 1]].target)
			child++;
		if (f->insns[value].target >= f->insns[jumps[child]].target)
			return;
		jumps[root] = jumps[child];
		jumps[child] = value;
		root = child;
	}
}

static void sort_jumps(struct kunwind_code_flow *f)
{
	u32 i;

	for (i = f->nr_jumps / 2; i-- > 0;)
		sift(f, i, f->nr_jumps);
	for (i = f->nr_jumps; i-- > 1;) {
		const u32 last = f->jumps[i];

		f->jumps[i] = f->jumps[0];
		f->jumps[0] = last;
		sift(f, 0, i);
	}
}

/* Finds out where the jump @i leads. */
static void link_jump(struct kunwind_code_flow *f, u32 i)
{
	static const struct kunwind_flow_state lost = { LOST, LOST, LOST, UNKNOWN, UNKNOWN, LOST, LOST };
	struct kunwind_flow_insn *insn = &f->insns[i];
	const s64 to = (s64)insn->at + insn->length + insn->effect.distance;
	const u32 target = insn_at(f, to);

	if (target == KUNWIND_NO_INSN)
		return;
	/* A tail call may have moved the return address, to make room for arguments. */
	if (f->insns[target].at == to &&
	    ((insn->effect.flow == KUNWIND_FLOW_JUMP && f->insns[target].flags & KUNWIND_INSN_ENTRY) ||
	     (f->insns[target].padded && f->insns[target].function != insn->function)))
		insn->flags |= KUNWIND_INSN_TAIL;
	if (insn->flags & KUNWIND_INSN_TAIL)
		return;
	if (f->insns[target].at == to) {
		insn->target = target;
		f->jumps[f->nr_jumps++] = i;
		return;
	}
	/* A jump into the middle of an instruction: one of the two was misread. */
	found(f, KUNWIND_NO_INSN, i, &lost, false);
	found(f, KUNWIND_NO_INSN, target, &lost, false);
}

/* Whether an instruction of the same function jumps to @i. */
static bool is_jumped_to(const struct kunwind_code_flow *f, u32 i)
{
	const u32 j = first_jump(f, i);

	return j < f->nr_jumps && f->insns[f->jumps[j]].target == i;
}

static void link(struct kunwind_code_flow *f)
{
	u32 i, function = 0;

	f->nr_jumps = 0;
	for (i = 0; i < f->nr; i++) {
		function += f->insns[i].flags & KUNWIND_INSN_ENTRY;
		f->insns[i].function = function;
		f->insns[i].state = nothing;
		f->insns[i].target = KUNWIND_NO_INSN;
	}
	for (i = 0; i < f->nr; i++) {
		const u8 flow = f->insns[i].effect.flow;

		if (flow == KUNWIND_FLOW_BRANCH || flow == KUNWIND_FLOW_JUMP)
			link_jump(f, i);
		if (f->insns[i].targeted)
			f->insns[i].flags |= KUNWIND_INSN_FOREIGN;
	}
	sort_jumps(f);
	/* All jumps to it come from other functions. */
	for (i = 0; i < f->nr; i++)
		if (f->insns[i].padded && f->insns[i].targeted && !is_jumped_to(f, i))
			f->insns[i].flags |= KUNWIND_INSN_ENTRY;
	for (i = 0; i < f->nr_jumps; i++) {
		f->insns[f->insns[f->jumps[i]].target].targeted = true;
		f->insns[f->insns[f->jumps[i]].target].flags &= ~KUNWIND_INSN_FOREIGN;
	}
}

void kunwind_code_flow_solve(struct kunwind_code_flow *f)
{
	u32 i;

	f->trial = f->dispatch = false;
	f->queued = 0;
	f->work = (u64)TRIAL_WORK * f->nr;
	link(f);
	for (i = 0; i < f->nr; i++)
		if (f->insns[i].flags & KUNWIND_INSN_ENTRY)
			found(f, KUNWIND_NO_INSN, i, &entry, false);
	run(f);
	for (i = 0; i < f->nr; i++)
		if (f->insns[i].effect.flow == KUNWIND_FLOW_RETURN || f->insns[i].takes_return)
			found(f, KUNWIND_NO_INSN, i, &at_return, true);
	run(f);
	/* The second round knows what the first one has found behind. */
	try_all(f);
	try_all(f);
}

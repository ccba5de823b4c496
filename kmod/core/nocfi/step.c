// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * step.c - step from a frame that has no unwind information
 *
 * kunwind_nocfi_step() tries the methods of method.h in their order. return_address.c
 * decides how sure it is that a word is a return address. docs/unwinding.md ("Code
 * without CFI") has the evidence that each method accepts, and what can mislead.
 *
 * Any context, NMI included. kunwind_deps.h reads user memory. A window opened here has
 * at most 17 words (a signal frame). Bounds: the walk's budget pays for each word of the
 * stack and for all code that is read. Stack: 2,100 bytes, including callees. Only a
 * signal frame gives registers other than rsp, rip and rbp.
 */
#include "../walk/mem.h"
#include "../walk/ranges.h"
#include "code_ahead.h"
#include "analysis_cache.h"
#include "step.h"
#include "code_analysis.h"
#include "exact_frame.h"
#include "hotspot_frame.h"
#include "ion_frame.h"
#include "jit_entry.h"
#include "jit_interpreter.h"
#include "jit_rule.h"
#include "jit_run.h"
#include "main_entry.h"
#include "v8_frame.h"
#include "return_address.h"
#include "outermost.h"

#define MOST_WORDS	512
#define COST_OF_STEP	4		/* in units of the budget, without reads */

/* The word at rsp, for a frame that has only its return address on the stack. */
static bool kunwind_walk_attr at_top(struct kunwind_walk *walk,
				     const struct kunwind_nocfi_frame *frame,
				     struct kunwind_candidate *c)
{
	c->slot = frame->sp;
	if (!kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	c->ra = kunwind_nocfi_return(walk, c->ra, c->slot);
	kunwind_prove(walk, frame, c);
	c->rbp_at = -1;
	if (frame->range)
		return c->proof != KUNWIND_PROOF_NO_CALL;
	/* The frame is in no code: a call that leads to code did not, but the called function may have. */
	if (c->proof == KUNWIND_PROOF_NO_CALL)
		return kunwind_proof_calls_nothing(walk, c->ra, frame->ip);
	return !c->target || kunwind_proof_leads_anywhere(walk, frame, c->target);
}

/*
 * The word above rbp, if it is at least possible. *saved: the word at rbp. The
 * address in c->ra is the original one if a return probe replaced it. @own: rbp is
 * certainly the frame's own, so the saved rbp may have any value.
 */
static bool kunwind_walk_attr at_frame_pointer(struct kunwind_walk *walk,
					       const struct kunwind_nocfi_frame *frame, bool own,
					       struct kunwind_candidate *c, u64 *saved)
{
	u64 bp = frame->bp;
	s8 at;

	if (bp & 7 || !kunwind_bp_above(frame, frame->sp))
		return false;
	c->slot = bp + 8;
	if (!kunwind_read_word(&walk->mem, bp, saved) ||
	    !kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	c->ra = kunwind_nocfi_return(walk, c->ra, c->slot);
	kunwind_prove(walk, frame, c);
	if (c->proof == KUNWIND_PROOF_NO_CALL && kunwind_proof_takes_rsp(walk, frame, c, &at) &&
	    kunwind_proof_noted_rsp(walk, c, *saved, at))
		c->proof = KUNWIND_PROOF_POSSIBLE;
	if (c->proof < KUNWIND_PROOF_POSSIBLE)
		return false;
	return own || c->proof == KUNWIND_PROOF_PROVEN || !*saved || *saved > bp ||
	       kunwind_proof_covered(walk, c->ra - 1);
}

/* rsp after the frame's call has returned (jit_interpreter.h). */
static u64 kunwind_walk_attr sender_sp(struct kunwind_walk *walk,
				       const struct kunwind_nocfi_frame *frame)
{
	u64 sp = frame->sp;

	if (!frame->bp_known || !kunwind_pay(&walk->mem, 3) || !kunwind_mem_begin(&walk->mem, sp))
		return sp;
	sp = kunwind_jit_sender_sp(&walk->mem, sp, frame->bp);
	kunwind_mem_end(&walk->mem);
	return sp;
}

/*
 * Examine the word at @slot, which the code takes as its return address. False: nothing supports
 * it. @own: the code finds @slot from rbp, or is a JIT's and has called. Then it is enough that
 * the word follows a call, perhaps of a function that jumped to this one with arguments (V8).
 */
static bool kunwind_walk_attr returns_by(struct kunwind_walk *walk,
					 const struct kunwind_nocfi_frame *frame, u64 slot,
					 bool own, struct kunwind_candidate *c)
{
	c->slot = slot;
	if (slot & 7 || !kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	c->ra = kunwind_nocfi_return(walk, c->ra, c->slot);
	if (own)
		kunwind_prove_call(walk, frame, c);
	else
		kunwind_prove(walk, frame, c);
	if (c->proof == KUNWIND_PROOF_NO_CALL && (kunwind_code_begins_goroutine(&walk->mem, c->ra) ||
						  kunwind_code_ends_fiber(&walk->mem, c->ra)))
		c->proof = KUNWIND_PROOF_PROVEN;
	return c->proof != KUNWIND_PROOF_NO_CALL || kunwind_proof_jumped(walk, frame, c);
}

enum scan_for {
	SEARCH_PROVEN,	/* the nearest proven or outermost word, or else the first that follows a call */
	SEARCH_NEAR,	/* the same, except that the first near word comes before others that follow a call */
	SEARCH_ANY,	/* the first word that follows a call; called functions are not read */
};

/*
 * Looks for a word between rsp and @end. The search stops at the trampoline of a
 * signal frame, which is the result if no word before it follows a call. found->slot
 * is @end only if all words were examined and none follows a call.
 */
static void kunwind_walk_attr scan(struct kunwind_walk *walk,
				   const struct kunwind_nocfi_frame *frame, u64 end,
				   enum scan_for what, struct kunwind_candidate *found)
{
	struct kunwind_candidate c;
	u64 words[KUNWIND_CHUNK], at;
	u32 n, i;

	found->proof = KUNWIND_PROOF_NO_CALL;
	found->slot = 0;
	for (at = frame->sp; at < end; at += 8 * n) {
		n = min((end - at) / 8, (u64)KUNWIND_CHUNK);
		/* The price of a range lookup for each word. */
		if (!kunwind_pay(&walk->mem, 1 + n / 2))
			return;
		n = kunwind_read_words(&walk->mem, at, words, n);
		if (!n)
			return;
		for (i = 0; i < n; i++) {
			c.slot = at + 8 * i;
			c.ra = kunwind_nocfi_return(walk, words[i], c.slot);
			/* Most words are not addresses of code. */
			if (!kunwind_ranges_live(walk->ranges, c.ra - 1))
				continue;
			if (what == SEARCH_ANY)
				kunwind_prove_call(walk, frame, &c);
			else
				kunwind_prove(walk, frame, &c);
			/* An earlier callee of the interpreter may have left it. */
			if (c.proof == KUNWIND_PROOF_NO_CALL && kunwind_proof_jumped(walk, frame, &c))
				c.proof = KUNWIND_PROOF_POSSIBLE;
			if (c.proof == KUNWIND_PROOF_POSSIBLE && found->proof == KUNWIND_PROOF_NO_CALL &&
			    what != SEARCH_ANY &&
			    kunwind_returns_to_outermost(walk, c.ra, c.slot, c.target))
				c.proof = KUNWIND_PROOF_OUTERMOST;
			/* The signal frame of a handler that has returned says nothing. */
			if (c.proof == KUNWIND_PROOF_HANDLER && !kunwind_proof_handles(walk, frame, &c))
				c.proof = KUNWIND_PROOF_NO_CALL;
			/* The interrupted frame is above a handler's return address. */
			if (c.proof == KUNWIND_PROOF_HANDLER) {
				if (found->proof == KUNWIND_PROOF_NO_CALL)
					*found = c;
				return;
			}
			if (c.proof >= KUNWIND_PROOF_PROVEN ||
			    (c.proof != KUNWIND_PROOF_NO_CALL &&
			     (found->proof == KUNWIND_PROOF_NO_CALL ||
			      (what == SEARCH_NEAR && c.proof == KUNWIND_PROOF_NEAR &&
			       found->proof != KUNWIND_PROOF_NEAR))))
				*found = c;
			if (c.proof >= KUNWIND_PROOF_PROVEN || !walk->mem.left ||
			    (what == SEARCH_ANY && c.proof != KUNWIND_PROOF_NO_CALL))
				return;
		}
	}
	if (found->proof == KUNWIND_PROOF_NO_CALL)
		found->slot = end;
}

/* Whether the nearest word below @slot that can be judged is proven. */
static bool kunwind_walk_attr proven_below(struct kunwind_walk *walk,
					   const struct kunwind_nocfi_frame *frame, u64 slot)
{
	struct kunwind_candidate nearer;

	scan(walk, frame, min(slot, frame->sp + 8 * MOST_WORDS), SEARCH_PROVEN, &nearer);
	return nearer.proof == KUNWIND_PROOF_PROVEN;
}

/*
 * The word that the code ahead takes as its return address. @how: as in
 * kunwind_code_ahead(). If false, *c still describes the word that was rejected;
 * c->ra is 0 if no word was read.
 */
static bool kunwind_walk_attr return_by(struct kunwind_walk *walk,
					const struct kunwind_nocfi_frame *frame, bool exact, u32 how,
					struct kunwind_candidate *c)
{
	struct kunwind_code code;
	u64 sp = frame->sp;
	bool found, jit, own;

	c->proof = KUNWIND_PROOF_NO_CALL;
	c->ra = 0;
	c->rbp_at = KUNWIND_CODE_RBP_LOST;
	c->resumes = c->moved = false;
	if (!frame->range || !kunwind_cached_code_ahead(&walk->mem, frame->ip, how, &code))
		return false;
	jit = kunwind_range_is_jit(frame->range);
	/* Only rbp shows where the frame is. */
	if (unlikely(walk->regs.valid & KUNWIND_RSP_DOUBTED) && (code.realigned || code.depth >= 0) && !jit)
		return false;
	if (code.realigned)
		return kunwind_proof_realigned(walk, frame, &code, c) && !proven_below(walk, frame, c->slot);
	c->rbp_at = code.rbp_at;
	c->resumes = code.resumes;
	c->moved = code.removes && !jit;
	c->by_calls = code.depth >= 0 && (!exact || code.calls);
	c->depth = code.depth;
	c->end = code.end;
	/* If the code calls, the push aligns the stack; the return is another function's. */
	if (exact && code.pushed >= 0 &&
	    (code.calls || kunwind_exact_pushed(walk, frame, code.pushed, c, &found)))
		return !code.calls && found;
	if (code.depth < 0) {
		if (!kunwind_bp_above(frame, sp) ||
		    !returns_by(walk, frame, frame->bp + code.frame, true, c))
			return false;
		/* As below: the code may be another function's, and rbp a caller's. */
		if ((!exact || code.calls) && !jit && proven_below(walk, frame, c->slot))
			return false;
	} else {
		if (!exact && jit)
			sp = sender_sp(walk, frame);
		own = !exact && jit && code.depth;
		if (!returns_by(walk, frame, sp + code.depth, own, c) &&
		    (sp == frame->sp || !returns_by(walk, frame, frame->sp + code.depth, own, c)))
			return false;
		/* The code may be the next function, after a call that does not return. */
		if (!exact && !code.depth && c->proof != KUNWIND_PROOF_PROVEN)
			return false;
		/*
		 * Or another function's cold part. The cold parts of several
		 * functions lie together, and each ends with a jump. The function
		 * is the same if rbp points to the word below the return address
		 * and the code restores rbp from there.
		 */
		if ((exact ? code.jumps_later : code.jumps) && !jit &&
		    !(frame->bp_known && c->slot == frame->bp + 8 && code.rbp_at == 8) &&
		    ((c->proof == KUNWIND_PROOF_POSSIBLE && frame->ip - c->target >= KUNWIND_MOST_CODE) ||
		     (c->proof == KUNWIND_PROOF_HANDLER && !kunwind_proof_handles(walk, frame, c))))
			return false;
	}
	/* The code ahead assumes that calls return. Some never do (Go's mcall()). */
	if (c->proof == KUNWIND_PROOF_CONTRADICTED && !jit &&
	    (!exact || code.unsure || kunwind_code_took_rsp(&walk->mem, frame->ip)))
		return false;
	c->rbp_at = code.rbp_at;
	return true;
}

/*
 * As return_by(), except that code after a call that never returns should not
 * count as this frame's code. If the word is not proven, and arguments of a call
 * may lie below it, the code is followed again, with KUNWIND_AHEAD_SKIPS (not if
 * it is a JIT's). Then the second result counts, even if it is false.
 */
static bool kunwind_walk_attr one_return(struct kunwind_walk *walk,
					 const struct kunwind_nocfi_frame *frame, bool exact,
					 struct kunwind_candidate *c)
{
	if (!return_by(walk, frame, exact, 0, c))
		return false;
	if (c->proof == KUNWIND_PROOF_PROVEN || kunwind_range_is_jit(frame->range) || !c->by_calls)
		return true;
	return return_by(walk, frame, exact,
			 KUNWIND_AHEAD_SKIPS | (exact ? 0 : KUNWIND_AHEAD_CALLED), c);
}

/*
 * The return address by the code ahead. In exact frames (unless the answer is
 * unsure) and in code of a JIT, the target of the call before that address does
 * not count, because another function may have jumped to this one, and a JIT
 * patches its calls. Elsewhere the target must not contradict (one_return()).
 * If no call stands before the address, the function may resume what was
 * interrupted there (struct kunwind_code). Otherwise the return of an exact frame is
 * a jump. If a register was just written there, a return to a place after a call is
 * one, too, unless that call leads to this function (then there is no answer).
 */
static bool kunwind_walk_attr at_return(struct kunwind_walk *walk,
					const struct kunwind_nocfi_frame *frame, bool exact,
					struct kunwind_candidate *c)
{
	struct kunwind_nocfi_frame there = *frame;
	bool found;

	found = one_return(walk, frame, exact, c);
	c->resumes = !found && c->proof == KUNWIND_PROOF_NO_CALL &&
		     (c->resumes || (exact && kunwind_exact_popped_flags(walk, frame->ip))) &&
		     kunwind_ranges_live(walk->ranges, c->ra) && kunwind_proof_no_call(walk, c->ra);
	if (c->resumes)
		return true;
	if (!exact || (found && (c->slot != frame->sp || c->proof == KUNWIND_PROOF_PROVEN ||
				 !kunwind_exact_wrote_top(walk, c, frame->ip))))
		return found;
	there.range = kunwind_ranges_live(walk->ranges, c->ra);
	if (!there.range || c->rbp_at != -1 || c->proof > KUNWIND_PROOF_POSSIBLE ||
	    (!found && (c->proof != KUNWIND_PROOF_NO_CALL || !kunwind_proof_no_call(walk, c->ra))))
		return false;
	there.ip = c->ra;
	there.sp = c->slot + 8;
	found = one_return(walk, &there, true, c);
	c->resumes = false;
	return found;
}

/*
 * If the code after the call switches to another stack, whose address is in
 * thread-local storage (Go's cgocallback(), through which C calls Go): rbp is then
 * the function's frame pointer on the other stack. The call before the return address
 * there must lead to this function.
 */
static bool kunwind_walk_attr at_other_frame(struct kunwind_walk *walk,
					     const struct kunwind_nocfi_frame *frame,
					     struct kunwind_candidate *c)
{
	const u64 bp = frame->bp;

	if (!frame->bp_known || bp & 7 || bp - frame->sp <= KUNWIND_FRAME_MOST)
		return false;
	c->slot = bp + 8;
	if (!kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	kunwind_prove(walk, frame, c);
	if (c->proof != KUNWIND_PROOF_NEAR && c->proof != KUNWIND_PROOF_PROVEN)
		return false;
	c->rbp_at = 8;
	return kunwind_code_ahead_by_frame(&walk->mem, frame->ip);
}

/* Set walk->regs to the caller's. The caller's rsp is above the return address. */
static void kunwind_walk_attr returned(struct kunwind_walk *walk, const struct kunwind_candidate *c,
				       bool bp_known, u64 bp)
{
	walk->regs.r[KUNWIND_RA] = c->ra;
	walk->regs.r[KUNWIND_RSP] = c->slot + 8;
	walk->regs.r[KUNWIND_RBP] = bp;
	walk->regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) |
			   (bp_known ? KUNWIND_REG(KUNWIND_RBP) : 0);
}

/* Set walk->regs to the caller's, with rbp as c->rbp_at says (struct kunwind_code). */
static void kunwind_walk_attr returned_by_code(struct kunwind_walk *walk,
					       const struct kunwind_nocfi_frame *frame,
					       const struct kunwind_candidate *c)
{
	u64 bp = frame->bp;
	bool known = frame->bp_known;

	if (c->rbp_at >= 0)
		known = kunwind_read_word(&walk->mem, c->slot - c->rbp_at, &bp);
	else if (c->rbp_at == KUNWIND_CODE_RBP_LOST)
		known = false;
	returned(walk, c, known, bp);
}

/* A step: the frame, and what the methods have found so far. */
struct trial {
	struct kunwind_nocfi_frame frame;
	u64 end;			/* of the words that are searched */
	struct kunwind_candidate fp;	/* the word above rbp, if framed */
	struct kunwind_candidate word;
	u64 saved;			/* the word at rbp, if framed */
	bool framed;
	bool exact, signal;		/* as in kunwind_nocfi_step(), struct kunwind_found */
};

/*
 * The methods of method.h, in its order. If true, walk->regs are the caller's.
 */

/* A return address of zero ends the stack. */
static bool kunwind_walk_attr begins(struct kunwind_walk *walk, struct trial *t)
{
	const struct kunwind_nocfi_frame *frame = &t->frame;

	if (!((!frame->bp_known || !frame->bp) && kunwind_code_outermost(&walk->mem, frame->ip)) &&
	    !kunwind_code_begins_goroutine(&walk->mem, frame->ip) &&
	    !kunwind_code_ends_fiber(&walk->mem, frame->ip))
		return false;
	returned(walk, &(struct kunwind_candidate){ .slot = frame->sp }, false, 0);
	return true;
}

static bool kunwind_walk_attr in_trampoline(struct kunwind_walk *walk, struct trial *t)
{
	t->signal = kunwind_nocfi_signal(walk, t->exact);
	return t->signal;
}

/* Step to t->word, if @found. */
static bool kunwind_walk_attr by_word(struct kunwind_walk *walk, const struct trial *t, bool found)
{
	if (found)
		returned_by_code(walk, &t->frame, &t->word);
	return found;
}

static bool kunwind_walk_attr by_top(struct kunwind_walk *walk, struct trial *t)
{
	return by_word(walk, t, (!t->frame.range || kunwind_exact_nested(walk, &t->frame)) &&
				at_top(walk, &t->frame, &t->word));
}

static bool kunwind_walk_attr by_other_frame(struct kunwind_walk *walk, struct trial *t)
{
	return by_word(walk, t, at_other_frame(walk, &t->frame, &t->word));
}

/*
 * Whether the frame's next instruction takes rsp from the frame of OpenJDK's interpreter
 * at rbp. Then rbp is the frame's own. Old return addresses may lie below it.
 */
static bool kunwind_walk_attr resumes_interpreter(struct kunwind_walk *walk,
						  const struct kunwind_nocfi_frame *frame)
{
	const struct kunwind_candidate here = { .slot = frame->sp - 8, .ra = frame->ip };
	s8 at;

	return kunwind_proof_takes_rsp(walk, frame, &here, &at) &&
	       kunwind_proof_noted_rsp(walk, &here, frame->bp, at);
}

/*
 * Each return address follows a call. If no word between rsp and rbp follows a
 * call, rbp belongs to this frame and not to its caller. The code ahead may
 * give no answer here: it may jump, by a pointer that the walk does not know,
 * to code that many functions share to release their frames (V8's baseline
 * code). Called frames try this before the code ahead, which costs much more in
 * a JIT's long functions. If a word does follow a call, an older call may have left it;
 * functions of V8 are known by how they begin.
 */
static bool kunwind_walk_attr by_jit_frame(struct kunwind_walk *walk, struct trial *t)
{
	const bool own = resumes_interpreter(walk, &t->frame);

	if (t->frame.bp > t->end || !at_frame_pointer(walk, &t->frame, own, &t->fp, &t->saved))
		return false;
	t->fp.own_rbp = own;
	if (t->fp.proof != KUNWIND_PROOF_PROVEN && !own) {
		scan(walk, &t->frame, t->frame.bp, SEARCH_ANY, &t->word);
		if ((t->word.proof != KUNWIND_PROOF_NO_CALL || t->word.slot != t->frame.bp) &&
		    (t->exact || !kunwind_v8_frame(walk, &t->frame)))
			return false;
	}
	returned(walk, &t->fp, true, t->saved);
	return true;
}

/* By the instructions that have made HotSpot's frame. */
static bool kunwind_walk_attr by_hotspot_frame(struct kunwind_walk *walk, struct trial *t, u32 most)
{
	struct kunwind_candidate *c = &t->word;

	c->by_calls = !t->exact && kunwind_hotspot_frame(walk, &t->frame, most, &c->depth, &c->end) &&
		      returns_by(walk, &t->frame, sender_sp(walk, &t->frame) + c->depth, true, c);
	c->rbp_at = 8;
	return by_word(walk, t, c->by_calls);
}

/* By the size that SpiderMonkey's code has pushed. */
static bool kunwind_walk_attr by_ion_frame(struct kunwind_walk *walk, struct trial *t)
{
	struct kunwind_candidate *c = &t->word;

	c->by_calls = kunwind_ion_frame(walk, &t->frame, &c->depth, &c->end) &&
		      returns_by(walk, &t->frame, t->frame.sp + c->depth, true, c);
	c->rbp_at = KUNWIND_CODE_RBP_LOST;
	return by_word(walk, t, c->by_calls);
}

/* By a routine that an earlier step has found, or as above. The code ahead costs more. */
static bool kunwind_walk_attr by_jit_made(struct kunwind_walk *walk, struct trial *t)
{
	t->word.by_calls = false;
	return by_word(walk, t, kunwind_jit_entered_again(walk, &t->frame, &t->word)) ||
	       by_ion_frame(walk, t) || by_hotspot_frame(walk, t, KUNWIND_HOTSPOT_NEAR);
}

/* By the code that is still to run, with the words of the stack. */
static noinline bool kunwind_walk_attr by_jit_run(struct kunwind_walk *walk, struct trial *t)
{
	const struct kunwind_range *caller;
	struct kunwind_jit_run run;

	if (!kunwind_jit_runs(walk, &t->frame, &run) ||
	    !returns_by(walk, &t->frame, run.slot, true, &t->word))
		return false;
	returned(walk, &t->word, run.bp_known, run.bp);
	/* CFI and rows describe rsp as if nothing was removed. */
	caller = kunwind_ranges_live(walk->ranges, t->word.ra - 1);
	if (caller && !READ_ONCE(caller->table))
		walk->regs.r[KUNWIND_RSP] = run.sp;
	return true;
}

static bool kunwind_walk_attr by_code_ahead(struct kunwind_walk *walk, struct trial *t)
{
	struct kunwind_nocfi_frame frame = t->frame;
	bool found;

	if (t->exact)
		frame.ip = kunwind_exact_after_zero(walk, frame.ip);
	found = at_return(walk, &frame, t->exact, &t->word);
	t->signal = found && t->word.resumes;
	if (by_word(walk, t, found) && t->word.moved)
		walk->regs.valid |= KUNWIND_RSP_DOUBTED;
	return found;
}

static bool kunwind_walk_attr by_proven_rbp(struct kunwind_walk *walk, struct trial *t)
{
	t->framed = at_frame_pointer(walk, &t->frame, false, &t->fp, &t->saved);
	if (!t->framed || t->fp.proof < KUNWIND_PROOF_PROVEN)
		return false;
	returned(walk, &t->fp, true, t->saved);
	return true;
}

static bool kunwind_walk_attr by_proven_word(struct kunwind_walk *walk, struct trial *t)
{
	scan(walk, &t->frame, t->framed ? min(t->end, t->frame.bp) : t->end,
	     t->framed ? SEARCH_NEAR : SEARCH_PROVEN, &t->word);
	if (t->word.proof == KUNWIND_PROOF_PROVEN || t->word.proof == KUNWIND_PROOF_HANDLER)
		returned_by_code(walk, &t->frame, &t->word);
	else if (t->word.proof == KUNWIND_PROOF_OUTERMOST)
		returned(walk, &t->word, false, 0);
	else
		return false;
	return true;
}

static bool kunwind_walk_attr by_jit_entry(struct kunwind_walk *walk, struct trial *t)
{
	return by_hotspot_frame(walk, t, KUNWIND_HOTSPOT_MOST) ||
	       by_word(walk, t, kunwind_jit_entered(walk, &t->frame, &t->word));
}

/* rbp is the handler's frame pointer: no word found below it follows a call. */
static bool kunwind_walk_attr by_handler(struct kunwind_walk *walk, struct trial *t)
{
	if (!t->framed || t->fp.proof != KUNWIND_PROOF_HANDLER ||
	    t->word.proof != KUNWIND_PROOF_NO_CALL || !kunwind_proof_handles(walk, &t->frame, &t->fp))
		return false;
	returned(walk, &t->fp, true, t->saved);
	return true;
}

/*
 * The code from @entry on says where the return address is. If the call before that
 * address says where it leads, it must lead to this entry, or to a function that jumped
 * to it.
 */
static bool kunwind_walk_attr from_entry(struct kunwind_walk *walk,
					 const struct kunwind_nocfi_frame *frame, u64 entry)
{
	struct kunwind_candidate c;
	struct kunwind_code code;
	u64 slot;

	kunwind_cached_code_read(&walk->mem, entry, frame->ip, &code);
	if (code.depth >= 0)
		slot = frame->sp + code.depth;
	else if (code.frame >= 0 && kunwind_bp_above(frame, frame->sp))
		slot = frame->bp + code.frame;
	else
		return false;
	if (!returns_by(walk, frame, slot, false, &c) || c.proof == KUNWIND_PROOF_CONTRADICTED)
		return false;
	/* The called function is too long for its code to be read as a proof. */
	if (c.proof == KUNWIND_PROOF_NEAR && c.target != entry)
		return false;
	c.rbp_at = code.rbp_at;
	returned_by_code(walk, frame, &c);
	return true;
}

/* The frame may be in main(), which libc calls through a pointer. */
static bool kunwind_walk_attr by_entry(struct kunwind_walk *walk, struct trial *t)
{
	const struct kunwind_nocfi_frame *frame = &t->frame;
	const u64 start = walk->ranges->entry;
	u64 entry;

	return kunwind_ranges_live(walk->ranges, start) == frame->range &&
	       kunwind_code_main(&walk->mem, start, &entry) && frame->ip - entry < KUNWIND_MOST_CODE &&
	       from_entry(walk, frame, entry);
}

/*
 * A guess: rbp is the frame's own. If the function does not change rbp, rbp is its caller's.
 * Therefore not if a near word lies below rbp (except in code of a JIT), or if a possible
 * word there points into a function whose rule computes the CFA from rbp.
 */
static bool kunwind_walk_attr guess_rbp(struct kunwind_walk *walk, struct trial *t)
{
	const struct kunwind_range *range = t->frame.range;

	if (!t->framed || t->fp.proof == KUNWIND_PROOF_HANDLER || (t->word.proof == KUNWIND_PROOF_NEAR ?
				   range && !kunwind_range_is_jit(range) :
				   t->word.proof == KUNWIND_PROOF_POSSIBLE &&
					   kunwind_proof_uses_rbp(walk, t->word.ra - 1)))
		return false;
	returned(walk, &t->fp, true, t->saved);
	return true;
}

/* A guess: the nearest word that follows a call, if the word is possible, or near in a JIT. */
static bool kunwind_walk_attr guess_word(struct kunwind_walk *walk, struct trial *t)
{
	struct kunwind_nocfi_frame *frame = &t->frame;

	if (t->word.proof < KUNWIND_PROOF_POSSIBLE ||
	    (t->word.proof == KUNWIND_PROOF_NEAR && frame->range && !kunwind_range_is_jit(frame->range)))
		return false;
	/* This function may have changed rbp. Keep rbp only if it fits the caller's frame. */
	frame->ip = t->word.ra;
	frame->sp = t->word.slot + 8;
	frame->range = kunwind_ranges_live(walk->ranges, t->word.ra - 1);
	t->framed = at_frame_pointer(walk, frame, false, &t->fp, &t->saved);
	returned(walk, &t->word, t->framed, frame->bp);
	return true;
}

/* For which frames a method is: all its bits must be set for the frame. */
#define CALLED	1	/* it has called */
#define EXACT	2	/* it has not */
#define ALIGNED	4	/* its rsp is aligned: words can be read there */
#define JIT	8	/* it is in code of a JIT */
#define GUESS	16	/* guesses are allowed */

enum kunwind_reason kunwind_walk_attr
kunwind_nocfi_step(struct kunwind_walk *walk, bool exact, struct kunwind_found *how)
{
	u32 tails = KUNWIND_PROOF_TAILS, frame = exact ? EXACT : CALLED;
	const bool bp_known = walk->regs.valid & KUNWIND_REG(KUNWIND_RBP);
	struct trial t = {
		.frame = {
			.ip = walk->regs.r[KUNWIND_RA],
			.sp = walk->regs.r[KUNWIND_RSP],
			.bp = bp_known ? walk->regs.r[KUNWIND_RBP] : 0,
			.bp_known = bp_known,
			.tails = &tails,
		},
		.exact = exact,
	};
	bool doubted;

	kunwind_analysis_cache_begin(walk);
	t.end = t.frame.sp + 8 * MOST_WORDS;
	t.frame.range = kunwind_ranges_live(walk->ranges, exact ? t.frame.ip : t.frame.ip - 1);
	/* A return address outside all ranges is none: an earlier step was wrong. */
	if (!exact && !t.frame.range)
		return KUNWIND_NO_RULE;
	if (!kunwind_pay(&walk->mem, COST_OF_STEP))
		return KUNWIND_BUDGET_SPENT;
	if (!(t.frame.sp & 7) && t.end >= t.frame.sp)
		frame |= ALIGNED;
	if (t.frame.range && kunwind_range_is_jit(t.frame.range))
		frame |= JIT;
	if (walk->guess)
		frame |= GUESS;
	/* In code of a JIT whose functions move their return addresses, frames are found by rbp (V8). */
	doubted = walk->regs.valid & KUNWIND_RSP_DOUBTED && !(frame & JIT);
#define TRY(id, name, trust, frames, try)						\
	if ((KUNWIND_BY_##id == KUNWIND_BY_AHEAD || !doubted) &&			\
	    ((frames) & frame) == (frames) && try(walk, &t)) {				\
		if (frame & CALLED && frame & JIT)					\
			kunwind_jit_rule_keep(walk, &t.frame, KUNWIND_BY_##id ==	\
					      KUNWIND_BY_JIT_FRAME ? &t.fp : &t.word, KUNWIND_BY_##id); \
		*how = (struct kunwind_found){ KUNWIND_BY_##id, t.signal };		\
		return KUNWIND_COMPLETE;						\
	}
	KUNWIND_METHODS(TRY)
#undef TRY
	return KUNWIND_NO_RULE;
}

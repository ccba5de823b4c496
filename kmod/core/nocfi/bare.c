// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * bare.c - a step of the walk where there is no unwind information
 *
 * For code of a JIT, hand-written assembler, all of musl. A word that may be a
 * return address has to prove itself (proof.c). kunwind_bare_step() tries the
 * methods in the order of docs/unwinding.md ("Code without CFI"), which says what
 * proves each result, and what each method reads. The last two guess, and are
 * tried only if walk->guess is set:
 *   fp	  rbp is aligned, not below rsp and at most KUNWIND_FRAME_MOST above, the
 *	  word above it is possible, and the rbp saved there is greater, or zero, or
 *	  the caller has unwind information (to which rbp may be anything). If the
 *	  function leaves rbp alone, rbp is its caller's. So rbp is not used if a near
 *	  word lies below it (except in JIT code), or a possible word of a function
 *	  whose CFA is by rbp.
 *   scan the nearest word that follows a call, if it is possible, or near in a
 *	  JIT's code.
 *
 * Any context: each word is read by the seam's reader, in a window of at most
 * CHUNK words; nothing is written. Bounds: the walk's budget pays for each word of the
 * stack and all code that is looked at. Stack: 1,400 bytes in all.
 *
 * What it does not do: find registers other than rbp. A stack may end at a function that
 * was called through a register, if only its code could prove the word.
 */
#include "../walk/mem.h"
#include "../walk/ranges.h"
#include "ahead.h"
#include "answers.h"
#include "bare.h"
#include "code.h"
#include "proof.h"
#include "start.h"
#include "switch.h"

#define MOST_WORDS	512
#define MOST_MOVED	4096		/* bytes, by a stub between two frames */
#define CHUNK		8
#define COST_OF_STEP	4		/* without what is read */

u64 kunwind_walk_attr kunwind_bare_return(struct kunwind_walk *walk, u64 ra, u64 slot)
{
	u32 looked;
	u64 real = kunwind_mem_return(&walk->mem, slot, &looked);

	/* Whoever does not pay has found nothing: the step is discarded. */
	kunwind_pay(&walk->mem, looked);
	return real && kunwind_ranges_live(walk->ranges, real - 1) ? real : ra;
}

/*
 * The stack pointer is at the struct ucontext of a signal frame: flags, link
 * and stack (40 bytes), then struct sigcontext. A handler returns to its
 * trampoline; one that is inside stands before or behind the system call.
 */
bool kunwind_walk_attr kunwind_bare_signal(struct kunwind_walk *walk, bool exact)
{
	static const u8 order[] = {
		KUNWIND_R8, KUNWIND_R9, KUNWIND_R10, KUNWIND_R11, KUNWIND_R12, KUNWIND_R13,
		KUNWIND_R14, KUNWIND_R15, KUNWIND_RDI, KUNWIND_RSI, KUNWIND_RBP, KUNWIND_RBX,
		KUNWIND_RDX, KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RSP, KUNWIND_RA,
	};
	u64 ip = walk->regs.r[KUNWIND_RA], sp = walk->regs.r[KUNWIND_RSP], value;
	struct kunwind_mem *mem = &walk->mem;
	u32 i;

	if (!kunwind_proof_trampoline(walk, ip) &&
	    (!exact || (!kunwind_proof_trampoline(walk, ip - 5) && !kunwind_proof_trampoline(walk, ip - 7) &&
			!kunwind_proof_trampoline(walk, ip - 9))))
		return false;
	if (!kunwind_proof_sigframe(walk, sp))
		return false;
	if (!kunwind_mem_begin(mem, sp + 40))
		return false;
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		kunwind_mem_read(mem, value, sp + 40 + 8 * i, fault);
		walk->regs.r[order[kunwind_index(i, (u32)ARRAY_SIZE(order))]] = value;
	}
	kunwind_mem_end(mem);
	walk->regs.valid = KUNWIND_ALL_REGS;
	return true;
fault:
	/* rsp and rip come last and stay; what else was known is so no more */
	kunwind_mem_end(mem);
	walk->regs.valid = KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA);
	return false;
}

/*
 * Whether the frame is in the trampoline that gcc puts on the stack to call a nested function: it
 * loads two constants into r11 and r10, and jumps by r11 (gcc/config/i386/i386.cc,
 * ix86_trampoline_init()).
 */
static bool kunwind_walk_attr in_nested(struct kunwind_walk *walk, const struct kunwind_bare *frame)
{
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

/* The word at the stack pointer of a frame with nothing else on its stack: its return address. */
static bool kunwind_walk_attr at_top(struct kunwind_walk *walk, const struct kunwind_bare *frame,
				     struct kunwind_candidate *c)
{
	c->slot = frame->sp;
	if (!kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	kunwind_prove(walk, frame, c);
	c->rbp_at = -1;
	return c->proof != KUNWIND_PROOF_NO_CALL;
}

/* What rbp points to. */
static bool kunwind_walk_attr at_frame_pointer(struct kunwind_walk *walk,
					       const struct kunwind_bare *frame,
					       struct kunwind_candidate *c, u64 *saved)
{
	u64 bp = frame->bp;
	s8 at;

	if (!frame->bp_known || bp & 7 || bp < frame->sp || bp - frame->sp > KUNWIND_FRAME_MOST)
		return false;
	c->slot = bp + 8;
	if (!kunwind_read_word(&walk->mem, bp, saved) ||
	    !kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	c->ra = kunwind_bare_return(walk, c->ra, c->slot);
	kunwind_prove(walk, frame, c);
	if (c->proof == KUNWIND_PROOF_NO_CALL && kunwind_proof_takes_rsp(walk, frame, c, &at) &&
	    kunwind_proof_noted_rsp(walk, c, *saved, at))
		c->proof = KUNWIND_PROOF_POSSIBLE;
	if (c->proof == KUNWIND_PROOF_NO_CALL)
		return false;
	if (c->proof < KUNWIND_PROOF_POSSIBLE)
		return false;
	return c->proof == KUNWIND_PROOF_PROVEN || !*saved || *saved > bp ||
	       kunwind_proof_covered(walk, c->ra - 1);
}

/*
 * rsp behind the call that the frame made, where its callee, entered by way of a stub that moved
 * the return address down for arguments (OpenJDK's, from compiled code to the interpreter), keeps that
 * in the first word of its frame; else @frame->sp.
 */
static u64 kunwind_walk_attr sender_sp(struct kunwind_walk *walk, const struct kunwind_bare *frame)
{
	const u64 above = frame->sp;	/* below: return address, saved rbp, first word */
	u64 bp, sp;

	if (frame->bp_known && kunwind_read_word(&walk->mem, above - 16, &bp) && bp == frame->bp &&
	    kunwind_read_word(&walk->mem, above - 24, &sp) &&
	    !(sp & 7) && sp > above && sp - above <= MOST_MOVED)
		return sp;
	return above;
}

/*
 * The word at @slot, where the code ahead returns from. If that is @by_rbp, the function has a
 * frame of its own, so that it is enough if the word follows a call. The call may lead elsewhere,
 * to a function that jumped to this one with arguments on its stack (V8).
 */
static bool kunwind_walk_attr returns_by(struct kunwind_walk *walk,
					 const struct kunwind_bare *frame, u64 slot, bool by_rbp,
					 struct kunwind_candidate *c)
{
	u64 target;

	c->slot = slot;
	if (slot & 7 || !kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	c->ra = kunwind_bare_return(walk, c->ra, c->slot);
	if (by_rbp && kunwind_pay(&walk->mem, KUNWIND_PROOF_COST) &&
	    kunwind_proof_call(walk, c->ra, &target)) {
		c->proof = KUNWIND_PROOF_POSSIBLE;
		return true;
	}
	kunwind_prove(walk, frame, c);
	if (c->proof == KUNWIND_PROOF_NO_CALL && kunwind_code_begins_goroutine(&walk->mem, c->ra))
		c->proof = KUNWIND_PROOF_PROVEN;
	return c->proof != KUNWIND_PROOF_NO_CALL || kunwind_proof_jumped(walk, frame, c);
}

/*
 * The instruction is a return, and before it stands the push of the word that it takes: it
 * jumps there. (The byte may belong to another instruction: then the register has other value.)
 */
static bool kunwind_walk_attr pushed_before(struct kunwind_walk *walk,
					    const struct kunwind_candidate *c, u64 ip)
{
	/* DWARF's numbers, by the instruction's. */
	static const u8 names[] = {
		KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RDX, KUNWIND_RBX,
		KUNWIND_RSP, KUNWIND_RBP, KUNWIND_RSI, KUNWIND_RDI,
	};
	u64 word;
	u32 reg;

	if (!kunwind_read_word(&walk->mem, ip - 8, &word) || (kunwind_byte(word, 7) & 0xf8) != 0x50)
		return false;
	reg = kunwind_byte(word, 7) & 7;
	if (walk->regs.valid & KUNWIND_REG(names[reg]) && walk->regs.r[names[reg]] == c->ra)
		return true;
	reg += KUNWIND_R8;
	return kunwind_byte(word, 6) == 0x41 && walk->regs.valid & KUNWIND_REG(reg) &&
	       walk->regs.r[reg] == c->ra;
}

/* The word from which the code ahead returns. */
static bool kunwind_walk_attr one_return(struct kunwind_walk *walk,
					 const struct kunwind_bare *frame, bool exact,
					 struct kunwind_candidate *c)
{
	struct kunwind_code code;
	u64 sp = frame->sp;

	c->proof = KUNWIND_PROOF_NO_CALL;
	c->ra = 0;
	c->rbp_at = KUNWIND_CODE_RBP_LOST;
	c->resumes = false;
	if (!frame->range || !kunwind_asked_ahead(&walk->mem, frame->ip, &code))
		return false;
	c->rbp_at = code.rbp_at;
	c->resumes = code.resumes;
	if (code.depth < 0) {
		if (!frame->bp_known || frame->bp < sp || frame->bp - sp > KUNWIND_FRAME_MOST ||
		    !returns_by(walk, frame, frame->bp + code.frame, true, c))
			return false;
	} else {
		if (!exact && kunwind_range_is_jit(frame->range))
			sp = sender_sp(walk, frame);
		if (!returns_by(walk, frame, sp + code.depth, false, c) &&
		    (sp == frame->sp ||
		     !returns_by(walk, frame, frame->sp + code.depth, false, c)))
			return false;
		/* It may be the next function, behind a call that does not return. */
		if (!exact && !code.depth && c->proof != KUNWIND_PROOF_PROVEN)
			return false;
	}
	/* What is called behaves as if it returned, but may never do so (Go's mcall()). */
	if ((!exact || code.unsure) && c->proof == KUNWIND_PROOF_CONTRADICTED &&
	    !kunwind_range_is_jit(frame->range))
		return false;
	c->rbp_at = code.rbp_at;
	return true;
}

/* The instruction follows one that pops the flags; only pops of registers stand between them. */
static bool kunwind_walk_attr popped_flags(struct kunwind_walk *walk, u64 ip)
{
	u32 i = 7;
	u64 word;

	if (!kunwind_read_word(&walk->mem, ip - 8, &word))
		return false;
	while (i && (kunwind_byte(word, i) >> 3 == 11 || kunwind_byte(word, i) == 0x41))
		i--;
	return kunwind_byte(word, i) == 0x9d;
}

/*
 * Where the code ahead returns from. Where the call before that address leads does not count:
 * a function may have been jumped to, and a JIT patches its calls. Where there is no call
 * before it, the function may resume what was interrupted there (struct kunwind_code). Otherwise,
 * or if its push stands before the return, the return is a jump: what it leads to returns from
 * above that word.
 */
static bool kunwind_walk_attr at_return(struct kunwind_walk *walk, const struct kunwind_bare *frame,
					bool exact, struct kunwind_candidate *c)
{
	struct kunwind_bare there = *frame;
	bool found;

	found = one_return(walk, frame, exact, c);
	c->resumes = !found && c->proof == KUNWIND_PROOF_NO_CALL &&
		     kunwind_ranges_live(walk->ranges, c->ra) && kunwind_proof_no_call(walk, c->ra) &&
		     (c->resumes || (exact && popped_flags(walk, frame->ip)));
	if (c->resumes)
		return true;
	if (!exact || (found && (c->slot != frame->sp || !pushed_before(walk, c, frame->ip))))
		return found;
	there.range = kunwind_ranges_live(walk->ranges, c->ra);
	if (!there.range || c->rbp_at != -1 || (!found && !kunwind_proof_no_call(walk, c->ra)))
		return false;
	there.ip = c->ra;
	there.sp = c->slot + 8;
	found = one_return(walk, &there, true, c);
	c->resumes = false;
	return found;
}

/* Where the code behind the call takes another stack and returns; to a call of its function. */
static bool kunwind_walk_attr at_switch(struct kunwind_walk *walk, const struct kunwind_bare *frame,
					struct kunwind_candidate *c)
{
	s32 rbp_at;

	if (!kunwind_code_switches(&walk->mem, frame->ip, frame->sp, &c->slot, &rbp_at) ||
	    c->slot & 7 || !kunwind_read_word(&walk->mem, c->slot, &c->ra))
		return false;
	kunwind_prove(walk, frame, c);
	c->rbp_at = rbp_at;
	return c->proof == KUNWIND_PROOF_NEAR || c->proof == KUNWIND_PROOF_PROVEN;
}

/*
 * The same where nothing on this stack leads to the other (Go's cgocallback(), by which C calls Go:
 * that is in thread-local storage), but rbp is the function's frame pointer there.
 */
static bool kunwind_walk_attr at_other_frame(struct kunwind_walk *walk,
					     const struct kunwind_bare *frame,
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

/* Up to CHUNK words from @at on; how many of them there are. */
static u32 kunwind_walk_attr read_words(struct kunwind_mem *mem, u64 at, u64 *words, u32 most)
{
	u32 n;

	if (!kunwind_mem_begin(mem, at))
		return 0;
	for (n = 0; n < most; n++)
		kunwind_mem_read(mem, words[kunwind_index(n, (u32)CHUNK)], at + 8 * n, fault);
fault:
	kunwind_mem_end(mem);
	return n;
}

/*
 * The nearest proven word of the stack; else the first that follows a call at
 * all, but a @near one, if there is one. Its slot is @end if all words up to there
 * were looked at and none follows a call.
 */
static void kunwind_walk_attr scan(struct kunwind_walk *walk, const struct kunwind_bare *frame,
				   u64 end, bool near, struct kunwind_candidate *found)
{
	struct kunwind_candidate c;
	u64 words[CHUNK], at;
	u32 n, i;

	found->proof = KUNWIND_PROOF_NO_CALL;
	found->slot = 0;
	for (at = frame->sp; at < end; at += 8 * n) {
		n = min((end - at) / 8, (u64)CHUNK);
		/* Each word is looked for in the ranges. */
		if (!kunwind_pay(&walk->mem, 1 + n / 2))
			return;
		n = read_words(&walk->mem, at, words, n);
		if (!n)
			return;
		for (i = 0; i < n; i++) {
			/* most words are no address at all */
			if (!kunwind_ranges_live(walk->ranges, words[i] - 1))
				continue;
			c.slot = at + 8 * i;
			c.ra = words[i];
			kunwind_prove(walk, frame, &c);
			if (c.proof == KUNWIND_PROOF_NO_CALL &&
			    kunwind_proof_jumped(walk, frame, &c))
				c.proof = KUNWIND_PROOF_PROVEN;
			if (c.proof == KUNWIND_PROOF_POSSIBLE &&
			    found->proof == KUNWIND_PROOF_NO_CALL && (c.slot & 15) == 8 &&
			    kunwind_code_outermost(&walk->mem, c.ra))
				c.proof = KUNWIND_PROOF_OUTERMOST;
			/* Above a handler's return address is what was interrupted. */
			if (c.proof == KUNWIND_PROOF_HANDLER) {
				if (found->proof == KUNWIND_PROOF_NO_CALL)
					*found = c;
				return;
			}
			if (c.proof >= KUNWIND_PROOF_PROVEN ||
			    (c.proof != KUNWIND_PROOF_NO_CALL &&
			     (found->proof == KUNWIND_PROOF_NO_CALL ||
			      (near && c.proof == KUNWIND_PROOF_NEAR &&
			       found->proof != KUNWIND_PROOF_NEAR))))
				*found = c;
			if (c.proof >= KUNWIND_PROOF_PROVEN || !walk->mem.left)
				return;
		}
	}
	if (found->proof == KUNWIND_PROOF_NO_CALL)
		found->slot = end;
}

/* The caller's registers: its stack begins behind the return address. */
static void kunwind_walk_attr returned(struct kunwind_walk *walk, const struct kunwind_candidate *c,
				       bool bp_known, u64 bp)
{
	walk->regs.r[KUNWIND_RA] = c->ra;
	walk->regs.r[KUNWIND_RSP] = c->slot + 8;
	walk->regs.r[KUNWIND_RBP] = bp;
	walk->regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) |
			   (bp_known ? KUNWIND_REG(KUNWIND_RBP) : 0);
}

/*
 * The return address above a JIT's frame pointer; walk->regs become the caller's. Each return
 * address follows a call. If no word between rsp and rbp does, rbp is this frame's own, and not its
 * caller's. The code ahead may give no answer: it jumps, by a pointer that is not known here, to
 * code that many functions share to release their frames (V8's baseline code).
 */
static bool kunwind_walk_attr by_jit_frame(struct kunwind_walk *walk,
					   const struct kunwind_bare *frame, u64 end)
{
	struct kunwind_candidate fp, word;
	u64 saved;

	if (!frame->range || !kunwind_range_is_jit(frame->range) || frame->bp > end ||
	    !at_frame_pointer(walk, frame, &fp, &saved))
		return false;
	if (fp.proof != KUNWIND_PROOF_PROVEN) {
		scan(walk, frame, frame->bp, true, &word);
		if (word.proof != KUNWIND_PROOF_NO_CALL || word.slot != frame->bp)
			return false;
	}
	returned(walk, &fp, true, saved);
	return true;
}

/* The same by what the function's code says: rbp is preserved, unless it was pushed. */
static void kunwind_walk_attr returned_by_code(struct kunwind_walk *walk,
					       const struct kunwind_bare *frame,
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

enum kunwind_reason kunwind_walk_attr
kunwind_bare_step(struct kunwind_walk *walk, bool exact, struct kunwind_found *how)
{
	struct kunwind_bare frame = {
		.ip = walk->regs.r[KUNWIND_RA],
		.sp = walk->regs.r[KUNWIND_RSP],
		.bp = walk->regs.r[KUNWIND_RBP],
		.bp_known = walk->regs.valid & KUNWIND_REG(KUNWIND_RBP),
	};
	u64 saved, end = frame.sp + 8 * MOST_WORDS;
	u32 tails = KUNWIND_PROOF_TAILS;
	struct kunwind_candidate fp, word;
	bool framed;

	*how = (struct kunwind_found){ };
	kunwind_answers_begin(walk);
	frame.tails = &tails;
	frame.range = kunwind_ranges_live(walk->ranges, exact ? frame.ip : frame.ip - 1);
	/* Where nothing is known to be code, the walk went astray before. */
	if (!exact && !frame.range)
		return KUNWIND_NO_RULE;
	if (!kunwind_pay(&walk->mem, COST_OF_STEP))
		return KUNWIND_DEPTH;
	if (!exact && (((!frame.bp_known || !frame.bp) &&
			kunwind_code_outermost(&walk->mem, frame.ip)) ||
		       kunwind_code_begins_goroutine(&walk->mem, frame.ip))) {
		/* A return address of zero ends the stack. */
		returned(walk, &(struct kunwind_candidate){ .slot = frame.sp }, false, 0);
		return KUNWIND_COMPLETE;
	}
	if (kunwind_bare_signal(walk, exact)) {
		how->signal = true;
		how->trust = KUNWIND_TRUST_SIGNAL;
		return KUNWIND_COMPLETE;
	}
	if (frame.sp & 7 || end < frame.sp)
		return KUNWIND_NO_RULE;
	how->trust = KUNWIND_TRUST_CODE;
	if (exact && (!frame.range || in_nested(walk, &frame)) && at_top(walk, &frame, &word)) {
		returned_by_code(walk, &frame, &word);
		return KUNWIND_COMPLETE;
	}
	if (!exact && (at_switch(walk, &frame, &word) || at_other_frame(walk, &frame, &word))) {
		returned_by_code(walk, &frame, &word);
		return KUNWIND_COMPLETE;
	}
	/* Before the code ahead, which costs much more in a JIT's long functions. */
	if (!exact && by_jit_frame(walk, &frame, end))
		return KUNWIND_COMPLETE;
	if (at_return(walk, &frame, exact, &word)) {
		how->signal = word.resumes;
		returned_by_code(walk, &frame, &word);
		return KUNWIND_COMPLETE;
	}
	if (exact && by_jit_frame(walk, &frame, end))
		return KUNWIND_COMPLETE;

	framed = at_frame_pointer(walk, &frame, &fp, &saved);
	if (framed && fp.proof >= KUNWIND_PROOF_PROVEN) {
		returned(walk, &fp, true, saved);
		return KUNWIND_COMPLETE;
	}
	scan(walk, &frame, framed ? min(end, frame.bp) : end, framed, &word);
	if (word.proof == KUNWIND_PROOF_PROVEN || word.proof == KUNWIND_PROOF_HANDLER) {
		returned_by_code(walk, &frame, &word);
		return KUNWIND_COMPLETE;
	}
	if (word.proof == KUNWIND_PROOF_OUTERMOST) {
		returned(walk, &word, false, 0);
		return KUNWIND_COMPLETE;
	}
	/* A handler's frame pointer; the handler may have called, but no word tells of that. */
	if (framed && fp.proof == KUNWIND_PROOF_HANDLER && word.proof == KUNWIND_PROOF_NO_CALL) {
		returned(walk, &fp, true, saved);
		return KUNWIND_COMPLETE;
	}
	if (!walk->guess)
		return KUNWIND_NO_RULE;
	if (framed && (word.proof == KUNWIND_PROOF_NEAR ?
			       !frame.range || kunwind_range_is_jit(frame.range) :
			       word.proof != KUNWIND_PROOF_POSSIBLE ||
				       !kunwind_proof_uses_rbp(walk, word.ra - 1))) {
		returned(walk, &fp, true, saved);
		how->trust = KUNWIND_TRUST_FP;
		return KUNWIND_COMPLETE;
	}
	if (word.proof < KUNWIND_PROOF_POSSIBLE ||
	    (word.proof == KUNWIND_PROOF_NEAR && frame.range && !kunwind_range_is_jit(frame.range)))
		return KUNWIND_NO_RULE;
	/* This function may have changed rbp: it has to prove itself as the caller's, too. */
	frame.ip = word.ra;
	frame.sp = word.slot + 8;
	frame.range = kunwind_ranges_live(walk->ranges, word.ra - 1);
	framed = at_frame_pointer(walk, &frame, &fp, &saved);
	returned(walk, &word, framed, frame.bp);
	how->trust = KUNWIND_TRUST_SCAN;
	return KUNWIND_COMPLETE;
}

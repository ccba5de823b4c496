// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * walk_i386.c - the walk of 32-bit code: from registers to a call stack
 *
 * Rules have the format of walk.c's, and the same lookup finds them. A word has
 * four bytes, so the return address is at CFA - 4, and all addresses wrap at
 * 2^32 (i386.h). Unlike in walk.c, only the step from a signal frame may lower
 * the stack pointer. 32-bit programs are rare, so the walk is simple: it has no
 * cache of rules, and reads each word in a window of its own, as the aligned
 * eight bytes around it.
 *
 * Without CFI, the return address is the stack word that the code ahead pops to
 * return (code_ahead.c). It is accepted only if a call ends at this address. A
 * frame that has made a call also needs a frame pointer, because the called
 * function may have taken arguments off the stack. Nothing is guessed.
 *
 * Any context, NMI included. Bounds: at most one step for each address that the
 * caller has room for; the budget (mem.h) pays for each. Stack: at most 1,600
 * bytes (tests/build/check-stack).
 *
 * The walk does not use the other methods of step.c, does not go on if a CFA
 * needs an unknown register, and does not recognize signal trampolines without
 * CFI.
 */
#include "../nocfi/code_ahead.h"
#include "../nocfi/code_analysis.h"
#include "../nocfi/return_address.h"
#include "../walk/mem.h"
#include "../walk/ranges.h"
#include "../walk/walk.h"
#include "../walk/full_rule.h"
#include "i386.h"

/* Makes a step by a short rule. Sets walk->regs to the caller's registers. */
static enum kunwind_reason kunwind_walk_attr
short_step(struct kunwind_walk *walk, const struct kunwind_table *table, struct kunwind_rule rule)
{
	struct kunwind_regs *regs = &walk->regs;
	u64 cfa, ra, bp;

	if (rule.reg >= KUNWIND_RA)
		return KUNWIND_CORRUPT;
	if (!(regs->valid & KUNWIND_REG(rule.reg)))
		return KUNWIND_REG_UNKNOWN;
	cfa = regs->r[kunwind_index(rule.reg, KUNWIND_RA)];
	switch (rule.kind & KUNWIND_RULE_KIND) {
	case KUNWIND_RULE_CFA:
		cfa = (u32)(cfa + (s64)rule.off);
		break;
	case KUNWIND_RULE_DEREF:
		if (!kunwind_read_word32(&walk->mem, (u32)(cfa + (s64)kunwind_deref_off(rule)), &cfa))
			return KUNWIND_UNREADABLE;
		break;
	default:	/* 32-bit code has no KUNWIND_RULE_PLT: such rows have a full rule */
		return KUNWIND_CORRUPT;
	}
	if (!kunwind_read_word32(&walk->mem, cfa - sizeof(u32), &ra))
		return KUNWIND_UNREADABLE;
	switch (rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) {
	case KUNWIND_RBP_SAVED:
		if (!kunwind_read_word32(&walk->mem, cfa + (s64)rule.rbp, &bp))
			return KUNWIND_UNREADABLE;
		regs->r[KUNWIND_RBP] = bp;
		regs->valid |= KUNWIND_REG(KUNWIND_RBP);
		break;
	case KUNWIND_RBP_UNKNOWN:
		regs->valid &= ~KUNWIND_REG(KUNWIND_RBP);
		break;
	}
	regs->valid &= (kunwind_table_keep(table) & KUNWIND_I386_SAVED) |
		       KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP) |
		       KUNWIND_REG(KUNWIND_RA);
	regs->r[KUNWIND_RSP] = cfa;
	regs->r[KUNWIND_RA] = ra;
	return KUNWIND_COMPLETE;
}

/*
 * Makes a step from a frame that no table has a rule for. Sets walk->regs to
 * the caller's registers. Returns false, and does not change walk->regs, if no
 * return address is proved.
 */
static noinline bool kunwind_walk_attr step_by_code(struct kunwind_walk *walk, bool exact)
{
	struct kunwind_regs *regs = &walk->regs;
	u64 slot, ra, target, bp = regs->r[KUNWIND_RBP];
	u32 valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP);
	bool bp_known = regs->valid & KUNWIND_REG(KUNWIND_RBP);
	struct kunwind_code code;

	if (!kunwind_ranges_live(walk->ranges, regs->r[KUNWIND_RA] - !exact) ||
	    !kunwind_code_ahead(&walk->mem, true, regs->r[KUNWIND_RA], 0, &code))
		return false;
	if (code.depth < 0) {
		if (!bp_known || bp - regs->r[KUNWIND_RSP] > KUNWIND_FRAME_MOST)
			return false;
		slot = bp + code.frame;
	} else if (exact) {
		slot = regs->r[KUNWIND_RSP] + code.depth;
	} else {
		return false;
	}
	if (slot + sizeof(u32) != (u32)(slot + sizeof(u32)) ||
	    !kunwind_read_word32(&walk->mem, slot, &ra) ||
	    !kunwind_pay(&walk->mem, KUNWIND_PROOF_COST) ||
	    !kunwind_proof_call(walk, ra, &target))
		return false;
	if (code.rbp_at >= 0)
		bp_known = kunwind_read_word32(&walk->mem, slot - code.rbp_at, &bp);
	else if (code.rbp_at == KUNWIND_CODE_RBP_LOST)
		bp_known = false;
	regs->r[KUNWIND_RA] = ra;
	regs->r[KUNWIND_RSP] = slot + sizeof(u32);
	regs->r[KUNWIND_RBP] = bp;
	regs->valid = valid | (bp_known ? KUNWIND_REG(KUNWIND_RBP) : 0);
	return true;
}

/* In a stretch, notes the place of the address that was stored last; @addr: to look up. */
static __always_inline void note(const struct kunwind_walk *walk,
				 struct kunwind_stretch *const stretch, u64 addr)
{
	if (!stretch)
		return;
	stretch->sp[walk->count - 1] = walk->regs.r[KUNWIND_RSP];
	stretch->looked_up[walk->count - 1] = addr;
}

/* Compiled a second time in libkunwind-unwind, for walks in stretches (@stretch: walk.h). */
static __always_inline enum kunwind_reason walk_by(struct kunwind_walk *walk,
						   struct kunwind_stretch *const stretch)
{
	struct kunwind_regs *regs = &walk->regs;
	const struct kunwind_table *table;
	u32 i;
	enum kunwind_reason reason;
	struct kunwind_rule rule;
	u64 addr, ip, sp;
	bool end, signal, nocfi;

	walk->count = 0;
	walk->range = NULL;
	walk->mem.left = kunwind_budget(walk);
	walk->mem.id = READ_ONCE(walk->ranges->id);
	if (!walk->capacity)
		return KUNWIND_BUFFER_FULL;
	if (!(regs->valid & KUNWIND_REG(KUNWIND_RSP)) || !(regs->valid & KUNWIND_REG(KUNWIND_RA)))
		return KUNWIND_REG_UNKNOWN;
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		regs->r[i] = (u32)regs->r[i];
	addr = regs->r[KUNWIND_RA];
	walk->addresses[walk->count++] = addr;
	if (stretch)
		addr = stretch->addr;
	note(walk, stretch, addr);

	for (;;) {
		ip = regs->r[KUNWIND_RA];
		sp = regs->r[KUNWIND_RSP];
		if (!kunwind_pay(&walk->mem, KUNWIND_COST_LOOKUP))
			return KUNWIND_BUDGET_SPENT;
		rule.kind = KUNWIND_RULE_NONE;
		reason = kunwind_walk_rule(walk, addr, addr == ip, sp, &rule, &table, &end);
		nocfi = reason == KUNWIND_NO_RULE || reason == KUNWIND_NO_TABLE ||
		       reason == KUNWIND_NO_OBJECT;
		if (end || (reason != KUNWIND_COMPLETE && !nocfi))
			return reason;
		if (nocfi) {
			signal = false;
			if (step_by_code(walk, addr == ip))
				reason = KUNWIND_COMPLETE;
		} else if ((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_FULL) {
			reason = kunwind_full_rule_step(walk, table, rule.off, false, &signal);
		} else {
			reason = short_step(walk, table, rule);
			signal = rule.kind & KUNWIND_RULE_SIGNAL;
		}
		if (!walk->mem.left)
			return KUNWIND_BUDGET_SPENT;
		if (reason != KUNWIND_COMPLETE) {
			walk->unread[0] = sp;
			return reason;
		}
		/* A frame that made no call may have nothing on its stack: sp may stay the same. */
		if (regs->r[KUNWIND_RSP] <= sp && !signal &&
		    !(regs->r[KUNWIND_RSP] == sp && addr == ip))
			return KUNWIND_CFA_STUCK;
		/* Zero ends the stack, except after a signal in a call through a null pointer. */
		if (!regs->r[KUNWIND_RA] && !signal)
			return KUNWIND_COMPLETE;
		if (walk->count == walk->capacity)
			return KUNWIND_BUFFER_FULL;
		if (nocfi) {
			kunwind_count_found(walk, walk->count, KUNWIND_BY_AHEAD);
			if (walk->trust)
				walk->trust[walk->count] = KUNWIND_TRUST_CODE;
		}
		if (stretch && walk->count == walk->capacity - 1) {
			stretch->addr = regs->r[KUNWIND_RA] - !signal;
			return KUNWIND_BUFFER_FULL;
		}
		walk->addresses[walk->count++] = regs->r[KUNWIND_RA];
		addr = regs->r[KUNWIND_RA] - !signal;
		note(walk, stretch, addr);
	}
}

enum kunwind_reason kunwind_walk_attr kunwind_walk_i386(struct kunwind_walk *walk)
{
	return walk_by(walk, NULL);
}

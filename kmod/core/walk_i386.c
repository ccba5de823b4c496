// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * walk_i386.c - from the registers of 32-bit code to a call stack
 *
 * The rules are those of walk.c, found by the same lookup and checked in the same
 * way; what differs is that a word has four bytes, so that the return address
 * is at CFA - 4, and that all addresses wrap at 2^32 (i386.h). 32-bit programs are
 * rare, so this is the plain walk: no cache of rules, and each word is read in a
 * window of its own, as the aligned eight bytes around it.
 *
 * Bounds: at most one step for each address that the caller has room for, each
 * paid from the budget (walk.h). Stack: below 1,000 bytes.
 *
 * What it does not do: go on where there is no CFI. The stack then ends with the
 * reason, and so it does where a CFA needs a register that is not known. But behind a
 * system call the rule of the instruction before it is tried: glibc's clone() has none
 * from there on, as in the child it would not be true. The parent's is proved by its return
 * address, which follows a call; the child's stack begins with a zero there.
 */
#include "i386.h"
#include "proof.h"
#include "walk.h"

#define INT_80		0x80cd		/* int $0x80, as it lies in memory */

/* A step by a rule that is not wide; walk->regs become the caller's. */
static enum kunwind_reason kunwind_walk_attr
short_step(struct kunwind_walk *walk, const struct kunwind_table *table, struct kunwind_rule rule)
{
	struct kunwind_regs *regs = &walk->regs;
	u64 cfa, ra, bp;

	if (rule.reg >= KUNWIND_RA)
		return KUNWIND_CORRUPT;
	if (!(regs->valid & KUNWIND_REG(rule.reg)))
		return KUNWIND_REG_UNKNOWN;
	cfa = (u32)(regs->r[kunwind_index(rule.reg, KUNWIND_RA)] + (s64)rule.off);
	switch (rule.kind & KUNWIND_RULE_KIND) {
	case KUNWIND_RULE_CFA:
		break;
	case KUNWIND_RULE_DEREF:
		if (!kunwind_read_word32(&walk->mem, cfa, &cfa))
			return KUNWIND_UNREADABLE;
		break;
	default:	/* a PLT's rule is wide here */
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

static bool kunwind_walk_attr behind_system_call(struct kunwind_walk *walk, u64 ip)
{
	u64 word;

	return kunwind_read_word(&walk->mem, ip - 8, &word) && word >> 48 == INT_80;
}

enum kunwind_reason kunwind_walk_attr kunwind_walk_i386(struct kunwind_walk *walk)
{
	struct kunwind_regs *regs = &walk->regs;
	const struct kunwind_table *table;
	u32 i;
	enum kunwind_reason reason;
	struct kunwind_rule rule;
	u64 addr, ip, sp, target;
	bool end, signal, to_prove;

	walk->count = 0;
	walk->range = NULL;
	walk->mem.left = kunwind_budget(walk);
	if (!walk->capacity)
		return KUNWIND_DEPTH;
	if (!(regs->valid & KUNWIND_REG(KUNWIND_RSP)) || !(regs->valid & KUNWIND_REG(KUNWIND_RA)))
		return KUNWIND_REG_UNKNOWN;
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		regs->r[i] = (u32)regs->r[i];
	addr = regs->r[KUNWIND_RA];
	walk->addresses[walk->count++] = addr;

	for (;;) {
		ip = regs->r[KUNWIND_RA];
		sp = regs->r[KUNWIND_RSP];
		if (!kunwind_pay(&walk->mem, KUNWIND_COST_LOOKUP))
			return KUNWIND_DEPTH;
		rule.kind = KUNWIND_RULE_NONE;
		reason = kunwind_walk_rule(walk, addr, addr == ip, sp, &rule, &table, &end);
		to_prove = reason == KUNWIND_NO_RULE && addr == ip && behind_system_call(walk, ip);
		if (to_prove)
			reason = kunwind_walk_rule(walk, ip - sizeof(u16) - 1, false, sp, &rule,
						   &table, &end);
		if (reason != KUNWIND_COMPLETE || end)
			return reason;
		if ((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_WIDE) {
			reason = kunwind_wide_step(walk, table, rule.off, &signal);
		} else {
			reason = short_step(walk, table, rule);
			signal = rule.kind & KUNWIND_RULE_SIGNAL;
		}
		if (!walk->mem.left)
			return KUNWIND_DEPTH;
		if (reason != KUNWIND_COMPLETE) {
			walk->unread[0] = sp;
			return to_prove ? KUNWIND_NO_RULE : reason;
		}
		/* As in walk.c: what did not call may have nothing on its stack. */
		if (regs->r[KUNWIND_RSP] <= sp && !signal &&
		    !(regs->r[KUNWIND_RSP] == sp && addr == ip))
			return KUNWIND_CFA_STUCK;
		if (to_prove && !kunwind_proof_call(walk, regs->r[KUNWIND_RA], &target))
			return KUNWIND_NO_RULE;
		if (!regs->r[KUNWIND_RA])
			return KUNWIND_COMPLETE;
		if (walk->count == walk->capacity)
			return KUNWIND_DEPTH;
		if (to_prove) {
			kunwind_count_found(walk, KUNWIND_TRUST_CODE);
			if (walk->trust)
				walk->trust[walk->count] = KUNWIND_TRUST_CODE;
		}
		walk->addresses[walk->count++] = regs->r[KUNWIND_RA];
		addr = regs->r[KUNWIND_RA] - !signal;
	}
}

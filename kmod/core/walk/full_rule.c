// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * full_rule.c - a step of the walk by a full rule, which eight bytes cannot
 * express
 *
 * Full rules are for signal frames, expressions, return addresses in registers,
 * and rows that save a callee-saved register which the table follows. In an
 * object whose table follows registers (hand-written cryptography, ld.so), most
 * frames have rows of the last kind. Their rules have a simple form: a CFA
 * relative to a register, and registers saved a few words below it. For the
 * walk's cache, kunwind_full_rule_compact() converts such a rule into a short
 * rule, and a word that says where the registers are (regs_after.h).
 *
 * Any context. No window may be open: each word is read in a window of its own.
 * Bounds: the budget pays for each entry and each byte of an expression
 * (mem.h). Stack: 750 bytes with an expression, 350 without.
 */
#include "regs_after.h"
#include "expr_eval.h"
#include "mem.h"
#include "full_rule.h"

/* Reads the word of the stack at @addr: eight bytes, or four of 32-bit code. */
static bool kunwind_walk_attr stack_word(struct kunwind_walk *walk, u64 addr, u64 *value)
{
	if (walk->i386)
		return kunwind_read_word32(&walk->mem, addr, value);
	return kunwind_read_word(&walk->mem, addr, value);
}

static enum kunwind_reason kunwind_walk_attr
full_expr(struct kunwind_walk *walk, const struct kunwind_table *table, s32 off,
	  const u64 *initial, u64 *value)
{
	const u8 *expr;
	u16 len;

	expr = kunwind_table_expr(table, off, &len);
	if (!expr)
		return KUNWIND_CORRUPT;
	return kunwind_expr_eval(&walk->mem, expr, len, &walk->regs, initial, walk->i386, value);
}

/*
 * Computes one entry of a full rule: a value, or the address of the word that has the
 * value (load()). @cfa is NULL in the CFA's own entry.
 */
static enum kunwind_reason kunwind_walk_attr
compute(struct kunwind_walk *walk, const struct kunwind_table *table,
	const struct kunwind_full_rule_entry *entry, const u64 *cfa, u64 *value)
{
	const struct kunwind_regs *regs = &walk->regs;

	switch (entry->how) {
	case KUNWIND_HOW_REG:
		if (entry->source >= KUNWIND_NR_REGS)
			return KUNWIND_CORRUPT;
		if (!(regs->valid & KUNWIND_REG(entry->source)))
			return KUNWIND_REG_UNKNOWN;
		*value = regs->r[kunwind_index(entry->source, KUNWIND_NR_REGS)] + (s64)entry->off;
		return KUNWIND_COMPLETE;
	case KUNWIND_HOW_CFA:
	case KUNWIND_HOW_AT_CFA:
		if (!cfa)
			return KUNWIND_CORRUPT;
		*value = *cfa + (s64)entry->off;
		return KUNWIND_COMPLETE;
	case KUNWIND_HOW_EXPR:
	case KUNWIND_HOW_AT_EXPR:
		return full_expr(walk, table, entry->off, cfa, value);
	default:
		return KUNWIND_CORRUPT;
	}
}

/* Replaces the result of compute() by the value of the register. */
static enum kunwind_reason kunwind_walk_attr
load(struct kunwind_walk *walk, const struct kunwind_full_rule_entry *entry, u64 *value)
{
	if (entry->how == KUNWIND_HOW_AT_CFA || entry->how == KUNWIND_HOW_AT_EXPR)
		return stack_word(walk, *value, value) ? KUNWIND_COMPLETE : KUNWIND_UNREADABLE;
	if (walk->i386)
		*value = (u32)*value;
	return KUNWIND_COMPLETE;
}

/*
 * Whether an exact 64-bit frame has restored register @reg, whose place on the stack is
 * @place by the expression at @off. gcc's rows for a function that realigns its stack
 * give the places by rbp, also after the end of the function has popped rbp. The places
 * are then not in the function's frame, or the frame is empty. An expression of
 * another register (rsp in glibc's signal trampoline) is not gcc's. If the function
 * runs on another stack than its caller, rsp and the CFA are no bounds.
 */
static bool kunwind_walk_attr is_restored(const struct kunwind_walk *walk,
					  const struct kunwind_table *table, s32 off, u32 reg,
					  u64 cfa, u64 place)
{
	const u64 sp = walk->regs.r[KUNWIND_RSP], red_zone = 128;
	u16 len;
	const u8 *expr = kunwind_table_expr(table, off, &len);

	return expr && len && *expr == KUNWIND_OP_BREG0 + KUNWIND_RBP &&
	       KUNWIND_REG(reg) & (KUNWIND_SAVED_REGS | KUNWIND_REG(KUNWIND_RBP)) && sp < cfa &&
	       (place >= cfa || cfa == sp + 8 || place < sp - red_zone);
}

enum kunwind_reason kunwind_walk_attr
kunwind_full_rule_step(struct kunwind_walk *walk, const struct kunwind_table *table, s32 index,
		       bool exact, bool *signal)
{
	const struct kunwind_full_rule *full = kunwind_table_full_rule(table, index);
	const struct kunwind_full_rule_entry *entry;
	struct kunwind_regs next;
	enum kunwind_reason reason;
	u32 i, listed = 0;
	u64 cfa, value;

	if (!full || !full->nr)
		return KUNWIND_CORRUPT;
	if (!kunwind_pay(&walk->mem, full->cost))
		return KUNWIND_BUDGET_SPENT;
	entry = (const struct kunwind_full_rule_entry *)(full + 1);
	reason = compute(walk, table, entry, NULL, &cfa);
	if (reason == KUNWIND_COMPLETE)
		reason = load(walk, entry, &cfa);
	if (reason != KUNWIND_COMPLETE)
		return reason;

	next = walk->regs;
	next.valid &= kunwind_table_keep(table) | KUNWIND_REG(KUNWIND_RBP);
	for (i = 1; i < full->nr; i++) {
		u32 reg = entry[i].reg;

		if (reg >= KUNWIND_NR_REGS)
			return KUNWIND_CORRUPT;
		reg = kunwind_index(reg, (u32)KUNWIND_NR_REGS);
		listed |= KUNWIND_REG(reg);
		if (entry[i].how == KUNWIND_HOW_SAME) {
			/* "Same" would be this frame's own address, not its return address. */
			if (reg == KUNWIND_RA)
				return KUNWIND_REG_UNKNOWN;
			next.valid |= walk->regs.valid & KUNWIND_REG(reg);
			continue;
		}
		next.valid &= ~KUNWIND_REG(reg);
		if (entry[i].how == KUNWIND_HOW_UNDEFINED)
			continue;
		reason = compute(walk, table, &entry[i], &cfa, &value);
		if (reason == KUNWIND_CORRUPT)
			return reason;
		if (reason == KUNWIND_COMPLETE && exact && entry[i].how == KUNWIND_HOW_AT_EXPR &&
		    is_restored(walk, table, entry[i].off, reg, cfa, value)) {
			next.valid |= walk->regs.valid & KUNWIND_REG(reg);
			continue;
		}
		if (reason == KUNWIND_COMPLETE)
			reason = load(walk, &entry[i], &value);
		if (reason == KUNWIND_COMPLETE) {
			next.r[reg] = value;
			next.valid |= KUNWIND_REG(reg);
		} else if (reg == KUNWIND_RA) {
			return reason;
		}
	}
	if (!(listed & KUNWIND_REG(KUNWIND_RSP))) {
		next.r[KUNWIND_RSP] = cfa;
		next.valid |= KUNWIND_REG(KUNWIND_RSP);
	}
	if (!(listed & KUNWIND_REG(KUNWIND_RA))) {
		if (!stack_word(walk, cfa - kunwind_word(walk->i386), &next.r[KUNWIND_RA]))
			return KUNWIND_UNREADABLE;
		next.valid |= KUNWIND_REG(KUNWIND_RA);
	}
	if (!(next.valid & KUNWIND_REG(KUNWIND_RSP)) || !(next.valid & KUNWIND_REG(KUNWIND_RA)))
		return KUNWIND_REG_UNKNOWN;
	*signal = full->signal;
	walk->regs = next;
	return KUNWIND_COMPLETE;
}

bool kunwind_walk_attr kunwind_full_rule_compact(const struct kunwind_table *table, s32 index,
						 struct kunwind_rule *rule, u64 *after)
{
	const struct kunwind_full_rule *full = kunwind_table_full_rule(table, index);
	const struct kunwind_full_rule_entry *entry;
	u64 result = kunwind_after(kunwind_table_keep(table));
	u32 i;

	if (!full || full->signal)
		return false;
	entry = (const struct kunwind_full_rule_entry *)(full + 1);
	if (entry->how != KUNWIND_HOW_REG || entry->source >= KUNWIND_RA)
		return false;
	*rule = (struct kunwind_rule){
		.off = entry->off, .kind = KUNWIND_RULE_CFA, .reg = entry->source,
	};
	for (i = 1; i < full->nr; i++) {
		u32 reg = entry[i].reg;
		s32 off = entry[i].off;

		switch (entry[i].how) {
		case KUNWIND_HOW_AT_CFA:
			if (reg == KUNWIND_RBP && off == (s16)off) {
				rule->rbp = off;
				rule->kind |= KUNWIND_RBP_SAVED << KUNWIND_RULE_RBP_SHIFT;
				break;
			}
			if (reg >= KUNWIND_NR_REGS || !(KUNWIND_REG(reg) & KUNWIND_SAVED_REGS) ||
			    off & 7 || off > -16 || off < -8 - 8 * (s32)KUNWIND_AFTER_PLACE)
				return false;
			result |= (u64)(-off / 8 - 1) << (16 + 3 * kunwind_after_number(reg));
			break;
		case KUNWIND_HOW_UNDEFINED:
			if (reg == KUNWIND_RBP)
				rule->kind |= KUNWIND_RBP_UNKNOWN << KUNWIND_RULE_RBP_SHIFT;
			else if (reg < KUNWIND_NR_REGS && (KUNWIND_REG(reg) & KUNWIND_SAVED_REGS))
				result &= ~(u64)KUNWIND_REG(reg);
			else
				return false;
			break;
		default:
			return false;
		}
	}
	*after = result;
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * row_return.c - return addresses of rows from code that follow no call as they are; see
 * row_return.h
 *
 *   a return probe	the kernel's list has the original for this slot
 *   a breakpoint	hides the call before the return address
 *   a handler		returns to a signal trampoline, and a signal frame lies above
 *   a fiber		returns to the end of make_fcontext()
 *
 * A 0 does not count, although coroutine libraries plant it: a wrong row may find any 0.
 *
 * Any context, NMI included. Stack: 200 bytes.
 */
#include "../walk/mem.h"
#include "outermost.h"
#include "return_address.h"
#include "row_return.h"

/* Where the row has the return address. */
static bool kunwind_walk_attr slot_of(struct kunwind_walk *walk, struct kunwind_rule rule, u64 *slot)
{
	const u8 reg = rule.reg & ~KUNWIND_RULE_FLAGS;
	u64 cfa;

	if (reg >= KUNWIND_RA || !(walk->regs.valid & KUNWIND_REG(reg)))
		return false;
	cfa = walk->regs.r[kunwind_index(reg, KUNWIND_RA)];
	if ((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_DEREF) {
		if (!kunwind_read_word(&walk->mem, cfa + (s64)kunwind_deref_off(rule), &cfa))
			return false;
		cfa += kunwind_deref_add(rule);
	} else {
		cfa += (s64)rule.off;
	}
	*slot = cfa - 8;
	return cfa > walk->regs.r[KUNWIND_RSP] && !(cfa & 7);
}

bool kunwind_walk_attr kunwind_row_return(struct kunwind_walk *walk, struct kunwind_rule rule,
					  struct kunwind_found *how)
{
	struct kunwind_regs *regs = &walk->regs;
	u64 slot, ra, target, bp = regs->r[KUNWIND_RBP];
	u32 valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) |
		    (rule.reg & KUNWIND_RULE_MOVED ? KUNWIND_RSP_DOUBTED : 0);

	if (!kunwind_pay(&walk->mem, KUNWIND_PROOF_COST) || !slot_of(walk, rule, &slot) ||
	    !kunwind_read_word(&walk->mem, slot, &ra))
		return false;
	if (kunwind_nocfi_return(walk, ra, slot) == ra && !kunwind_proof_call(walk, ra, &target) &&
	    !(kunwind_proof_trampoline(walk, ra) && kunwind_proof_sigframe(walk, slot + 8)) &&
	    !kunwind_code_ends_fiber(&walk->mem, ra))
		return false;
	switch (rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) {
	case KUNWIND_RBP_SAVED:
		if (kunwind_read_word(&walk->mem, slot + 8 + (s64)rule.rbp, &bp))
			valid |= KUNWIND_REG(KUNWIND_RBP);
		break;
	case KUNWIND_RBP_SAME:
		valid |= regs->valid & KUNWIND_REG(KUNWIND_RBP);
		break;
	}
	regs->r[KUNWIND_RA] = ra;
	regs->r[KUNWIND_RSP] = slot + 8;
	regs->r[KUNWIND_RBP] = bp;
	regs->valid = valid;
	*how = (struct kunwind_found){ .method = KUNWIND_BY_ROW };
	return true;
}

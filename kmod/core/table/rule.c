// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * rule.c - convert a row of CFI into a full rule; see rule.h
 */
#include "rule.h"
#include "build.h"

/* Adds an entry to a full rule. Returns its cost: 1 + bytes of expression. */
static unsigned int full_add(const struct kunwind_pack *pack, struct kunwind_full_rule *full,
			     struct kunwind_full_rule_entry *entries, unsigned int reg,
			     const struct kunwind_saved *saved)
{
	u16 len = 0;

	if (saved->how == KUNWIND_HOW_EXPR || saved->how == KUNWIND_HOW_AT_EXPR)
		memcpy(&len, pack->exprs.data + saved->off, sizeof(len));
	entries[full->nr++] = (struct kunwind_full_rule_entry){
		.reg = reg, .how = saved->how, .source = saved->source, .off = saved->off,
	};
	return 1 + len;
}

noinline enum kunwind_build_error
kunwind_rule_full(struct kunwind_pack *pack, const struct kunwind_row *row, bool signal,
		  s32 ra_off, struct kunwind_rule *rule)
{
	static const struct kunwind_saved same = { .how = KUNWIND_HOW_SAME };
	struct {
		struct kunwind_full_rule full;
		struct kunwind_full_rule_entry entries[1 + KUNWIND_NR_REGS];
	} w;
	const u32 ra = KUNWIND_REG(KUNWIND_RA);
	struct kunwind_saved cfa;
	unsigned int cost = 0;
	u32 mask;

	w.full = (struct kunwind_full_rule){ .signal = signal };
	cfa = (struct kunwind_saved){
		.how = row->cfa_how,
		.source = row->cfa_how == KUNWIND_HOW_REG ? row->cfa_reg : 0,
		.off = row->cfa_how == KUNWIND_HOW_REG ? row->cfa_off : (s32)row->cfa_expr,
	};
	cost += full_add(pack, &w.full, w.entries, 0, &cfa);
	/* a return address without a rule is where it was */
	mask = row->changed | ra | (row->same & (signal ? KUNWIND_ALL_REGS :
							   KUNWIND_REG(KUNWIND_RSP)));
	if ((row->changed & ra) && row->saved[KUNWIND_RA].how == KUNWIND_HOW_AT_CFA &&
	    row->saved[KUNWIND_RA].off == ra_off)
		mask &= ~ra;
	for (; mask; mask &= mask - 1) {
		unsigned int reg = __builtin_ctz(mask);

		cost += full_add(pack, &w.full, w.entries, reg,
				 row->changed & KUNWIND_REG(reg) ? &row->saved[reg] : &same);
	}
	if (cost > w.full.nr + KUNWIND_ROW_MAX_EXPR)
		return KUNWIND_OK;
	w.full.cost = cost;
	*rule = (struct kunwind_rule){
		.kind = KUNWIND_RULE_FULL | (signal ? KUNWIND_RULE_SIGNAL : 0),
	};
	return kunwind_pack_full_rule(pack, &w.full,
				      sizeof(w.full) + w.full.nr * sizeof(w.entries[0]), &rule->off);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * rule.c - convert a row of CFI into a wide rule; see rule.h
 */
#include "rule.h"
#include "build.h"

/* Adds an entry to a wide rule. Returns its cost: 1 + bytes of expression. */
static unsigned int wide_add(const struct kunwind_pack *pack, struct kunwind_wide *wide,
			     struct kunwind_wide_entry *entries, unsigned int reg,
			     const struct kunwind_saved *saved)
{
	u16 len = 0;

	if (saved->how == KUNWIND_HOW_EXPR || saved->how == KUNWIND_HOW_AT_EXPR)
		memcpy(&len, pack->exprs.data + saved->off, sizeof(len));
	entries[wide->nr++] = (struct kunwind_wide_entry){
		.reg = reg, .how = saved->how, .source = saved->source, .off = saved->off,
	};
	return 1 + len;
}

noinline enum kunwind_build_error
kunwind_rule_wide(struct kunwind_pack *pack, const struct kunwind_row *row, bool signal,
		  s32 ra_off, struct kunwind_rule *rule)
{
	static const struct kunwind_saved same = { .how = KUNWIND_HOW_SAME };
	struct {
		struct kunwind_wide wide;
		struct kunwind_wide_entry entries[1 + KUNWIND_NR_REGS];
	} w;
	const u32 ra = KUNWIND_REG(KUNWIND_RA);
	struct kunwind_saved cfa;
	unsigned int cost = 0;
	u32 mask;

	w.wide = (struct kunwind_wide){ .signal = signal };
	cfa = (struct kunwind_saved){
		.how = row->cfa_how,
		.source = row->cfa_how == KUNWIND_HOW_REG ? row->cfa_reg : 0,
		.off = row->cfa_how == KUNWIND_HOW_REG ? row->cfa_off : (s32)row->cfa_expr,
	};
	cost += wide_add(pack, &w.wide, w.entries, 0, &cfa);
	/* a return address without a rule is where it was */
	mask = row->changed | ra | (row->same & (signal ? KUNWIND_ALL_REGS :
							   KUNWIND_REG(KUNWIND_RSP)));
	if ((row->changed & ra) && row->saved[KUNWIND_RA].how == KUNWIND_HOW_AT_CFA &&
	    row->saved[KUNWIND_RA].off == ra_off)
		mask &= ~ra;
	for (; mask; mask &= mask - 1) {
		unsigned int reg = __builtin_ctz(mask);

		cost += wide_add(pack, &w.wide, w.entries, reg,
				 row->changed & KUNWIND_REG(reg) ? &row->saved[reg] : &same);
	}
	if (cost > w.wide.nr + KUNWIND_ROW_MAX_EXPR)
		return KUNWIND_OK;
	w.wide.cost = cost;
	*rule = (struct kunwind_rule){
		.kind = KUNWIND_RULE_WIDE | (signal ? KUNWIND_RULE_SIGNAL : 0),
	};
	return kunwind_pack_wide(pack, &w.wide,
				 sizeof(w.wide) + w.wide.nr * sizeof(w.entries[0]), &rule->off);
}

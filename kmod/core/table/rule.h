/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * rule.h - convert a row of CFI into the rule that the table stores
 *
 * Nearly every row becomes a short rule, by an inline function (the builder's
 * hot path). A row that eight bytes cannot express becomes a full rule, a list
 * of entries (struct kunwind_full_rule). docs/unwinding.md has the equation of
 * each kind of rule. Task context: storing a full rule may allocate.
 */
#ifndef _KUNWIND_RULE_H
#define _KUNWIND_RULE_H

#include "pack.h"
#include "../cfi/cfi_program.h"

/*
 * Converts a row that no short rule can express and whose CFA is known into a
 * full rule. Leaves *rule unchanged if the row's expressions exceed
 * KUNWIND_ROW_MAX_EXPR bytes.
 */
enum kunwind_build_error __must_check
kunwind_rule_full(struct kunwind_pack *pack, const struct kunwind_row *row, bool signal,
		  s32 ra_off, struct kunwind_rule *rule);

/*
 * Converts a row. *rule is KUNWIND_RULE_END if the return address is undefined,
 * KUNWIND_RULE_NONE if the row has no CFA, if its CFA or return address cannot
 * be evaluated, or if its expressions are too long.
 * @ra_off: where a call puts the return address, from the CFA: minus one word
 */
static __always_inline enum kunwind_build_error
kunwind_rule_of(struct kunwind_pack *pack, const struct kunwind_row *row, bool signal,
		s32 ra_off, struct kunwind_rule *rule)
{
	const u32 rbp = KUNWIND_REG(KUNWIND_RBP), ra = KUNWIND_REG(KUNWIND_RA);
	const struct kunwind_saved *saved;
	u8 rbp_how = KUNWIND_RBP_SAME;
	s16 rbp_off = 0;
	u8 kind, reg = 0;
	s32 off;

	*rule = (struct kunwind_rule){ .kind = KUNWIND_RULE_NONE };
	if (likely(row->changed & ra)) {
		saved = &row->saved[KUNWIND_RA];
		if (saved->how == KUNWIND_HOW_UNDEFINED) {
			rule->kind = KUNWIND_RULE_END;
			return KUNWIND_OK;
		}
		if (unlikely(saved->how == KUNWIND_HOW_UNKNOWN))
			return KUNWIND_OK;
		if (unlikely(saved->how != KUNWIND_HOW_AT_CFA || saved->off != ra_off))
			goto full;
	}
	/* a row without a known CFA has no rule */
	if (unlikely(row->cfa_how == KUNWIND_HOW_UNDEFINED || row->cfa_how == KUNWIND_HOW_UNKNOWN))
		return KUNWIND_OK;
	if (unlikely(!(row->changed & ra) || (row->changed & ~(rbp | ra)) ||
		     (row->same & (signal ? ~rbp : KUNWIND_REG(KUNWIND_RSP)))))
		goto full;
	if (row->changed & rbp) {
		saved = &row->saved[KUNWIND_RBP];
		if (likely(saved->how == KUNWIND_HOW_AT_CFA && saved->off == (s16)saved->off)) {
			rbp_how = KUNWIND_RBP_SAVED;
			rbp_off = saved->off;
		} else if (saved->how == KUNWIND_HOW_UNDEFINED) {
			rbp_how = KUNWIND_RBP_UNKNOWN;
		} else {
			goto full;
		}
	}
	if (likely(row->cfa_how == KUNWIND_HOW_REG)) {
		kind = KUNWIND_RULE_CFA;
		reg = row->cfa_reg;
		off = row->cfa_off;
	} else if (row->shape == KUNWIND_EXPR_DEREF) {
		kind = KUNWIND_RULE_DEREF;
		reg = row->shape_reg;
		off = row->shape_off;
	} else if (row->shape == KUNWIND_EXPR_PLT) {
		kind = KUNWIND_RULE_PLT;
		reg = KUNWIND_RSP;
		off = row->shape_off;
	} else {
		goto full;
	}
	/* short rules use general registers only */
	if (unlikely(reg == KUNWIND_RA))
		goto full;
	*rule = (struct kunwind_rule){
		.off = off,
		.rbp = rbp_off,
		.kind = kind | rbp_how << KUNWIND_RULE_RBP_SHIFT |
			(signal ? KUNWIND_RULE_SIGNAL : 0),
		.reg = reg,
	};
	return KUNWIND_OK;
full:
	if (row->cfa_how == KUNWIND_HOW_UNDEFINED || row->cfa_how == KUNWIND_HOW_UNKNOWN)
		return KUNWIND_OK;
	return kunwind_rule_full(pack, row, signal, ra_off, rule);
}

#endif /* _KUNWIND_RULE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * full_rule.h - a step of the walk by a full rule (full_rule.c)
 *
 * Any context. No window may be open.
 */
#ifndef _KUNWIND_FULL_RULE_H
#define _KUNWIND_FULL_RULE_H

#include "../kunwind_core.h"

/**
 * kunwind_full_rule_step() - make a step by a full rule
 * @index: off of the rule
 * @exact: the frame is at the instruction that it executes next, in 64-bit code
 * @signal: out: a signal interrupted the caller; it did not make a call
 *
 * Sets walk->regs to the caller's registers. A register whose value cannot be
 * read becomes unknown. Without the CFA, rsp or the return address, the step
 * fails.
 * Return: KUNWIND_COMPLETE; or KUNWIND_REG_UNKNOWN, KUNWIND_UNREADABLE,
 * KUNWIND_CORRUPT or KUNWIND_BUDGET_SPENT: walk->regs are unchanged.
 */
enum kunwind_reason kunwind_full_rule_step(struct kunwind_walk *walk,
					   const struct kunwind_table *table, s32 index,
					   bool exact, bool *signal);

/**
 * kunwind_full_rule_compact() - convert a full rule of 64-bit code into a short
 * rule and "after"
 * @rule: out
 * @after: out: regs_after.h
 *
 * Return: false if a short rule cannot express it; *@rule and *@after are then
 * undefined.
 */
bool kunwind_full_rule_compact(const struct kunwind_table *table, s32 index,
			       struct kunwind_rule *rule, u64 *after);

#endif /* _KUNWIND_FULL_RULE_H */

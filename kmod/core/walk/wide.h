/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * wide.h - a step of the walk by a rule that eight bytes do not hold (wide.c)
 */
#ifndef _KUNWIND_WIDE_H
#define _KUNWIND_WIDE_H

#include "../kunwind_core.h"

/**
 * kunwind_wide_step() - a step by a wide rule
 * @signal: out: the caller was interrupted, it did not call
 *
 * walk->regs become the caller's. A register of which the caller's value cannot
 * be had becomes unknown; only the CFA and the return address must be there.
 */
enum kunwind_reason kunwind_wide_step(struct kunwind_walk *walk, const struct kunwind_table *table,
				      s32 index, bool *signal);

/**
 * kunwind_wide_compact() - a wide rule as a short one, if that says the same
 * @rule: out, @after: out
 * False: it does not; both are then undefined.
 */
bool kunwind_wide_compact(const struct kunwind_table *table, s32 index,
			  struct kunwind_rule *rule, u64 *after);

#endif /* _KUNWIND_WIDE_H */

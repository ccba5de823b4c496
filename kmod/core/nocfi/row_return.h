/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * row_return.h - return addresses of rows from code that follow no call as they are
 * (row_return.c)
 */
#ifndef _KUNWIND_ROW_RETURN_H
#define _KUNWIND_ROW_RETURN_H

#include "step.h"

/*
 * Whether the word that @rule, a KUNWIND_RULE_CODE, takes for the return address of the frame in
 * walk->regs is one, although it follows no call. If true, walk->regs are the caller's; if false,
 * they are unchanged. Charges the budget. Any context, NMI included; no window may be open.
 */
bool kunwind_row_return(struct kunwind_walk *walk, struct kunwind_rule rule,
			struct kunwind_found *how);

#endif /* _KUNWIND_ROW_RETURN_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * code_moved.h - whether the caller's rsp is the address above the return address
 * (code_moved.c)
 */
#ifndef _KUNWIND_CODE_MOVED_H
#define _KUNWIND_CODE_MOVED_H

#include "code_flow.h"

/*
 * Sets kept and removes of all instructions, after kunwind_code_flow_solve(). Task context. Time
 * is linear in flow->nr.
 */
void kunwind_code_moved_solve(struct kunwind_code_flow *flow);

/* Whether the caller's rsp is not certain. */
static inline bool kunwind_code_moved(const struct kunwind_flow_insn *insn)
{
	return insn->removes && !insn->kept;
}

#endif /* _KUNWIND_CODE_MOVED_H */

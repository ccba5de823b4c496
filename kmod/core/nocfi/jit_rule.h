/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * jit_rule.h - a cache of steps from frames in code of a JIT (jit_rule.c)
 *
 * For frames that have called. Any context, NMI included. The caller must have no
 * window open.
 */
#ifndef _KUNWIND_JIT_RULE_H
#define _KUNWIND_JIT_RULE_H

#include "return_address.h"

/*
 * Steps from the frame in walk->regs, which has called and may be in @range, by a cached
 * rule. If true, walk->regs are the caller's, and *@method is the method that has found
 * the rule.
 */
bool kunwind_jit_rule_step(struct kunwind_walk *walk, const struct kunwind_range *range, u8 *method);

/*
 * Caches how @method has found the return address @c of @frame. No effect if the
 * place does not depend on the code only.
 */
void kunwind_jit_rule_keep(struct kunwind_walk *walk, const struct kunwind_nocfi_frame *frame,
			   const struct kunwind_candidate *c, u8 method);

#endif /* _KUNWIND_JIT_RULE_H */

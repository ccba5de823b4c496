/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * enabled.h - whether stacks may be walked and processes registered
 */
#ifndef _KUNWIND_ENABLED_H
#define _KUNWIND_ENABLED_H

#include "hook.h"

/* The kill switch: module parameter "enabled". N switches kunwind off. */
extern bool kunwind_enabled;

/*
 * Returns whether stacks may be walked, and processes registered by a call: not
 * while the parameter "enabled" is N, nor if a required hook is missing
 * (hook.h). Any context.
 */
static __always_inline bool kunwind_allowed(void)
{
	return READ_ONCE(kunwind_enabled) && !kunwind_hook_missing();
}

#endif /* _KUNWIND_ENABLED_H */

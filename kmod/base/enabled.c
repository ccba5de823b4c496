// SPDX-License-Identifier: GPL-2.0-only
/*
 * enabled.c - the kill switch: the module parameter "enabled"
 *
 * Walks, calls that register processes, and waits for tables read it, in any
 * context. The hooks on fork and exec do not: children of registered processes
 * are registered also while it is N.
 */

#include "enabled.h"
#include "param.h"

bool kunwind_enabled = true;
KUNWIND_PARAM_BOOL(enabled, kunwind_enabled);
MODULE_PARM_DESC(enabled, "walk stacks; N leaves every request to the kernel, at once (default Y)");

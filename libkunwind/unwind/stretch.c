// SPDX-License-Identifier: MIT
/*
 * stretch.c - compile the loop of the core's walk for walks in stretches
 *
 * The loop is static in walk.c, because the module's copies of it must not pay for what a
 * stretch needs. So this file takes the place of walk.c in this library.
 */
#include "walk/walk.c"
#include "internal.h"

enum kunwind_reason unwind_stretch(struct kunwind_walk *walk, struct kunwind_stretch *stretch)
{
	if (!stretch)
		__builtin_unreachable();
	walk->count = 0;
	walk->range = NULL;
	walk->distrust = false;
	walk->mem.left = kunwind_budget(walk);
	return walk_by(walk, false, stretch);
}

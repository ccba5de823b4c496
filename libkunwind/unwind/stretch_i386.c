// SPDX-License-Identifier: MIT
/*
 * stretch_i386.c - the same as stretch.c for 32-bit code
 */
#include "x86/walk_i386.c"
#include "internal.h"

enum kunwind_reason unwind_stretch_i386(struct kunwind_walk *walk, struct kunwind_stretch *stretch)
{
	if (!stretch)
		__builtin_unreachable();
	return walk_by(walk, stretch);
}

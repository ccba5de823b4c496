// SPDX-License-Identifier: MIT
/*
 * unnamed_code.c - what stands for the name of code that has none
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "tool.h"
#include "unnamed_code.h"

void unnamed_code(const struct kunwind_frame *frame, const char *object, bool offsets, char *name,
		  size_t size)
{
	const struct kunwind_function *function = kunwind_frame_function(frame);
	const char *base = *object ? kunwind_tool_base_name(object) : "unknown";
	/* "[vdso]" already has brackets */
	const int bracket = *base == '[', len = (int)strnlen(base, 255);

	if (offsets && frame->object)
		snprintf(name, size, "[%.*s+0x%" PRIx64 "]", len - 2 * bracket, base + bracket,
			 frame->object_address - (function ? function->offset : 0));
	else
		snprintf(name, size, bracket ? "%.*s" : "[%.*s]", len, base);
}

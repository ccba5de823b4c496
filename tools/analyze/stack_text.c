// SPDX-License-Identifier: MIT
/*
 * stack_text.c - a stack on one line: the program's functions first
 *
 * For a reader, the wait is where the program called a run-time library. The
 * functions of that library say only how it waits.
 */
#include <stdlib.h>
#include <string.h>

#include "stack_text.h"
#include "tool.h"

enum { KERNEL_SHOWN = 2 };

/* Returns whether the kernel's function is the scheduler's, which every wait has. */
static bool is_scheduler(const char *name)
{
	return !strcmp(name, "__schedule") || !strncmp(name, "schedule", strlen("schedule")) ||
	       !strncmp(name, "try_to_wake_up", strlen("try_to_wake_up"));
}

static bool is_function(const struct calls *calls, uint32_t node)
{
	return node != CALLS_ROOT && calls_frame(calls, node)->kind == FRAME_FUNCTION;
}

/* Writes the kernel's innermost functions. Returns the program's innermost one. */
static uint32_t kernel_text(FILE *out, const struct calls *calls, uint32_t node)
{
	int nr = 0;

	for (; is_function(calls, node) && calls_frame(calls, node)->kernel;
	     node = calls->node[node].parent) {
		if (nr < KERNEL_SHOWN && !is_scheduler(calls_name(calls, node)))
			fprintf(out, "%s%s", nr++ ? " < " : "kernel: ", calls_name(calls, node));
	}
	return node;
}

static void program_text(FILE *out, const struct calls *calls, uint32_t node, uint32_t depth)
{
	const struct calls_frame *frame;
	uint32_t nr;

	for (nr = 0; is_function(calls, node); node = calls->node[node].parent, nr++) {
		if (depth && nr == depth) {
			fputs(" < ...", out);
			break;
		}
		frame = calls_frame(calls, node);
		fprintf(out, "%s%s", nr ? " < " : "", calls_name(calls, node));
		if (!nr && frame->line)
			fprintf(out, " (%s:%u)", kunwind_tool_base_name(calls->string[frame->file]),
				frame->line);
	}
}

void stack_text(FILE *out, struct wrappers *wrappers, const struct calls *calls, uint32_t node,
		uint32_t depth)
{
	const struct wrappers_place place = wrappers_place(wrappers, calls, node);
	char *kernel = NULL;
	size_t size;
	FILE *file = needed(open_memstream(&kernel, &size));
	uint32_t inner = kernel_text(file, calls, node);

	needed(fclose(file) ? NULL : kernel);
	program_text(out, calls, place.caller != CALLS_ROOT ? place.caller : inner, depth);
	if (place.caller != CALLS_ROOT && place.function != CALLS_ROOT)
		fprintf(out, ", in %s", calls_name(calls, place.function));
	if (*kernel)
		fprintf(out, "%s%s", is_function(calls, inner) ? "; " : "", kernel);
	else if (!is_function(calls, inner))
		fputs("[no stack]", out);
	free(kernel);
}

uint32_t stack_string(struct wrappers *wrappers, struct calls *calls, uint32_t node, uint32_t depth)
{
	char *text = NULL;
	size_t size;
	FILE *file = needed(open_memstream(&text, &size));
	uint32_t string;

	stack_text(file, wrappers, calls, node, depth);
	needed(fclose(file) ? NULL : text);
	string = calls_string(calls, text);
	free(text);
	return string;
}

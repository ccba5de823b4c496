// SPDX-License-Identifier: MIT
/*
 * report_tree.c - the tree of calls: of the whole trace, or of the callers or callees of a function
 *
 * Each stack counts once: with its innermost frame of the function for callers, with its outermost
 * one for callees. Guessed and inlined frames of a function are the function, as in the tables.
 *
 * Memory: that of a tree of calls.
 */
#include <stdlib.h>

#include "function_name.h"
#include "report_tables.h"

static uint32_t child_of(struct calls *tree, uint32_t above, const struct calls *calls, uint32_t node)
{
	const struct calls_frame *frame = calls_frame(calls, node);
	struct calls_frame plain = {
		.kind = frame->kind, .kernel = frame->kernel,
		.name = calls_string(tree, calls->string[frame->name]),
		/* of other frames, it only says what they are */
		.object = calls_string(tree, frame->kind == FRAME_FUNCTION ?
					     calls->string[frame->object] : ""),
	};

	return calls_child(tree, above, &plain);
}

/* Adds the nodes from @from on outward, up to the process. */
static uint32_t add_callers(struct calls *tree, const struct calls *calls, uint32_t from)
{
	uint32_t above = CALLS_ROOT;

	for (; from != CALLS_ROOT; from = calls->node[from].parent)
		above = child_of(tree, above, calls, from);
	return above;
}

/* Adds the nodes from @from on inward, up to @to. */
static uint32_t add_callees(struct calls *tree, const struct calls *calls, uint32_t from, uint32_t to)
{
	return child_of(tree, to == from ? CALLS_ROOT :
					   add_callees(tree, calls, from, calls->node[to].parent),
			calls, to);
}

/* Adds a stack. @matches: NULL: all frames. Returns the node for its weight, or CALLS_ROOT. */
static uint32_t add_stack(struct calls *tree, const struct calls *calls, uint32_t node, const bool *matches,
			  bool callers)
{
	uint32_t i, from = CALLS_ROOT;

	for (i = node; i != CALLS_ROOT; i = calls->node[i].parent) {
		if (matches && !matches[calls->node[i].frame])
			continue;
		from = i;
		if (callers)
			break;
	}
	if (from == CALLS_ROOT)
		return CALLS_ROOT;
	return callers ? add_callers(tree, calls, from) : add_callees(tree, calls, from, node);
}

bool report_tree(const struct report *report, enum weight weight, struct calls *tree)
{
	const struct calls *calls = &report->samples.calls;
	const char *pattern = report->callers ? report->callers : report->callees;
	bool *matches = pattern ? function_name_matches(calls, pattern) : NULL;
	uint32_t i, node;

	if (pattern && !matches)
		return false;
	for (i = 1; i < calls->nr_nodes; i++) {
		if (!calls->node[i].self[weight])
			continue;
		node = add_stack(tree, calls, i, matches, report->callers);
		if (node != CALLS_ROOT)
			tree->node[node].self[weight] += calls->node[i].self[weight];
	}
	free(matches);
	return true;
}

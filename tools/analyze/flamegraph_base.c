// SPDX-License-Identifier: MIT
/*
 * flamegraph_base.c - one tree of calls for two traces
 *
 * Two builds of a program may lie in different directories, so the objects of
 * frames are compared by the last part of their paths. If each trace has only one
 * process name, both names are taken as the same.
 */
#include <stdlib.h>

#include "flamegraph_base.h"

/* Returns the frame of the only process name; NULL if there are several. */
static const struct calls_frame *only_process(const struct calls *calls)
{
	const struct calls_frame *found = NULL;
	uint32_t i;

	for (i = 0; i < calls->nr_frames; i++) {
		if (calls->frame[i].kind != FRAME_PROCESS)
			continue;
		if (found)
			return NULL;
		found = &calls->frame[i];
	}
	return found;
}

/* Adds the nodes of @from. Returns the number in @to of each; the caller frees them. */
static uint32_t *add(struct calls *to, const struct calls *from, const char *process)
{
	uint32_t *number = needed(calloc(from->nr_nodes, sizeof(*number)));
	uint32_t i;

	for (i = 1; i < from->nr_nodes; i++) {
		const struct calls_frame *old = calls_frame(from, i);
		struct calls_frame frame = *old;
		const char *name = old->kind == FRAME_PROCESS && process ? process :
									   from->string[old->name];

		frame.name = calls_string(to, name);
		frame.object = calls_string(to, calls_base_name(from->string[old->object]));
		number[i] = calls_child(to, number[from->node[i].parent], &frame);
	}
	return number;
}

void merge_base(struct merged *merged, const struct calls *trace, const struct calls *base)
{
	const struct calls_frame *process = only_process(base) ? only_process(trace) : NULL;
	struct calls *calls = &merged->calls;
	uint32_t *number, i;
	int w;

	calls_init(calls);
	number = add(calls, trace, NULL);
	for (i = 0; i < trace->nr_nodes; i++) {
		for (w = 0; w < NR_WEIGHTS; w++)
			calls->node[number[i]].self[w] += trace->node[i].self[w];
	}
	free(number);
	number = add(calls, base, process ? trace->string[process->name] : NULL);
	merged->base = needed(calloc(calls->nr_nodes, sizeof(*merged->base)));
	for (i = 0; i < base->nr_nodes; i++) {
		for (w = 0; w < NR_WEIGHTS; w++)
			merged->base[number[i]].weight[w] += base->node[i].self[w];
	}
	free(number);
}

void merged_free(struct merged *merged)
{
	calls_free(&merged->calls);
	free(merged->base);
}

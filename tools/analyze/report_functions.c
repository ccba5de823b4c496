// SPDX-License-Identifier: MIT
/*
 * report_functions.c - sums of samples by function
 *
 * A function has the events and times of all stacks that contain it. A stack
 * counts once, even if it contains the function several times.
 *
 * Memory: some 80 bytes for each function, and during the calculation 24 bytes
 * for each node of the tree of calls.
 */
#include <stdlib.h>

#include "report_tables.h"

/* Returns whether the node's function is in its stack again, further out. */
static bool is_recursive(const struct calls *calls, uint32_t node)
{
	uint32_t frame = calls->node[node].frame, i;

	for (i = calls->node[node].parent; i != CALLS_ROOT; i = calls->node[i].parent) {
		if (calls->node[i].frame == frame)
			return true;
	}
	return false;
}

void report_sum_functions(struct report *report, enum weight sort)
{
	const struct calls *calls = &report->samples.calls;
	struct calls_total *total = calls_totals(calls);
	struct line *line = needed(calloc(calls->nr_frames + 1, sizeof(*line)));
	uint32_t i, nr = 0;

	for (i = 1; i < calls->nr_nodes; i++) {
		const struct calls_frame *frame = calls_frame(calls, i);
		struct line *f = &line[calls->node[i].frame];

		/* the innermost function's own weight */
		if (frame->kind == FRAME_WHAT)
			line[calls->node[calls->node[i].parent].frame].self +=
				calls->node[i].self[sort];
		if (frame->kind != FRAME_FUNCTION || is_recursive(calls, i))
			continue;
		f->name = frame->name;
		f->object = frame->object;
		f->kernel = frame->kernel;
		f->count += total[i].weight[WEIGHT_EVENTS];
		f->time += total[i].weight[WEIGHT_BLOCKED];
		f->off_cpu += total[i].weight[WEIGHT_OFF_CPU];
		f->key += total[i].weight[sort];
	}
	for (i = 0; i < calls->nr_frames; i++) {
		/* a stack may belong to no sample that counts */
		if (calls->frame[i].kind == FRAME_FUNCTION &&
		    (line[i].count || line[i].time || line[i].off_cpu))
			line[nr++] = line[i];
	}
	free(total);
	qsort(line, nr, sizeof(*line), report_by_key);
	report->function = line;
	report->nr_functions = nr;
}

// SPDX-License-Identifier: MIT
/*
 * flamegraph_base.c - one tree of calls for two traces
 *
 * Two builds of a program may lie in different directories, so the objects of
 * frames are compared by the last part of their paths. If each trace has only one
 * process name, both names are taken as the same, also that of a lock's holder.
 */
#include <stdlib.h>
#include <string.h>

#include "flamegraph_base.h"
#include "locks.h"

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

/*
 * Adds the nodes of @from. Returns the number in @to of each; the caller frees them.
 * @process: the new name of the only process; NULL: all names stay.
 */
static uint32_t *add(struct calls *to, const struct calls *from, const char *process)
{
	const struct calls_frame *only = process ? only_process(from) : NULL;
	uint32_t *number = needed(calloc(from->nr_nodes, sizeof(*number)));
	char note[LOCK_NOTE] = "", old_note[LOCK_NOTE] = "";
	uint32_t i;

	if (only) {
		lock_note(note, sizeof(note), process);
		lock_note(old_note, sizeof(old_note), from->string[only->name]);
	}
	for (i = 1; i < from->nr_nodes; i++) {
		const struct calls_frame *old = calls_frame(from, i);
		struct calls_frame frame = *old;
		const char *name = from->string[old->name];

		if (process && old->kind == FRAME_PROCESS)
			name = process;
		else if (only && old->kind == FRAME_LOCK && !strcmp(name, old_note))
			name = note;
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

// SPDX-License-Identifier: MIT
/*
 * flamegraph_base.c - one tree of calls for two traces, and without narrow frames
 *
 * Two builds of a program may lie in different directories, so the objects of
 * frames are compared by the last part of their paths. If each trace has only one
 * process name, both names are taken as the same, also that of a lock's holder.
 */
#include <stdlib.h>
#include <string.h>

#include "flamegraph_base.h"
#include "locks.h"
#include "tool.h"

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
		frame.object = calls_string(to, kunwind_tool_base_name(from->string[old->object]));
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

/* Adds the weights of descendants. @weight: of each node; NULL stays NULL. The caller frees the result. */
static struct calls_total *sums_of(const struct calls *calls, const struct calls_total *weight)
{
	const size_t size = calls->nr_nodes * sizeof(*weight);
	struct calls_total *sum = weight ? memcpy(needed(malloc(size)), weight, size) : NULL;
	uint32_t i;
	int w;

	for (i = calls->nr_nodes - 1; sum && i > CALLS_ROOT; i--) {
		for (w = 0; w < NR_WEIGHTS; w++)
			sum[calls->node[i].parent].weight[w] += sum[i].weight[w];
	}
	return sum;
}

static bool is_wide(const struct calls_total *sum, uint32_t node, double least)
{
	int w;

	for (w = 0; sum && w < NR_WEIGHTS; w++) {
		if (sum[node].weight[w] &&
		    (double)sum[node].weight[w] >= least * (double)sum[CALLS_ROOT].weight[w])
			return true;
	}
	return node == CALLS_ROOT;
}

uint32_t *leave_out_narrow(struct calls *calls, struct calls_total *base, double least)
{
	struct calls_total *now = calls_totals(calls), *old = sums_of(calls, base);
	/* of each old node the new one, and of each new node that of its narrow children */
	uint32_t *number = needed(calloc(calls->nr_nodes, sizeof(*number)));
	uint32_t *rest = needed(calloc(calls->nr_nodes, sizeof(*rest)));
	const uint32_t end = calls->nr_nodes;
	uint32_t i, nr = 1, parent, frame = calls_node(calls, CALLS_ROOT, FRAME_WHAT, "[narrow frames]", "");
	int w;

	frame = calls->node[frame].frame;
	for (i = 1; i < end; i++) {
		const struct calls_node node = calls->node[i];
		const struct calls_total own = base ? base[i] : (struct calls_total){ 0 };
		const bool wide = is_wide(now, i, least) || is_wide(old, i, least);

		parent = number[node.parent];
		if (!wide && !is_wide(now, node.parent, least) && !is_wide(old, node.parent, least)) {
			number[i] = parent;
		} else if (wide || !rest[parent]) {
			number[i] = nr;
			if (!wide)
				rest[parent] = nr;
			/* not above node[i]: each new node stands for an old one */
			calls->node[nr] = (struct calls_node){ .parent = parent,
							       .frame = wide ? node.frame : frame };
			if (base)
				base[nr] = (struct calls_total){ 0 };
			nr++;
		} else {
			number[i] = rest[parent];
		}
		for (w = 0; w < NR_WEIGHTS; w++) {
			calls->node[number[i]].self[w] += node.self[w];
			if (base)
				base[number[i]].weight[w] += own.weight[w];
		}
	}
	calls->nr_nodes = nr;
	free(now);
	free(old);
	free(rest);
	return number;
}

void merged_free(struct merged *merged)
{
	calls_free(&merged->calls);
	free(merged->base);
}

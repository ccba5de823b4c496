// SPDX-License-Identifier: MIT
/*
 * report_functions.c - sums of samples by function, and by caller and callee of one
 *
 * A function has the events and times of all stacks that contain it. A stack
 * counts once, even if it contains the function several times. Likewise, a caller
 * has those of all stacks in which it calls the function.
 *
 * In the tree of calls, guessed frames of a function have another number than
 * its other frames, and so have inlined ones. Here they are one function.
 *
 * Memory: some 150 bytes for each function, and during the calculation 40 bytes
 * for each node of the tree of calls.
 */
#include <stdlib.h>
#include <string.h>

#include "function_name.h"
#include "report_tables.h"

struct sums {
	struct report *report;
	const struct calls *calls;
	enum weight sort;
	struct calls_total *total;
	uint32_t *key;		/* of each frame: that of its function */
	uint32_t *note;		/* of each node: FRAME_NOTE of its stack, or of the holder's; 0: complete */
};

static uint32_t key_of(const struct sums *sums, uint32_t node)
{
	return sums->key[sums->calls->node[node].frame];
}

/* Numbers the functions. The caller frees the array. */
static uint32_t *number_functions(const struct calls *calls)
{
	uint32_t *key = needed(calloc(calls->nr_frames + 1, sizeof(*key))), i;
	struct calls distinct;

	calls_init(&distinct);
	for (i = 0; i < calls->nr_frames; i++)
		key[i] = calls_child(&distinct, CALLS_ROOT, &(struct calls_frame){
			.kind = calls->frame[i].kind, .kernel = calls->frame[i].kernel,
			.name = calls->frame[i].name, .object = calls->frame[i].object });
	calls_free(&distinct);
	return key;
}

static uint32_t *find_notes(const struct calls *calls)
{
	uint32_t *note = needed(calloc(calls->nr_nodes, sizeof(*note))), i;

	for (i = 1; i < calls->nr_nodes; i++) {
		if (calls_frame(calls, i)->kind == FRAME_NOTE)
			note[i] = calls->node[i].frame;
		else if (calls_frame(calls, i)->kind != FRAME_LOCK)
			note[i] = note[calls->node[i].parent];
	}
	return note;
}

/*
 * Returns whether the node's function is in its stack again, further out.
 * @guess: only frames that are guesses count.
 */
static bool is_again(const struct sums *sums, uint32_t node, bool guess)
{
	const struct calls *calls = sums->calls;
	uint32_t i;

	for (i = calls->node[node].parent; i != CALLS_ROOT; i = calls->node[i].parent) {
		if (key_of(sums, i) == key_of(sums, node) &&
		    (!guess || calls_frame(calls, i)->guess))
			return true;
	}
	return false;
}

static bool is_recursive(const struct sums *sums, uint32_t node)
{
	return is_again(sums, node, false);
}

/* Adds the weights of a node to the line of a function, which is that of the node @of. */
static struct line *add(const struct sums *sums, enum report_table table, uint32_t node, uint32_t of)
{
	const struct calls_frame *frame = calls_frame(sums->calls, of);
	struct line *line = report_line(&sums->report->table[table], key_of(sums, of));
	const int64_t *weight = sums->total[node].weight;

	line->name = frame->name;
	line->object = frame->object;
	line->kernel = frame->kernel;
	line->count += weight[WEIGHT_EVENTS];
	line->time += weight[WEIGHT_BLOCKED];
	line->off_cpu += weight[WEIGHT_OFF_CPU];
	line->cpu += weight[WEIGHT_CPU];
	line->lock += weight[WEIGHT_LOCK];
	line->key += weight[sums->sort];
	return line;
}

static void sum(const struct sums *sums)
{
	const struct calls *calls = sums->calls;
	struct table *table = &sums->report->table[TABLE_FUNCTIONS];
	struct line *line;
	uint32_t i, parent;

	for (i = 1; i < calls->nr_nodes; i++) {
		const struct calls_frame *frame = calls_frame(calls, i);

		parent = calls->node[i].parent;
		/* the innermost function's own weight */
		if (frame->kind == FRAME_WHAT && calls_frame(calls, parent)->kind == FRAME_FUNCTION)
			report_line(table, key_of(sums, parent))->self += calls->node[i].self[sums->sort];
		if (frame->kind != FRAME_FUNCTION)
			continue;
		if (!is_recursive(sums, i)) {
			line = add(sums, TABLE_FUNCTIONS, i, i);
			if (!sums->note[i])
				line->complete += sums->total[i].weight[sums->sort];
		}
		if (frame->guess && !is_again(sums, i, true))
			report_line(table, key_of(sums, i))->guessed += sums->total[i].weight[sums->sort];
	}
}

/* Sets the commonest reason for which stacks of each function ended early. */
static void find_ends(const struct sums *sums)
{
	const struct calls *calls = sums->calls;
	struct table *table = &sums->report->table[TABLE_FUNCTIONS];
	int64_t *most = needed(calloc(table->nr + 1, sizeof(*most)));
	int64_t *now = needed(calloc(table->nr + 1, sizeof(*now)));
	uint32_t f, i, k;

	/* one pass for each reason: there are few */
	for (f = 0; f < calls->nr_frames; f++) {
		if (calls->frame[f].kind != FRAME_NOTE)
			continue;
		memset(now, 0, table->nr * sizeof(*now));
		for (i = 1; i < calls->nr_nodes; i++) {
			if (sums->note[i] == f && calls_frame(calls, i)->kind == FRAME_FUNCTION &&
			    !is_recursive(sums, i))
				now[table->by_key[key_of(sums, i)] - 1] += sums->total[i].weight[sums->sort];
		}
		for (k = 0; k < table->nr; k++) {
			if (now[k] <= most[k])
				continue;
			most[k] = now[k];
			table->line[k].end = calls->frame[f].object ? calls->frame[f].object :
								      calls->frame[f].name;
		}
	}
	free(most);
	free(now);
}

/* Removes functions whose stacks belong to no sample that counts. */
static void remove_empty(struct table *table)
{
	uint32_t i, nr = 0;

	for (i = 0; i < table->nr; i++) {
		if (table->line[i].count || table->line[i].time || table->line[i].off_cpu ||
		    table->line[i].cpu || table->line[i].lock || table->line[i].key)
			table->line[nr++] = table->line[i];
	}
	table->nr = nr;
}

/* Returns whether the call of @node counts: its function (callers) or its caller (callees) matches. */
static bool is_neighbour(const struct sums *sums, enum report_table table, const bool *matches, uint32_t node)
{
	const struct calls *calls = sums->calls;
	uint32_t parent = calls->node[node].parent;

	return parent != CALLS_ROOT && matches[calls->node[table == TABLE_CALLERS ? node : parent].frame];
}

/* Returns whether a call further out in the stack of @node counts for the function of @of, too. */
static bool is_neighbour_again(const struct sums *sums, enum report_table table, const bool *matches,
			       uint32_t node, uint32_t of)
{
	const struct calls *calls = sums->calls;
	uint32_t i;

	for (i = calls->node[node].parent; i != CALLS_ROOT; i = calls->node[i].parent) {
		if (is_neighbour(sums, table, matches, i) &&
		    key_of(sums, table == TABLE_CALLERS ? calls->node[i].parent : i) == key_of(sums, of))
			return true;
	}
	return false;
}

/* Makes the tables of the callers or callees of the functions that match. */
static bool sum_neighbours(const struct sums *sums, enum report_table table, const char *pattern)
{
	const struct calls *calls = sums->calls;
	bool *matches = function_name_matches(calls, pattern);
	uint32_t i, of;

	if (!matches)
		return false;
	for (i = 1; i < calls->nr_nodes; i++) {
		of = table == TABLE_CALLERS ? calls->node[i].parent : i;
		if (is_neighbour(sums, table, matches, i) && !is_neighbour_again(sums, table, matches, i, of))
			add(sums, table, i, of);
	}
	free(matches);
	return true;
}

bool report_sum_functions(struct report *report, enum weight sort)
{
	const struct calls *calls = &report->samples.calls;
	struct sums sums = {
		.report = report, .calls = calls, .sort = sort, .total = calls_totals(calls),
		.key = number_functions(calls), .note = find_notes(calls),
	};
	enum report_table t;
	bool ok = true;

	report->locks = calls_weight(calls, WEIGHT_LOCK);
	sum(&sums);
	find_ends(&sums);
	if (report->callers)
		ok = sum_neighbours(&sums, TABLE_CALLERS, report->callers);
	if (ok && report->callees)
		ok = sum_neighbours(&sums, TABLE_CALLEES, report->callees);
	for (t = TABLE_FUNCTIONS; t <= TABLE_CALLEES; t++) {
		remove_empty(&report->table[t]);
		report_sort(&report->table[t], report->by_self && t == TABLE_FUNCTIONS);
	}
	free(sums.total);
	free(sums.key);
	free(sums.note);
	return ok;
}

// SPDX-License-Identifier: MIT
/*
 * export_speedscope.c - the file format of speedscope
 *
 * Each thread is a profile whose time axis is that of the trace. A sample is a
 * system call (or a time off the CPU, if that is the selected weight) with its
 * stack, for as long as it took; between two of them is an empty stack. The
 * part of a system call off the CPU has one more frame, "off CPU". A sample of a
 * CPU has its weight, at the time before it. If the
 * selected weight is the number of events, each event counts 1, and the axis
 * shows no time. The first profile to be shown is that of the thread with the
 * largest weight.
 *
 * Format: https://www.speedscope.app/file-format-schema.json
 *
 * Memory: that of the timeline.
 */
#include <stdlib.h>

#include "analyze.h"
#include "json_out.h"
#include "timeline.h"

struct speedscope_state {
	struct samples *samples;
	struct timeline timeline;
	struct json_out out;
	uint32_t off_cpu;	/* the frame "off CPU" */
	uint32_t *path, cap_path;
};

static void *begin(struct samples *samples, FILE *file)
{
	struct speedscope_state *state = needed(calloc(1, sizeof(*state)));

	state->samples = samples;
	state->out.file = file;
	return state;
}

static void take(const struct sample *sample, const bt_event *event, void *data)
{
	struct speedscope_state *state = data;

	(void)event;
	timeline_add(&state->timeline, sample);
}

static void put_frames(struct speedscope_state *state)
{
	const struct calls *calls = &state->samples->calls;
	uint32_t i;

	json_open(&state->out, "frames", '[');
	for (i = 0; i < calls->nr_frames; i++) {
		json_open(&state->out, NULL, '{');
		json_text(&state->out, "name", calls->string[calls->frame[i].name]);
		if (calls->frame[i].object)
			json_text(&state->out, "file", calls->string[calls->frame[i].object]);
		json_close(&state->out, '}');
	}
	json_close(&state->out, ']');
}

/* Writes a stack; for CALLS_ROOT an empty one. */
static void put_stack(struct speedscope_state *state, uint32_t node, bool off_cpu)
{
	const struct calls *calls = &state->samples->calls;
	uint32_t depth = 0;

	json_open(&state->out, NULL, '[');
	for (; node != CALLS_ROOT; node = calls->node[node].parent) {
		if (depth == state->cap_path) {
			state->cap_path = state->cap_path ? state->cap_path * 2 : 256;
			state->path = needed(realloc(state->path,
						     state->cap_path * sizeof(*state->path)));
		}
		state->path[depth++] = calls->node[node].frame;
	}
	while (depth-- > 0)
		json_int(&state->out, NULL, state->path[depth]);
	if (off_cpu)
		json_int(&state->out, NULL, state->off_cpu);
	json_close(&state->out, ']');
}

/*
 * The two lists of a profile, "samples" and "weights", are made by the same
 * steps: one writes the stacks, the other the weights.
 */
struct cursor {
	struct speedscope_state *state;
	bool weights;
	int64_t at;		/* until here the list is written; from the begin of the trace */
};

static void advance(struct cursor *cursor, int64_t to, uint32_t node, bool off_cpu)
{
	if (to <= cursor->at)
		return;
	if (cursor->weights)
		json_int(&cursor->state->out, NULL, to - cursor->at);
	else
		put_stack(cursor->state, node, off_cpu);
	cursor->at = to;
}

/* Writes a system call or time off the CPU. @next: the first entry after it. */
static size_t put_span(struct cursor *cursor, size_t i, size_t to, enum weight weight)
{
	const struct timeline_entry *entry = cursor->state->timeline.entry;
	const struct sample *sample = &entry[i].sample, *inner;
	int64_t start = cursor->state->samples->begin;
	int64_t end = sample->begin + sample_weight(sample, weight) - start;
	uint32_t node = sample->node;

	advance(cursor, sample->begin - start, CALLS_ROOT, false);
	while (++i < to && entry[i].sample.begin - start < end) {
		inner = &entry[i].sample;
		if (weight != WEIGHT_BLOCKED || !sample_weighs(inner, WEIGHT_OFF_CPU))
			continue;
		advance(cursor, inner->begin - start, node, false);
		advance(cursor, inner->begin + inner->duration - start, node, true);
	}
	advance(cursor, end, node, false);
	return i;
}

static void put_list(struct speedscope_state *state, size_t from, size_t to, enum weight weight, bool weights)
{
	struct cursor cursor = { .state = state, .weights = weights };
	size_t i = from;

	json_open(&state->out, weights ? "weights" : "samples", '[');
	while (i < to) {
		const struct sample *sample = &state->timeline.entry[i].sample;

		if (!sample_weighs(sample, weight)) {
			i++;
		} else if (weight == WEIGHT_EVENTS) {
			advance(&cursor, cursor.at + 1, sample->node, false);
			i++;
		} else if (weight == WEIGHT_CPU) {
			/* samples of two CPUs may overlap: none is cut */
			advance(&cursor, sample->begin - state->samples->begin, CALLS_ROOT, false);
			advance(&cursor, cursor.at + sample->duration, sample->node, false);
			i++;
		} else {
			i = put_span(&cursor, i, to, weight);
		}
	}
	if (weight != WEIGHT_EVENTS)
		advance(&cursor, state->samples->end - state->samples->begin, CALLS_ROOT, false);
	json_close(&state->out, ']');
}

static void put_thread(struct speedscope_state *state, size_t from, size_t to, enum weight weight,
		       int64_t sum)
{
	const struct samples *samples = state->samples;
	uint32_t number = state->timeline.entry[from].sample.thread;
	char name[300] = "unknown threads";

	if (number != SAMPLE_NO_THREAD)
		snprintf(name, sizeof(name), "%.200s %lld",
			 samples->calls.string[samples->thread[number].comm],
			 (long long)samples->thread[number].tid);
	json_open(&state->out, NULL, '{');
	json_text(&state->out, "type", "sampled");
	json_text(&state->out, "name", name);
	json_text(&state->out, "unit", weight == WEIGHT_EVENTS ? "none" : "nanoseconds");
	json_int(&state->out, "startValue", 0);
	json_int(&state->out, "endValue",
		 weight == WEIGHT_EVENTS ? sum : samples->end - samples->begin);
	put_list(state, from, to, weight, false);
	put_list(state, from, to, weight, true);
	json_close(&state->out, '}');
}

/* Writes all threads that have this weight. Returns the number of the heaviest one. */
static int64_t put_threads(struct speedscope_state *state, enum weight weight)
{
	int64_t sum, most = 0, nr = 0, heaviest = 0;
	size_t from, to, i;

	json_open(&state->out, "profiles", '[');
	for (from = 0; from < state->timeline.nr; from = to) {
		to = timeline_thread_end(&state->timeline, from);
		for (i = from, sum = 0; i < to; i++) {
			if (sample_weighs(&state->timeline.entry[i].sample, weight))
				sum += sample_weight(&state->timeline.entry[i].sample, weight);
		}
		if (!sum)
			continue;
		put_thread(state, from, to, weight, sum);
		if (sum > most) {
			most = sum;
			heaviest = nr;
		}
		nr++;
	}
	json_close(&state->out, ']');
	return heaviest;
}

static void put_profile(struct speedscope_state *state, enum weight weight)
{
	struct json_out *out = &state->out;
	int64_t heaviest;
	uint32_t node;
	char name[400];

	node = calls_node(&state->samples->calls, CALLS_ROOT, FRAME_WHAT, "off CPU", "");
	state->off_cpu = state->samples->calls.node[node].frame;
	timeline_sort(&state->timeline);
	snprintf(name, sizeof(name), "%.300s: %s", state->samples->hostname,
		 analyze_weight_title(weight));
	json_open(out, NULL, '{');
	json_text(out, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(out, "name", name);
	json_text(out, "exporter", "kunwind");
	json_open(out, "shared", '{');
	put_frames(state);
	json_close(out, '}');
	heaviest = put_threads(state, weight);
	json_int(out, "activeProfileIndex", heaviest);
	json_close(out, '}');
}

static bool end(void *data, enum weight weight, bool ok)
{
	struct speedscope_state *state = data;

	if (ok)
		put_profile(state, weight);
	ok = ok && !ferror(state->out.file);
	free(state->timeline.entry);
	free(state->path);
	free(state);
	return ok;
}

const struct export_stream export_speedscope = { begin, { .end = take }, end };

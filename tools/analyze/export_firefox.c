// SPDX-License-Identifier: MIT
/*
 * export_firefox.c - the Firefox Profiler's processed profile format
 *
 * Each thread has a sample, with its stack, for each event or time of the
 * selected weight, and a marker for each system call, event and time off the
 * CPU. A marker has its stack as its cause, and the fields of its events as
 * data. The tables of stacks, frames and functions are the tree of calls.
 *
 * Format: version 60 of docs-developer/CHANGELOG-formats.md in the profiler's
 * source, the first version whose tables are shared by all threads. Later
 * profilers convert it themselves.
 *
 * Memory: that of the timeline, and the text of the fields (some 60 bytes for
 * each event).
 */
#include <stdlib.h>
#include <string.h>

#include "analyze.h"
#include "firefox_fields.h"
#include "json_out.h"
#include "timeline.h"

#define FORMAT_VERSION		60
#define GECKO_VERSION		33

enum { CATEGORY_OTHER, CATEGORY_SYSCALL, CATEGORY_OFF_CPU, CATEGORY_KERNEL };

struct firefox_state {
	struct samples *samples;
	struct timeline timeline;
	struct firefox_fields fields;
	size_t *entered;		/* by thread: fields of its system call's entry */
	uint32_t nr_entered;
	struct json_out out;
};

static void *begin(struct samples *samples, FILE *file)
{
	struct firefox_state *state = needed(calloc(1, sizeof(*state)));

	state->samples = samples;
	state->fields.calls = &samples->calls;
	state->out.file = file;
	return state;
}

static void sample_begins(const struct sample *sample, const bt_event *event, void *data)
{
	struct firefox_state *state = data;
	uint32_t old = state->nr_entered;

	if (sample->kind != SAMPLE_SYSCALL || sample->thread == SAMPLE_NO_THREAD)
		return;
	if (sample->thread >= old) {
		state->nr_entered = sample->thread * 2 + 64;
		state->entered = needed(realloc(state->entered,
						state->nr_entered * sizeof(*state->entered)));
		memset(state->entered + old, 0, (state->nr_entered - old) * sizeof(*state->entered));
	}
	state->entered[sample->thread] = firefox_fields_keep(&state->fields, sample->what, event);
}

/* Samples of CPUs and times of locks have none: they are only in the list of samples. */
static bool has_marker(const struct sample *sample)
{
	return sample->kind != SAMPLE_CPU && sample->kind != SAMPLE_LOCK;
}

static void sample_ends(const struct sample *sample, const bt_event *event, void *data)
{
	struct firefox_state *state = data;
	struct timeline_entry *entry = timeline_add(&state->timeline, sample);

	if (!has_marker(sample))
		return;
	if (sample->kind == SAMPLE_OFF_CPU) {
		entry->note[0] = firefox_fields_keep_text(
			&state->fields, calls_string(&state->samples->calls, "off CPU"), "in",
			state->samples->calls.string[sample->what]);
		return;
	}
	if (sample->kind == SAMPLE_SYSCALL && sample->thread != SAMPLE_NO_THREAD)
		entry->note[0] = state->entered[sample->thread];
	if (sample->kind == SAMPLE_EVENT || sample->duration >= 0)
		entry->note[1] = firefox_fields_keep(&state->fields, sample->what, event);
}

/* ------------------------------------------------------------ tables */

/* A table of the format is an object that has a list for each column. */
enum firefox_constant { ZERO, MINUS_ONE, ONE, NONE, FALSE };

static void put_constant(struct json_out *out, const char *name, uint32_t nr, enum firefox_constant value)
{
	static const char *const text[] = { "0", "-1", "1", "null", "false" };

	json_open(out, name, '[');
	while (nr--)
		json_part(out, text[value]);
	json_close(out, ']');
}

static void put_stack_table(struct json_out *out, const struct calls *calls)
{
	uint32_t i;

	/* The root is no stack, so node i is stack i - 1. */
	json_open(out, "stackTable", '{');
	json_open(out, "frame", '[');
	for (i = 1; i < calls->nr_nodes; i++)
		json_int(out, NULL, calls->node[i].frame);
	json_close(out, ']');
	json_open(out, "prefix", '[');
	for (i = 1; i < calls->nr_nodes; i++) {
		if (calls->node[i].parent == CALLS_ROOT)
			json_none(out, NULL);
		else
			json_int(out, NULL, (int64_t)calls->node[i].parent - 1);
	}
	json_close(out, ']');
	json_int(out, "length", (int64_t)calls->nr_nodes - 1);
	json_close(out, '}');
}

static void put_frame_table(struct json_out *out, const struct calls *calls)
{
	uint32_t i, nr = calls->nr_frames;

	json_open(out, "frameTable", '{');
	json_open(out, "func", '[');
	for (i = 0; i < nr; i++)
		json_int(out, NULL, i);
	json_close(out, ']');
	json_open(out, "category", '[');
	for (i = 0; i < nr; i++)
		json_int(out, NULL, calls->frame[i].kind == FRAME_WHAT ? CATEGORY_SYSCALL :
				    calls->frame[i].kernel ? CATEGORY_KERNEL : CATEGORY_OTHER);
	json_close(out, ']');
	put_constant(out, "address", nr, MINUS_ONE);
	put_constant(out, "inlineDepth", nr, ZERO);
	put_constant(out, "subcategory", nr, ZERO);
	put_constant(out, "nativeSymbol", nr, NONE);
	put_constant(out, "innerWindowID", nr, ZERO);
	put_constant(out, "line", nr, NONE);
	put_constant(out, "column", nr, NONE);
	json_int(out, "length", nr);
	json_close(out, '}');
}

/* Functions, and their objects as "resources". */
static void put_function_tables(struct json_out *out, const struct calls *calls)
{
	uint32_t *number = needed(calloc(calls->nr_strings, sizeof(*number)));
	uint32_t i, nr = calls->nr_frames, nr_objects = 0;

	json_open(out, "resourceTable", '{');
	json_open(out, "name", '[');
	for (i = 0; i < nr; i++) {
		if (!calls->frame[i].object || number[calls->frame[i].object])
			continue;
		json_int(out, NULL, calls->frame[i].object);
		number[calls->frame[i].object] = ++nr_objects;
	}
	json_close(out, ']');
	put_constant(out, "lib", nr_objects, NONE);
	put_constant(out, "host", nr_objects, NONE);
	put_constant(out, "type", nr_objects, ONE);	/* a library */
	json_int(out, "length", nr_objects);
	json_close(out, '}');
	json_open(out, "funcTable", '{');
	json_open(out, "name", '[');
	for (i = 0; i < nr; i++)
		json_int(out, NULL, calls->frame[i].name);
	json_close(out, ']');
	json_open(out, "resource", '[');
	for (i = 0; i < nr; i++)	/* -1: without an object */
		json_int(out, NULL, (int64_t)number[calls->frame[i].object] - 1);
	json_close(out, ']');
	put_constant(out, "isJS", nr, FALSE);
	put_constant(out, "relevantForJS", nr, FALSE);
	put_constant(out, "source", nr, NONE);
	put_constant(out, "lineNumber", nr, NONE);
	put_constant(out, "columnNumber", nr, NONE);
	json_int(out, "length", nr);
	json_close(out, '}');
	free(number);
}

static void put_empty_table(struct json_out *out, const char *name, const char *const *columns)
{
	json_open(out, name, '{');
	for (; *columns; columns++)
		put_constant(out, *columns, 0, NONE);
	json_int(out, "length", 0);
	json_close(out, '}');
}

static void put_shared(struct json_out *out, const struct calls *calls)
{
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize", NULL };
	static const char *const sources[] = { "uuid", "filename", NULL };
	uint32_t i;

	json_open(out, "shared", '{');
	json_open(out, "stringArray", '[');
	for (i = 0; i < calls->nr_strings; i++)
		json_text(out, NULL, calls->string[i]);
	json_close(out, ']');
	put_stack_table(out, calls);
	put_frame_table(out, calls);
	put_function_tables(out, calls);
	put_empty_table(out, "nativeSymbols", symbols);
	put_empty_table(out, "sources", sources);
	json_close(out, '}');
}

/* ------------------------------------------------------------ threads */

static int64_t start_of(const struct firefox_state *state, size_t i)
{
	return state->timeline.entry[i].sample.begin - state->samples->begin;
}

static void put_samples(struct firefox_state *state, size_t from, size_t to, enum weight weight)
{
	const struct timeline_entry *entry = state->timeline.entry;
	struct json_out *out = &state->out;
	int64_t nr = 0;
	size_t i;

	json_open(out, "samples", '{');
	json_open(out, "stack", '[');
	for (i = from; i < to; i++) {
		if (!sample_weighs(&entry[i].sample, weight))
			continue;
		json_int(out, NULL, (int64_t)entry[i].sample.node - 1);
		nr++;
	}
	json_close(out, ']');
	json_open(out, "time", '[');
	for (i = from; i < to; i++) {
		if (sample_weighs(&entry[i].sample, weight))
			json_ms(out, NULL, start_of(state, i));
	}
	json_close(out, ']');
	json_open(out, "weight", '[');
	for (i = from; i < to; i++) {
		if (!sample_weighs(&entry[i].sample, weight))
			continue;
		if (weight == WEIGHT_EVENTS)
			json_int(out, NULL, 1);
		else
			json_ms(out, NULL, sample_weight(&entry[i].sample, weight));
	}
	json_close(out, ']');
	json_text(out, "weightType", weight == WEIGHT_EVENTS ? "samples" : "tracing-ms");
	json_int(out, "length", nr);
	json_close(out, '}');
}

static uint32_t marker_name(struct firefox_state *state, const struct sample *sample)
{
	return sample->kind == SAMPLE_OFF_CPU ? calls_string(&state->samples->calls, "off CPU") :
						sample->what;
}

/* The type, by which the profiler finds the schema, is the marker's name. */
static void put_data(struct firefox_state *state, const struct timeline_entry *entry)
{
	uint32_t stack = state->samples->calls.node[entry->sample.node].parent;
	uint32_t type = marker_name(state, &entry->sample);
	struct json_out *out = &state->out;

	json_open(out, NULL, '{');
	json_text(out, "type", state->samples->calls.string[type]);
	json_open(out, "cause", '{');
	json_ms(out, "time", entry->sample.begin - state->samples->begin);
	json_int(out, "stack", (int64_t)stack - 1);
	json_close(out, '}');
	firefox_fields_put(&state->fields, out, entry->note[0]);
	firefox_fields_put(&state->fields, out, entry->note[1]);
	json_close(out, '}');
}

static void put_markers(struct firefox_state *state, size_t from, size_t to)
{
	enum { INSTANT = 0, INTERVAL = 1 };
	const struct timeline_entry *entry = state->timeline.entry;
	struct json_out *out = &state->out;
	int64_t nr = 0;
	size_t i;

	json_open(out, "markers", '{');
	json_open(out, "data", '[');
	for (i = from; i < to; i++) {
		if (has_marker(&entry[i].sample))
			put_data(state, &entry[i]);
	}
	json_close(out, ']');
	json_open(out, "name", '[');
	for (i = from; i < to; i++) {
		if (has_marker(&entry[i].sample))
			json_int(out, NULL, marker_name(state, &entry[i].sample));
	}
	json_close(out, ']');
	json_open(out, "startTime", '[');
	for (i = from; i < to; i++) {
		if (has_marker(&entry[i].sample))
			json_ms(out, NULL, start_of(state, i));
	}
	json_close(out, ']');
	json_open(out, "endTime", '[');
	for (i = from; i < to; i++) {
		if (!has_marker(&entry[i].sample))
			continue;
		if (entry[i].sample.duration < 0)
			json_none(out, NULL);
		else
			json_ms(out, NULL, start_of(state, i) + entry[i].sample.duration);
	}
	json_close(out, ']');
	json_open(out, "phase", '[');
	for (i = from; i < to; i++) {
		if (has_marker(&entry[i].sample))
			json_int(out, NULL, entry[i].sample.duration < 0 ? INSTANT : INTERVAL);
	}
	json_close(out, ']');
	json_open(out, "category", '[');
	for (i = from; i < to; i++) {
		if (!has_marker(&entry[i].sample))
			continue;
		nr++;
		json_int(out, NULL, entry[i].sample.kind == SAMPLE_SYSCALL ? CATEGORY_SYSCALL :
				    entry[i].sample.kind == SAMPLE_OFF_CPU ? CATEGORY_OFF_CPU :
									     CATEGORY_OTHER);
	}
	json_close(out, ']');
	json_int(out, "length", nr);
	json_close(out, '}');
}

/* One thread, whose samples are those from @from to before @to. */
static void put_thread(struct firefox_state *state, size_t from, size_t to, enum weight weight)
{
	static const struct sample_thread unknown = { .pid = -1, .tid = -1 };
	const struct samples *samples = state->samples;
	uint32_t number = state->timeline.entry[from].sample.thread;
	const struct sample_thread *thread = number == SAMPLE_NO_THREAD ? &unknown :
							&samples->thread[number];
	/* Without context procname there is no name. */
	const char *name = thread->comm ? samples->calls.string[thread->comm] : "?";
	struct json_out *out = &state->out;
	char pid[24];

	snprintf(pid, sizeof(pid), "%lld", (long long)thread->pid);
	json_open(out, NULL, '{');
	json_text(out, "name", name);
	json_text(out, "processName", name);
	json_text(out, "processType", "default");
	json_bool(out, "isMainThread", thread->pid == thread->tid);
	json_text(out, "pid", pid);
	json_int(out, "tid", thread->tid);
	json_int(out, "processStartupTime", 0);
	json_none(out, "processShutdownTime");
	json_int(out, "registerTime", 0);
	json_none(out, "unregisterTime");
	json_open(out, "pausedRanges", '[');
	json_close(out, ']');
	put_samples(state, from, to, weight);
	put_markers(state, from, to);
	json_close(out, '}');
}

/* ------------------------------------------------------------ the profile */

static void put_category(struct json_out *out, const char *name, const char *colour)
{
	json_open(out, NULL, '{');
	json_text(out, "name", name);
	json_text(out, "color", colour);
	json_open(out, "subcategories", '[');
	json_text(out, NULL, "Other");
	json_close(out, ']');
	json_close(out, '}');
}

static void put_meta(struct firefox_state *state, enum weight weight)
{
	const struct samples *samples = state->samples;
	struct json_out *out = &state->out;
	char product[400];

	snprintf(product, sizeof(product), "%.300s: %s",
		 *samples->hostname ? samples->hostname : "trace", analyze_weight_title(weight));
	json_open(out, "meta", '{');
	json_text(out, "product", product);
	json_int(out, "version", GECKO_VERSION);
	json_int(out, "preprocessedProfileVersion", FORMAT_VERSION);
	json_int(out, "interval", 1);
	json_ms(out, "startTime", samples->begin);
	json_int(out, "processType", 0);
	json_int(out, "stackwalk", 1);
	json_int(out, "debug", 0);
	json_bool(out, "symbolicated", true);
	json_text(out, "importedFrom", "kunwind");
	json_open(out, "categories", '[');
	put_category(out, "Other", "grey");
	put_category(out, "System call", "blue");
	put_category(out, "Off the CPU", "orange");
	put_category(out, "Kernel", "green");
	json_close(out, ']');
	firefox_fields_schema(&state->fields, out);
	json_close(out, '}');
}

static void put_profile(struct firefox_state *state, enum weight weight)
{
	struct json_out *out = &state->out;
	size_t from, to;

	timeline_sort(&state->timeline);
	json_open(out, NULL, '{');
	put_meta(state, weight);
	json_open(out, "libs", '[');
	json_close(out, ']');
	json_open(out, "threads", '[');
	for (from = 0; from < state->timeline.nr; from = to) {
		to = timeline_thread_end(&state->timeline, from);
		put_thread(state, from, to, weight);
	}
	json_close(out, ']');
	put_shared(out, &state->samples->calls);	/* the last: all others add strings */
	json_close(out, '}');
}

static bool end(void *data, enum weight weight, bool ok)
{
	struct firefox_state *state = data;

	if (ok)
		put_profile(state, weight);
	ok = ok && !ferror(state->out.file);
	free(state->timeline.entry);
	firefox_fields_exit(&state->fields);
	free(state->entered);
	free(state);
	return ok;
}

const struct export_stream export_firefox = {
	begin, { .begin = sample_begins, .end = sample_ends }, end
};

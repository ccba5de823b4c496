// SPDX-License-Identifier: MIT
/*
 * export_firefox.c - the Firefox Profiler's processed profile format
 *
 * Each thread has a sample, with its stack, for each event or time of the
 * selected weight, and a marker for each system call, event and time off the
 * CPU. The tables of stacks, frames and functions are the tree of calls.
 *
 * Format: version 60 of docs-developer/CHANGELOG-formats.md in the profiler's
 * source, the first version whose tables are shared by all threads. Later
 * profilers convert it themselves.
 *
 * Memory: 56 bytes for each sample, and the whole output as a tree of JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze.h"

#define FORMAT_VERSION		60
#define GECKO_VERSION		33

enum { CATEGORY_OTHER, CATEGORY_SYSCALL, CATEGORY_OFF_CPU };

struct state {
	struct samples *samples;
	FILE *file;
	struct sample *sample;
	size_t nr, cap;
};

static void *begin(struct samples *samples, FILE *file)
{
	struct state *state = needed(calloc(1, sizeof(*state)));

	state->samples = samples;
	state->file = file;
	return state;
}

static void take(const struct sample *sample, const bt_event *event, void *data)
{
	struct state *state = data;

	(void)event;
	if (state->nr == state->cap) {
		state->cap = state->cap ? state->cap * 2 : 4096;
		state->sample = needed(realloc(state->sample,
					       state->cap * sizeof(*state->sample)));
	}
	state->sample[state->nr++] = *sample;
}

/* By thread, then by begin, then longest first. */
static int in_order(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->duration > y->duration ? -1 : x->duration < y->duration ? 1 : 0;
}

/* ------------------------------------------------------------ tables */

/* A table of the format is an object that has an array for each column. */
struct column {
	json_t *table, *array;
};

static struct column column(json_t *table, const char *name)
{
	struct column column = { table, needed(json_array()) };

	analyze_set(table, name, column.array);
	return column;
}

static void add(struct column column, int64_t value)
{
	analyze_append(column.array, json_integer(value));
}

/* Adds a column of @nr equal values. Takes the reference of @value. */
static void constant(json_t *table, const char *name, size_t nr, json_t *value)
{
	struct column c = column(table, name);

	needed(value);
	while (nr--)
		analyze_append(c.array, json_incref(value));
	json_decref(value);
}

static void set_length(json_t *table, size_t nr)
{
	analyze_set(table, "length", json_integer((json_int_t)nr));
}

static json_t *stack_table(const struct calls *calls)
{
	json_t *table = needed(json_object());
	struct column frame = column(table, "frame"), prefix = column(table, "prefix");
	uint32_t i;

	/* The root is no stack, so node i is stack i - 1. */
	for (i = 1; i < calls->nr_nodes; i++) {
		add(frame, calls->node[i].frame);
		if (calls->node[i].parent == CALLS_ROOT)
			analyze_append(prefix.array, json_null());
		else
			add(prefix, calls->node[i].parent - 1);
	}
	set_length(table, calls->nr_nodes - 1);
	return table;
}

static json_t *frame_table(const struct calls *calls)
{
	json_t *table = needed(json_object());
	struct column func = column(table, "func"), category = column(table, "category");
	uint32_t i, nr = calls->nr_frames;

	for (i = 0; i < nr; i++) {
		add(func, i);
		add(category, calls->frame[i].kind == FRAME_WHAT ? CATEGORY_SYSCALL : CATEGORY_OTHER);
	}
	constant(table, "address", nr, json_integer(-1));
	constant(table, "inlineDepth", nr, json_integer(0));
	constant(table, "subcategory", nr, json_integer(0));
	constant(table, "nativeSymbol", nr, json_null());
	constant(table, "innerWindowID", nr, json_integer(0));
	constant(table, "line", nr, json_null());
	constant(table, "column", nr, json_null());
	set_length(table, nr);
	return table;
}

/* Functions, and their objects as "resources". */
static void function_tables(const struct calls *calls, json_t *shared)
{
	json_t *functions = needed(json_object()), *resources = needed(json_object());
	struct column name = column(functions, "name"), resource = column(functions, "resource");
	struct column object = column(resources, "name");
	int64_t *number = needed(calloc(calls->nr_strings, sizeof(*number)));
	uint32_t i, nr = calls->nr_frames, nr_objects = 0;

	for (i = 0; i < nr; i++) {
		const struct calls_frame *frame = &calls->frame[i];

		add(name, frame->name);
		if (frame->object && !number[frame->object]) {
			add(object, frame->object);
			number[frame->object] = ++nr_objects;
		}
		add(resource, frame->object ? number[frame->object] - 1 : -1);
	}
	free(number);
	constant(functions, "isJS", nr, json_false());
	constant(functions, "relevantForJS", nr, json_false());
	constant(functions, "source", nr, json_null());
	constant(functions, "lineNumber", nr, json_null());
	constant(functions, "columnNumber", nr, json_null());
	set_length(functions, nr);
	constant(resources, "lib", nr_objects, json_null());
	constant(resources, "host", nr_objects, json_null());
	constant(resources, "type", nr_objects, json_integer(1));	/* a library */
	set_length(resources, nr_objects);
	analyze_set(shared, "funcTable", functions);
	analyze_set(shared, "resourceTable", resources);
}

static json_t *empty_table(const char *const *columns)
{
	json_t *table = needed(json_object());

	for (; *columns; columns++)
		column(table, *columns);
	set_length(table, 0);
	return table;
}

static json_t *shared_tables(const struct samples *samples)
{
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize", NULL };
	static const char *const sources[] = { "uuid", "filename", NULL };
	const struct calls *calls = &samples->calls;
	json_t *shared = needed(json_object());
	struct column strings = column(shared, "stringArray");
	uint32_t i;

	for (i = 0; i < calls->nr_strings; i++)
		analyze_append(strings.array, analyze_text(samples, i));
	analyze_set(shared, "stackTable", stack_table(calls));
	analyze_set(shared, "frameTable", frame_table(calls));
	function_tables(calls, shared);
	analyze_set(shared, "nativeSymbols", empty_table(symbols));
	analyze_set(shared, "sources", empty_table(sources));
	return shared;
}

/* ------------------------------------------------------------ threads */

static json_t *milliseconds(int64_t ns)
{
	return needed(json_real((double)ns / 1e6));
}

/* Returns whether a sample counts for this weight. */
static bool weighs(const struct sample *sample, enum weight weight)
{
	return weight == WEIGHT_EVENTS ? sample->kind != SAMPLE_OFF_CPU : sample->duration >= 0 &&
	       sample->kind == (weight == WEIGHT_BLOCKED ? SAMPLE_SYSCALL : SAMPLE_OFF_CPU);
}

static json_t *thread_samples(const struct state *state, size_t from, size_t to,
			      enum weight weight)
{
	json_t *table = needed(json_object());
	struct column stack = column(table, "stack"), time = column(table, "time");
	struct column heavy = column(table, "weight");
	size_t i, nr = 0;

	for (i = from; i < to; i++) {
		const struct sample *s = &state->sample[i];

		if (!weighs(s, weight))
			continue;
		add(stack, s->node - 1);
		analyze_append(time.array, milliseconds(s->begin - state->samples->begin));
		analyze_append(heavy.array, weight == WEIGHT_EVENTS ? json_integer(1) :
						   milliseconds(s->duration));
		nr++;
	}
	analyze_set(table, "weightType",
		    json_string(weight == WEIGHT_EVENTS ? "samples" : "tracing-ms"));
	set_length(table, nr);
	return table;
}

static json_t *thread_markers(const struct state *state, size_t from, size_t to)
{
	enum { INSTANT = 0, INTERVAL = 1 };
	json_t *table = needed(json_object());
	struct column data = column(table, "data"), name = column(table, "name");
	struct column start = column(table, "startTime"), end = column(table, "endTime");
	struct column phase = column(table, "phase"), category = column(table, "category");
	size_t i;

	for (i = from; i < to; i++) {
		const struct sample *s = &state->sample[i];
		int64_t begin = s->begin - state->samples->begin;

		analyze_append(data.array, json_null());
		add(name, s->what);
		analyze_append(start.array, milliseconds(begin));
		analyze_append(end.array, s->duration < 0 ? json_null() :
						milliseconds(begin + s->duration));
		add(phase, s->duration < 0 ? INSTANT : INTERVAL);
		add(category, s->kind == SAMPLE_SYSCALL ? CATEGORY_SYSCALL :
			      s->kind == SAMPLE_OFF_CPU ? CATEGORY_OFF_CPU : CATEGORY_OTHER);
	}
	set_length(table, to - from);
	return table;
}

/* Without context procname there is no name. */
static json_t *thread_name(const struct samples *samples, const struct sample_thread *thread)
{
	return thread->comm ? analyze_text(samples, thread->comm) : json_string("?");
}

/* One thread, whose samples are sample[from] to sample[to - 1]. */
static json_t *thread(const struct state *state, size_t from, size_t to, enum weight weight)
{
	const struct samples *samples = state->samples;
	static const struct sample_thread unknown = { .pid = -1, .tid = -1 };
	uint32_t number = state->sample[from].thread;
	const struct sample_thread *t = number == SAMPLE_NO_THREAD ? &unknown :
							&samples->thread[number];
	json_t *object = needed(json_object());
	char pid[24];

	snprintf(pid, sizeof(pid), "%lld", (long long)t->pid);
	analyze_set(object, "name", thread_name(samples, t));
	analyze_set(object, "processName", thread_name(samples, t));
	analyze_set(object, "processType", json_string("default"));
	analyze_set(object, "isMainThread", json_boolean(t->pid == t->tid));
	analyze_set(object, "pid", json_string(pid));
	analyze_set(object, "tid", json_integer(t->tid));
	analyze_set(object, "processStartupTime", json_integer(0));
	analyze_set(object, "processShutdownTime", json_null());
	analyze_set(object, "registerTime", json_integer(0));
	analyze_set(object, "unregisterTime", json_null());
	analyze_set(object, "pausedRanges", json_array());
	analyze_set(object, "samples", thread_samples(state, from, to, weight));
	analyze_set(object, "markers", thread_markers(state, from, to));
	return object;
}

static void add_category(json_t *array, const char *name, const char *colour)
{
	json_t *category = needed(json_object()), *below = needed(json_array());

	analyze_append(below, json_string("Other"));
	analyze_set(category, "name", json_string(name));
	analyze_set(category, "color", json_string(colour));
	analyze_set(category, "subcategories", below);
	analyze_append(array, category);
}

static json_t *meta(const struct samples *samples, enum weight weight)
{
	json_t *object = needed(json_object()), *categories = needed(json_array());

	add_category(categories, "Other", "grey");
	add_category(categories, "System call", "blue");
	add_category(categories, "Off the CPU", "orange");
	analyze_set(object, "product",
		    json_sprintf("%s: %s", *samples->hostname ? samples->hostname : "trace",
				 analyze_weight_title(weight)));
	analyze_set(object, "version", json_integer(GECKO_VERSION));
	analyze_set(object, "preprocessedProfileVersion", json_integer(FORMAT_VERSION));
	analyze_set(object, "interval", json_integer(1));
	analyze_set(object, "startTime", milliseconds(samples->begin));
	analyze_set(object, "processType", json_integer(0));
	analyze_set(object, "stackwalk", json_integer(1));
	analyze_set(object, "debug", json_integer(0));
	analyze_set(object, "symbolicated", json_true());
	analyze_set(object, "importedFrom", json_string("kunwind"));
	analyze_set(object, "categories", categories);
	analyze_set(object, "markerSchema", json_array());
	return object;
}

static bool end(void *data, enum weight weight)
{
	struct state *state = data;
	json_t *whole = needed(json_object()), *threads = needed(json_array());
	size_t from, to;
	bool ok;

	if (state->nr)
		qsort(state->sample, state->nr, sizeof(*state->sample), in_order);
	for (from = 0; from < state->nr; from = to) {
		for (to = from; to < state->nr; to++) {
			if (state->sample[to].thread != state->sample[from].thread)
				break;
		}
		analyze_append(threads, thread(state, from, to, weight));
	}
	analyze_set(whole, "meta", meta(state->samples, weight));
	analyze_set(whole, "libs", json_array());
	analyze_set(whole, "shared", shared_tables(state->samples));
	analyze_set(whole, "threads", threads);
	ok = analyze_dump(whole, state->file, 0);
	free(state->sample);
	free(state);
	return ok;
}

const struct export_stream export_firefox = { begin, { .end = take }, end };

// SPDX-License-Identifier: MIT
/*
 * export_pprof.c - pprof's profile.proto, compressed with zlib as gzip does
 *
 * A sample is a stack of one thread, with the sums of all weights as values and
 * with process and thread as labels. Its innermost location is the system call,
 * event or cause; that of a sample of a CPU is the function. A location is a place in
 * the code: an address in an object, with the function there and the functions that it
 * was inlined into, each with its line. A mapping is an object, with path and build-id;
 * it begins at address 0, so addresses are those of the ELF file.
 *
 * Numbers in the tree of calls serve as ids: a location has that of its
 * innermost frame, plus 1; a string that of calls->string.
 *
 * Format: proto/profile.proto in the source of pprof.
 *
 * Memory: 40 bytes for each stack of each thread, and 12 for each frame.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyze.h"
#include "protobuf.h"
#include "threads.h"
#include "tool.h"

enum profile {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRING_TABLE = 6, PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10, PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum {
	MAPPING_ID = 1, MAPPING_MEMORY_LIMIT = 3, MAPPING_FILENAME = 5, MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_FILENAMES = 8, MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4 };

/* A stack of one thread. */
struct total {
	uint32_t node, thread;
	int64_t weight[NR_WEIGHTS];
};

struct pprof_state {
	struct samples *samples;
	FILE *file;
	struct total *total;
	uint32_t nr, cap;
	uint32_t *slot, cap_slots;	/* hash table: index of total + 1; 0: empty */
	struct protobuf out;
	z_stream zip;
	bool *located;			/* by frame: it has its location */
	uint32_t *function;		/* by frame: the id of its function */
	struct calls_objects objects;
};

/* ------------------------------------------------------------ adding up */

static void *begin(struct samples *samples, FILE *file)
{
	struct pprof_state *state = needed(calloc(1, sizeof(*state)));

	samples->places = true;
	state->samples = samples;
	state->file = file;
	return state;
}

static uint32_t slot_of(const struct pprof_state *state, uint32_t node, uint32_t thread)
{
	uint64_t hash = ((uint64_t)node << 32 | thread) * 0x9e3779b97f4a7c15;

	return (uint32_t)(hash >> 32) & (state->cap_slots - 1);
}

static void grow(struct pprof_state *state)
{
	uint32_t i, at;

	state->cap = state->cap ? state->cap * 2 : 1024;
	state->cap_slots = state->cap * 2;
	state->total = needed(realloc(state->total, state->cap * sizeof(*state->total)));
	free(state->slot);
	state->slot = needed(calloc(state->cap_slots, sizeof(*state->slot)));
	for (i = 0; i < state->nr; i++) {
		at = slot_of(state, state->total[i].node, state->total[i].thread);
		while (state->slot[at])
			at = (at + 1) & (state->cap_slots - 1);
		state->slot[at] = i + 1;
	}
}

static struct total *total_of(struct pprof_state *state, uint32_t node, uint32_t thread)
{
	struct total *total;
	uint32_t at;

	if (state->nr == state->cap)
		grow(state);
	for (at = slot_of(state, node, thread); state->slot[at];
	     at = (at + 1) & (state->cap_slots - 1)) {
		total = &state->total[state->slot[at] - 1];
		if (total->node == node && total->thread == thread)
			return total;
	}
	total = &state->total[state->nr++];
	*total = (struct total){ .node = node, .thread = thread };
	state->slot[at] = state->nr;
	return total;
}

static void take(const struct sample *sample, const bt_event *event, void *data)
{
	struct total *total = total_of(data, sample->node, sample->thread);
	uint32_t i;

	(void)event;
	if (sample->kind == SAMPLE_SYSCALL || sample->kind == SAMPLE_EVENT)
		total->weight[WEIGHT_EVENTS]++;
	if (sample->duration >= 0)
		total->weight[sample_time_weight(sample->kind)] += sample->duration;
	for (i = 0; i < sample->nr_holds; i++)
		total_of(data, sample->hold[i].node, sample->thread)->weight[WEIGHT_LOCK] +=
			sample->hold[i].ns;
}

/* ------------------------------------------------------------ output */

/* Compresses what was written to state->out. @flush: Z_FINISH for the last time. */
static void flush_out(struct pprof_state *state, int flush)
{
	uint8_t buffer[16384];

	state->zip.next_in = state->out.data;
	state->zip.avail_in = (uInt)state->out.nr;
	do {
		state->zip.next_out = buffer;
		state->zip.avail_out = sizeof(buffer);
		deflate(&state->zip, flush);
		fwrite(buffer, 1, sizeof(buffer) - state->zip.avail_out, state->file);
	} while (!state->zip.avail_out);
	state->out.nr = 0;
}

static uint64_t text(struct pprof_state *state, const char *string)
{
	return calls_string(&state->samples->calls, string);
}

static void put_value_type(struct pprof_state *state, enum weight weight)
{
	size_t at = protobuf_begin(&state->out, PROFILE_SAMPLE_TYPE);
	const bool cycles = weight == WEIGHT_CPU && state->samples->cycles;

	protobuf_uint(&state->out, VALUE_TYPE, text(state, analyze_weight_name(weight)));
	protobuf_uint(&state->out, VALUE_UNIT, text(state, weight == WEIGHT_EVENTS ? "count" :
						    cycles ? "cycles" : "nanoseconds"));
	protobuf_end(&state->out, at);
}

/* A string label; or a number, if @string is 0. */
static void put_label(struct pprof_state *state, const char *key, uint64_t string, int64_t number)
{
	size_t at = protobuf_begin(&state->out, SAMPLE_LABEL);

	protobuf_uint(&state->out, LABEL_KEY, text(state, key));
	if (string)
		protobuf_uint(&state->out, LABEL_STR, string);
	else
		protobuf_uint(&state->out, LABEL_NUM, (uint64_t)number);
	protobuf_end(&state->out, at);
}

/* Returns the name of the process: that of its main thread, if that had events. */
static uint32_t process_name(const struct samples *samples, const struct sample_thread *thread)
{
	const struct kunwind_head main = { .pid = thread->pid, .tid = thread->pid };
	const struct sample_thread *found = threads_find(samples, thread->trace, &main);

	return found ? found->comm : thread->comm;
}

static void put_labels(struct pprof_state *state, uint32_t number)
{
	const struct samples *samples = state->samples;
	const struct sample_thread *thread = &samples->thread[number];

	if (number == SAMPLE_NO_THREAD)
		return;
	if (thread->comm) {
		put_label(state, "thread", thread->comm, 0);
		put_label(state, "process", process_name(samples, thread), 0);
	}
	put_label(state, "tid", 0, thread->tid);
	if (thread->pid >= 0)
		put_label(state, "pid", 0, thread->pid);
}

/*
 * Writes the location whose innermost frame is that of @node, if it is new.
 * Returns the node of the caller.
 */
static uint32_t put_location(struct pprof_state *state, uint32_t node)
{
	const struct calls *calls = &state->samples->calls;
	const struct calls_frame *frame = calls_frame(calls, node);
	uint32_t number = calls->node[node].frame, object;
	struct protobuf *out = &state->out;
	bool is_new = !state->located[number], inlined;
	size_t at = 0, line;

	state->located[number] = true;
	if (is_new) {
		at = protobuf_begin(out, PROFILE_LOCATION);
		protobuf_uint(out, LOCATION_ID, (uint64_t)number + 1);
		if (frame->kind == FRAME_FUNCTION && frame->object) {
			object = calls_object_number(&state->objects, frame);
			protobuf_uint(out, LOCATION_MAPPING_ID, (uint64_t)object + 1);
		}
		protobuf_uint(out, LOCATION_ADDRESS, frame->address);
	}
	do {
		frame = calls_frame(calls, node);
		inlined = frame->inlined;
		if (is_new) {
			line = protobuf_begin(out, LOCATION_LINE);
			protobuf_uint(out, LINE_FUNCTION_ID, state->function[calls->node[node].frame]);
			protobuf_uint(out, LINE_LINE, frame->line);
			protobuf_end(out, line);
		}
		node = calls->node[node].parent;
	} while (inlined);
	if (is_new)
		protobuf_end(out, at);
	return node;
}

static bool ends_stack(const struct calls *calls, uint32_t node)
{
	return node == CALLS_ROOT || calls_frame(calls, node)->kind == FRAME_PROCESS;
}

static void put_sample(struct pprof_state *state, const struct total *total)
{
	const struct calls *calls = &state->samples->calls;
	struct protobuf *out = &state->out;
	const uint32_t innermost = calls_innermost(calls, total->node);
	size_t at, list;
	uint32_t node;
	int w;

	for (node = innermost; !ends_stack(calls, node);)
		node = put_location(state, node);
	at = protobuf_begin(out, PROFILE_SAMPLE);
	list = protobuf_begin(out, SAMPLE_LOCATION_ID);
	for (node = innermost; !ends_stack(calls, node); node = calls->node[node].parent) {
		protobuf_element(out, (uint64_t)calls->node[node].frame + 1);
		while (calls_frame(calls, node)->inlined)
			node = calls->node[node].parent;
	}
	protobuf_end(out, list);
	list = protobuf_begin(out, SAMPLE_VALUE);
	for (w = 0; w < NR_WEIGHTS; w++)
		protobuf_element(out, (uint64_t)total->weight[w]);
	protobuf_end(out, list);
	put_labels(state, total->thread);
	protobuf_end(out, at);
}

/* ------------------------------------------------------------ functions, objects */

static const struct calls *sorted;

static int by_function(const void *a, const void *b)
{
	const struct calls_frame *x = &sorted->frame[*(const uint32_t *)a];
	const struct calls_frame *y = &sorted->frame[*(const uint32_t *)b];

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

static void put_function(struct pprof_state *state, uint32_t id, const struct calls_frame *frame)
{
	struct calls *calls = &state->samples->calls;
	uint64_t name = frame->name;
	char what[300];
	size_t at;

	if (frame->kind == FRAME_WHAT) {
		/* libc has functions of the same name */
		snprintf(what, sizeof(what), "%s %s", calls->string[frame->object],
			 calls->string[frame->name]);
		name = text(state, what);
	}
	at = protobuf_begin(&state->out, PROFILE_FUNCTION);
	protobuf_uint(&state->out, FUNCTION_ID, id);
	protobuf_uint(&state->out, FUNCTION_NAME, name);
	protobuf_uint(&state->out, FUNCTION_SYSTEM_NAME, name);
	protobuf_uint(&state->out, FUNCTION_FILENAME, frame->file);
	protobuf_end(&state->out, at);
}

/* Writes the functions, and sets the function of each frame. */
static void put_functions(struct pprof_state *state)
{
	const struct calls *calls = &state->samples->calls;
	uint32_t *order = needed(calloc(calls->nr_frames + 1, sizeof(*order)));
	uint32_t i, id = 0;

	state->function = needed(calloc(calls->nr_frames + 1, sizeof(*state->function)));
	for (i = 0; i < calls->nr_frames; i++)
		order[i] = i;
	sorted = calls;
	qsort(order, calls->nr_frames, sizeof(*order), by_function);
	for (i = 0; i < calls->nr_frames; i++) {
		if (!i || by_function(&order[i - 1], &order[i]))
			put_function(state, ++id, &calls->frame[order[i]]);
		state->function[order[i]] = id;
	}
	free(order);
}

/* Returns the path of an object. That of the kernel is perf's. */
static uint64_t path_of(struct pprof_state *state, uint32_t path)
{
	return strcmp(state->samples->calls.string[path], "[kernel]") ? path :
		text(state, "[kernel.kallsyms]");
}

static void put_objects(struct pprof_state *state)
{
	const struct calls *calls = &state->samples->calls;
	struct protobuf *out = &state->out;
	uint64_t *limit;
	uint32_t i, object;
	size_t at;

	limit = needed(calloc(state->objects.nr + 1, sizeof(*limit)));
	for (i = 0; i < calls->nr_frames; i++) {
		if (!state->located[i] || !calls->frame[i].object || calls->frame[i].kind != FRAME_FUNCTION)
			continue;
		object = calls_object_number(&state->objects, &calls->frame[i]);
		if (limit[object] <= calls->frame[i].address)
			limit[object] = calls->frame[i].address + 1;
	}
	for (i = 0; i < state->objects.nr; i++) {
		at = protobuf_begin(out, PROFILE_MAPPING);
		protobuf_uint(out, MAPPING_ID, (uint64_t)i + 1);
		protobuf_uint(out, MAPPING_MEMORY_LIMIT, limit[i]);
		protobuf_uint(out, MAPPING_FILENAME, path_of(state, state->objects.item[i].path));
		protobuf_uint(out, MAPPING_BUILD_ID, state->objects.item[i].build_id);
		/* else pprof looks for the names itself */
		protobuf_uint(out, MAPPING_HAS_FUNCTIONS, 1);
		protobuf_uint(out, MAPPING_HAS_FILENAMES, 1);
		protobuf_uint(out, MAPPING_HAS_LINE_NUMBERS, 1);
		protobuf_uint(out, MAPPING_HAS_INLINE_FRAMES, 1);
		protobuf_end(out, at);
	}
	free(limit);
}

/* Returns whether the function is of the program that gave a process its name, or is its main(). */
static bool is_of_program(const struct calls *calls, const struct calls_frame *frame, const char *comm)
{
	enum { MOST_COMM = 15 };
	const char *name = kunwind_tool_base_name(calls->string[frame->object]);

	return frame->kind == FRAME_FUNCTION && frame->object && !frame->kernel &&
	       (!strcmp(calls->string[frame->name], "main") ||
		(!strncmp(name, comm, MOST_COMM) && strlen(comm) <= MOST_COMM && *comm));
}

/* pprof takes the first mapping for the program: that of most stacks. */
static void begin_with_program(struct pprof_state *state)
{
	const struct calls *calls = &state->samples->calls;
	uint32_t *stacks = needed(calloc(calls->nr_strings, sizeof(*stacks))), i, node, outer;
	const struct calls_frame *frame, *best = NULL;

	for (i = 0; i < state->nr; i++) {
		for (outer = state->total[i].node; !ends_stack(calls, outer);)
			outer = calls->node[outer].parent;
		for (node = state->total[i].node; node != outer; node = calls->node[node].parent) {
			frame = calls_frame(calls, node);
			if (!is_of_program(calls, frame, outer == CALLS_ROOT ? "" : calls_name(calls, outer)))
				continue;
			if (++stacks[frame->object] > (best ? stacks[best->object] : 0))
				best = frame;
		}
	}
	if (best)
		calls_object_number(&state->objects, best);
	free(stacks);
}

static void put_profile(struct pprof_state *state, enum weight weight)
{
	struct samples *samples = state->samples;
	struct protobuf *out = &state->out;
	uint32_t i;
	int w;

	state->located = needed(calloc(samples->calls.nr_frames + 1, sizeof(bool)));
	for (w = 0; w < NR_WEIGHTS; w++)
		put_value_type(state, (enum weight)w);
	protobuf_uint(out, PROFILE_DEFAULT_SAMPLE_TYPE, text(state, analyze_weight_name(weight)));
	if (samples->begin >= 0) {
		protobuf_uint(out, PROFILE_TIME_NANOS, (uint64_t)samples->begin);
		protobuf_uint(out, PROFILE_DURATION_NANOS, (uint64_t)(samples->end - samples->begin));
	}
	put_functions(state);
	begin_with_program(state);
	for (i = 0; i < state->nr; i++) {
		put_sample(state, &state->total[i]);
		flush_out(state, Z_NO_FLUSH);
	}
	put_objects(state);
	/* the last, because all others add to them */
	for (i = 0; i < samples->calls.nr_strings; i++)
		protobuf_text(out, PROFILE_STRING_TABLE, samples->calls.string[i]);
	flush_out(state, Z_FINISH);
}

static bool end(void *data, enum weight weight, bool ok)
{
	enum { GZIP = 16 };	/* zlib's flag */
	struct pprof_state *state = data;

	if (ok && deflateInit2(&state->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP,
			       MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		kunwind_tool_error("out of memory");
		ok = false;
	}
	if (ok) {
		put_profile(state, weight);
		deflateEnd(&state->zip);
	}
	free(state->total);
	free(state->slot);
	free(state->out.data);
	free(state->located);
	free(state->function);
	calls_objects_free(&state->objects);
	free(state);
	return ok;
}

const struct export_stream export_pprof = { begin, { .end = take }, end };

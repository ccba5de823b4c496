// SPDX-License-Identifier: MIT
/*
 * export_perfetto.c - the JSON trace event format, for Perfetto's viewer
 *
 * Each system call and each time off the CPU is a complete event ("X") on its
 * thread's track; a time off the CPU in a system call is nested in that call.
 * Other events, except sched_switch, and system calls without an exit are
 * instants ("i"), which are global if their thread is not known. Perfetto
 * cannot show stacks of such events as stacks, so "args" holds the stack as one
 * text, innermost function first.
 *
 * The output is written while the trace is read; memory does not grow with the
 * number of events.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze.h"

struct state {
	struct samples *samples;
	FILE *file;
	bool first, failed;
};

static void *begin(struct samples *samples, FILE *file)
{
	struct state *state = needed(calloc(1, sizeof(*state)));

	*state = (struct state){ .samples = samples, .file = file, .first = true };
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file);
	return state;
}

static void put(struct state *state, json_t *event)
{
	fputs(state->first ? "\n" : ",\n", state->file);
	state->first = false;
	if (!analyze_dump(event, state->file, 0))
		state->failed = true;
}

static json_t *stack_text(const struct calls *calls, uint32_t node)
{
	char *text = NULL;
	size_t size;
	FILE *memory = needed(open_memstream(&text, &size));
	json_t *json;

	for (node = calls->node[node].parent; node != CALLS_ROOT; node = calls->node[node].parent) {
		if (calls_frame(calls, node)->kind == FRAME_PROCESS)
			continue;
		fputs(calls_name(calls, node), memory);
		if (*calls_object(calls, node))
			fprintf(memory, " (%s)", calls_object(calls, node));
		putc('\n', memory);
	}
	fclose(memory);
	json = needed(json_string(needed(text)));
	free(text);
	return json;
}

/* A double holds the microseconds of a trace with all their nanoseconds. */
static json_t *microseconds(int64_t ns)
{
	return needed(json_real((double)ns / 1000));
}

/* A trace without contexts pid and vpid has no process ids. */
static void set_thread(json_t *event, const struct sample_thread *thread)
{
	if (thread->pid >= 0)
		analyze_set(event, "pid", json_integer(thread->pid));
	analyze_set(event, "tid", json_integer(thread->tid));
}

static void sample(const struct sample *sample, void *data)
{
	struct state *state = data;
	const struct samples *samples = state->samples;
	bool threaded = sample->thread != SAMPLE_NO_THREAD;
	json_t *event, *args;
	bool instant = sample->duration < 0;

	if (sample->kind == SAMPLE_EVENT && !strcmp(samples->calls.string[sample->what], "sched_switch"))
		return;
	event = needed(json_object());
	args = needed(json_object());
	analyze_set(event, "ph", json_string(instant ? "i" : "X"));
	if (instant)
		analyze_set(event, "s", json_string(threaded ? "t" : "g"));
	analyze_set(event, "name", sample->kind == SAMPLE_OFF_CPU ? json_string("off CPU") :
				   analyze_text(samples, sample->what));
	analyze_set(event, "cat", json_string(sample->kind == SAMPLE_SYSCALL ? "system call" :
					      sample->kind == SAMPLE_EVENT ? "event" : "off CPU"));
	if (threaded)
		set_thread(event, &samples->thread[sample->thread]);
	analyze_set(event, "ts", microseconds(sample->begin - samples->begin));
	if (!instant)
		analyze_set(event, "dur", microseconds(sample->duration));
	if (sample->kind == SAMPLE_OFF_CPU)
		analyze_set(args, "in", analyze_text(samples, sample->what));
	if (sample->kind == SAMPLE_SYSCALL)
		analyze_set(args, "failed", json_boolean(sample->failed));
	analyze_set(args, "stack", stack_text(&samples->calls, sample->node));
	analyze_set(event, "args", args);
	put(state, event);
}

static void put_name(struct state *state, const char *what, const struct sample_thread *thread)
{
	json_t *event = needed(json_object()), *args = needed(json_object());

	analyze_set(args, "name", analyze_text(state->samples, thread->comm));
	analyze_set(event, "ph", json_string("M"));
	analyze_set(event, "name", json_string(what));
	set_thread(event, thread);
	analyze_set(event, "args", args);
	put(state, event);
}

static bool end(void *data, enum weight weight)
{
	struct state *state = data;
	bool ok;
	uint32_t i;

	(void)weight;		/* the format has all samples */
	for (i = 0; i < state->samples->nr_threads; i++) {
		const struct sample_thread *thread = &state->samples->thread[i];

		if (thread->pid == thread->tid)
			put_name(state, "process_name", thread);
		put_name(state, "thread_name", thread);
	}
	fputs("\n]}\n", state->file);
	ok = !state->failed && !ferror(state->file);
	free(state);
	return ok;
}

const struct export_stream export_perfetto = { begin, sample, end };

// SPDX-License-Identifier: MIT
/*
 * show_reading.c - a trace's events, each with its process and its named stack
 *
 * The trace is read twice: first for the events of kunwind itself, which tell
 * what was mapped where and when, then for all events. A state dump may come
 * after the first events of a session, and the first pass makes up for that.
 * For processes that the trace tells nothing about, /proc is asked, when they
 * still run on this host.
 *
 * Memory: the history of mappings (show_maps.c) and the symbols of the objects
 * in use (symbolize.c); nothing grows with the number of events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "show_reading.h"

/* On a terminal, once a second. */
static void tell_progress(struct kunwind_reading *reading)
{
	time_t now;

	if (++reading->seen % 4096 || !reading->doing)
		return;
	now = time(NULL);
	if (now == reading->told)
		return;
	reading->told = now;
	fprintf(stderr, "\rkunwind %s: %s, %" PRIu64 " events ", program_invocation_short_name,
		reading->doing, reading->seen);
}

static int count(const bt_event *event, int64_t time, void *data)
{
	struct kunwind_reading *reading = data;

	tell_progress(reading);
	return reading->fn(event, time, reading->data);
}

static bool pass(struct kunwind_reading *reading, const char *doing, kunwind_trace_event_fn *fn,
		 void *data, uint64_t *lost)
{
	bool ok;

	reading->fn = fn;
	reading->data = data;
	reading->doing = !reading->quiet && isatty(STDERR_FILENO) ? doing : NULL;
	reading->told = time(NULL);
	reading->seen = 0;
	ok = kunwind_trace_read(reading->trace, count, reading, lost);
	if (reading->doing)
		fputs("\r\033[K", stderr);
	return ok;
}

static const char *event_name(const bt_event *event)
{
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));

	return name ? name : "";
}

static void out_of_memory(void)
{
	fprintf(stderr, "kunwind %s: out of memory\n", program_invocation_short_name);
}

static int learn(const bt_event *event, int64_t time, void *data)
{
	struct kunwind_reading *reading = data;
	const char *name = event_name(event);

	if (!kunwind_history_is_own(name) ||
	    kunwind_histories_learn(reading->histories, event, name, time))
		return KUNWIND_TRACE_GO_ON;
	out_of_memory();
	return KUNWIND_TRACE_FAIL;
}

bool kunwind_reading_open(struct kunwind_reading *reading, char *const *paths, int nr_paths,
			  bool symbols)
{
	memset(reading, 0, sizeof(*reading));
	reading->trace = kunwind_trace_open(paths, nr_paths);
	if (!reading->trace)
		return false;
	if (!symbols)
		return true;
	reading->symbolizer = kunwind_symbolizer_new();
	if (reading->symbolizer)
		reading->histories = kunwind_histories_new(reading->symbolizer);
	if (!reading->histories) {
		out_of_memory();
		return false;
	}
	return pass(reading, "reading mappings", learn, reading, NULL);
}

void kunwind_reading_close(struct kunwind_reading *reading)
{
	kunwind_histories_free(reading->histories);
	kunwind_symbolizer_free(reading->symbolizer);
	kunwind_trace_close(reading->trace);
}

bool kunwind_reading_events(struct kunwind_reading *reading, kunwind_trace_event_fn *fn,
			    void *data, uint64_t *lost)
{
	return pass(reading, reading->histories ? "naming" : "reading", fn, data, lost);
}

static int64_t first_context(const bt_event *event, const char *name, const char *other)
{
	int64_t value = -1;

	if (!kunwind_field_integer(kunwind_event_context(event, name), &value))
		kunwind_field_integer(kunwind_event_context(event, other), &value);
	return value;
}

static int64_t event_cpu(const bt_event *event)
{
	const bt_packet *packet = bt_event_borrow_packet_const(event);
	const bt_field *context = packet ? bt_packet_borrow_context_field_const(packet) : NULL;
	int64_t cpu = -1;

	if (context)
		kunwind_field_integer(bt_field_structure_borrow_member_field_by_name_const(
					      context, "cpu_id"), &cpu);
	return cpu;
}

void kunwind_head_read(struct kunwind_head *head, const bt_event *event, int64_t time)
{
	const char *comm = kunwind_field_string(kunwind_event_context(event, "procname"));

	head->name = event_name(event);
	head->comm = comm ? comm : "";
	head->time = time;
	head->own_number = !kunwind_event_context(event, "pid");
	head->pid = first_context(event, "pid", "vpid");
	head->tid = first_context(event, "tid", "vtid");
	head->cpu = event_cpu(event);
}

/* A process that the trace does not describe, on the host where we are. */
static void try_live(struct kunwind_reading *reading, struct kunwind_maps *maps,
		     const struct kunwind_head *head, int pid)
{
	const char *host;
	char own[256];

	if (!reading->host_known) {
		host = kunwind_trace_hostname(reading->trace);
		reading->same_host = host && !gethostname(own, sizeof(own)) && !strcmp(host, own);
		reading->host_known = true;
	}
	if (reading->same_host && !kunwind_maps_knows(maps, pid))
		kunwind_maps_load_live(maps, reading->symbolizer, pid, head->comm, head->time);
}

bool kunwind_reading_stack(struct kunwind_reading *reading, const bt_event *event,
			   const struct kunwind_head *head, struct kunwind_stack *stack)
{
	const struct kunwind_history *history;
	int pid = (int)head->pid;

	kunwind_stack_begin(stack, event, head->time);
	if (!stack->nr || !reading->histories)
		return true;
	history = kunwind_histories_of(reading->histories, event);
	if (!history)
		return false;
	if (head->own_number)
		pid = kunwind_pids_find(history->pids, history->maps, pid,
					kunwind_stack_address(stack, 0), head->time);
	if (pid >= 0)
		try_live(reading, history->maps, head, pid);
	stack->maps = history->maps;
	stack->pid = pid;
	return true;
}

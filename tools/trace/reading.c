// SPDX-License-Identifier: MIT
/*
 * reading.c - read the events of traces with their processes and stacks
 *
 * To name frames, the traces are read twice: first for kunwind's events, which
 * record what was mapped where and when, then for all events. The first pass is
 * needed because a state dump may come after the first events of a session. The
 * mappings of a process that the trace does not know come from /proc, if the
 * process still runs on this host.
 *
 * Memory: the history of mappings and the symbolizer's cache, both of
 * libkunwind-symbolize. Nothing grows with the number of other events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reading.h"
#include "syscall.h"
#include "tool.h"

/* Prints progress, at most once a second; only on a terminal. */
static void tell_progress(struct kunwind_reading *reading)
{
	time_t now;

	if (++reading->seen % 4096 || !reading->doing)
		return;
	now = time(NULL);
	if (now == reading->told)
		return;
	reading->told = now;
	fprintf(stderr, "\rkunwind %s: %s, %" PRIu64 " events ", kunwind_tool_name, reading->doing,
		reading->seen);
}

static int count(const bt_event *event, int64_t time, void *data)
{
	struct kunwind_reading *reading = data;

	tell_progress(reading);
	return reading->fn(event, time, reading->data);
}

/* Reads all events once. @doing: what the progress says. */
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

static int learn(const bt_event *event, int64_t time, void *data)
{
	struct kunwind_reading *reading = data;

	if (kunwind_histories_learn(reading->histories, event, time))
		return KUNWIND_TRACE_GO_ON;
	kunwind_tool_error("out of memory");
	return KUNWIND_TRACE_FAIL;
}

bool kunwind_reading_open(struct kunwind_reading *reading, char *const *paths, int nr_paths,
			  bool symbols, const struct kunwind_symbolizer_options *options)
{
	memset(reading, 0, sizeof(*reading));
	reading->trace = kunwind_trace_open(paths, nr_paths);
	if (!reading->trace)
		return false;
	if (!symbols)
		return true;
	reading->symbolizer = kunwind_symbolizer_new(options);
	if (reading->symbolizer)
		reading->histories = kunwind_histories_new(reading->symbolizer);
	if (!reading->histories) {
		kunwind_tool_error("out of memory");
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

void kunwind_reading_head(struct kunwind_head *head, const bt_event *event, int64_t time)
{
	kunwind_head_read(head, event, time);
	kunwind_syscall_name(head, event);
}

/* Returns whether /proc may be used: the trace is of this host. */
static bool same_host(struct kunwind_reading *reading)
{
	const char *host;
	char own[256];

	if (!reading->host_known) {
		host = kunwind_trace_hostname(reading->trace);
		reading->same_host = host && !gethostname(own, sizeof(own)) && !strcmp(host, own);
		reading->host_known = true;
	}
	return reading->same_host && !reading->told_only;
}

bool kunwind_reading_stack(struct kunwind_reading *reading, const bt_event *event,
			   const struct kunwind_head *head, struct kunwind_stack *stack)
{
	struct kunwind_who who = {
		.pid = (int)head->pid,
		.own_number = head->own_number,
		.comm = head->comm,
		.time = head->time,
	};
	struct kunwind_history *history;
	size_t i;

	*stack = (struct kunwind_stack){ .pid = -1, .frame = reading->frame };
	stack->nr = kunwind_stack_read(event, "callstack_user", reading->address);
	if (kunwind_stack_trust(event, reading->trust, stack->nr))
		stack->trust = reading->trust;
	if (!reading->histories) {
		for (i = 0; i < stack->nr; i++)
			reading->frame[i] = (struct kunwind_frame){ .address = reading->address[i] };
		return true;
	}
	history = kunwind_histories_of(reading->histories, event);
	if (!history)
		return false;
	who.live = stack->nr && same_host(reading);
	stack->pid = kunwind_history_process(history, &who, stack->nr ? reading->address[0] : 0);
	stack->told = stack->pid >= 0 && kunwind_history_knows(history, stack->pid);
	return kunwind_history_stack(history, &who, reading->address, stack->nr, reading->frame);
}

bool kunwind_reading_tells(const struct kunwind_reading *reading, const struct kunwind_stack *stack)
{
	return !reading->told_only || stack->told;
}

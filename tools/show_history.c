// SPDX-License-Identifier: MIT
/*
 * show_history.c - what each trace tells of its processes
 *
 * Traces are told apart by their UUID, which the chunks of a rotated session
 * share. LTTng dumps the state into every session, so each stands for itself.
 *
 * Memory: that of show_maps.c and show_pids.c for each trace.
 */
#include <stdlib.h>
#include <string.h>

#include "show_history.h"
#include "show_trace.h"

struct trace {
	struct trace *next;
	uint8_t uuid[16];	/* zero: has none */
	struct kunwind_history history;
};

struct kunwind_histories {
	struct kunwind_symbolizer *symbolizer;
	struct trace *traces;
	struct trace *last;	/* asked for */
};

struct kunwind_histories *kunwind_histories_new(struct kunwind_symbolizer *symbolizer)
{
	struct kunwind_histories *histories = calloc(1, sizeof(*histories));

	if (histories)
		histories->symbolizer = symbolizer;
	return histories;
}

static void free_trace(struct trace *trace)
{
	kunwind_maps_free(trace->history.maps);
	kunwind_pids_free(trace->history.pids);
	free(trace);
}

void kunwind_histories_free(struct kunwind_histories *histories)
{
	struct trace *trace, *next;

	if (!histories)
		return;
	for (trace = histories->traces; trace; trace = next) {
		next = trace->next;
		free_trace(trace);
	}
	free(histories);
}

static struct trace *add_trace(struct kunwind_histories *histories, const uint8_t *uuid)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	memcpy(trace->uuid, uuid, sizeof(trace->uuid));
	trace->history.maps = kunwind_maps_new();
	trace->history.pids = kunwind_pids_new();
	if (!trace->history.maps || !trace->history.pids) {
		free_trace(trace);
		return NULL;
	}
	trace->next = histories->traces;
	histories->traces = trace;
	return trace;
}

struct kunwind_history *kunwind_histories_of(struct kunwind_histories *histories,
					     const bt_event *event)
{
	static const uint8_t none[16];
	const uint8_t *uuid = bt_trace_get_uuid(
		bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event)));
	struct trace *trace = histories->last;

	if (!uuid)
		uuid = none;
	if (!trace || memcmp(trace->uuid, uuid, sizeof(none))) {
		trace = histories->traces;
		while (trace && memcmp(trace->uuid, uuid, sizeof(none)))
			trace = trace->next;
		if (!trace)
			trace = add_trace(histories, uuid);
		histories->last = trace;
	}
	return trace ? &trace->history : NULL;
}

bool kunwind_history_is_own(const char *event_name)
{
	return !strncmp(event_name, "kunwind_", 8);
}

static int64_t integer(const bt_event *event, const char *name)
{
	int64_t value = 0;

	kunwind_field_integer(kunwind_event_field(event, name), &value);
	return value;
}

/* The number in the process's own pid namespace, where the event has it. */
static bool learn_number(struct kunwind_history *history, const bt_event *event, const char *pid,
			 const char *vpid)
{
	int64_t own = integer(event, vpid);

	return own <= 0 || kunwind_pids_add(history->pids, (int)own, (int)integer(event, pid));
}

static bool learn_mapping(struct kunwind_histories *histories, struct kunwind_history *history,
			  const bt_event *event, int64_t time)
{
	const char *path = kunwind_field_string(kunwind_event_field(event, "path"));
	const char *build_id = kunwind_field_string(kunwind_event_field(event, "build_id"));
	struct kunwind_mapping map = {
		.start = (uint64_t)integer(event, "start"),
		.end = (uint64_t)integer(event, "end"),
		.bias = (uint64_t)integer(event, "bias"),
	};

	if (!path || !build_id)
		return true;	/* another kunwind_map than ours */
	map.file = kunwind_symbolizer_file(histories->symbolizer, path, build_id,
					   (uint64_t)integer(event, "ino"));
	return map.file &&
	       kunwind_maps_map(history->maps, (int)integer(event, "tgid"), time, &map) &&
	       learn_number(history, event, "tgid", "vtgid");
}

bool kunwind_histories_learn(struct kunwind_histories *histories, const bt_event *event,
			     const char *name, int64_t time)
{
	struct kunwind_history *history = kunwind_histories_of(histories, event);
	int tgid = (int)integer(event, "tgid");

	if (!history)
		return false;
	if (!strcmp(name, "kunwind_map"))
		return learn_mapping(histories, history, event, time);
	if (!strcmp(name, "kunwind_exec"))
		return kunwind_maps_exec(history->maps, tgid, time);
	if (!strcmp(name, "kunwind_fork"))
		return kunwind_maps_fork(history->maps, (int)integer(event, "parent"),
					 (int)integer(event, "child"), time) &&
		       learn_number(history, event, "child", "vchild");
	if (!strcmp(name, "kunwind_exit"))
		return kunwind_maps_exit(history->maps, tgid, time);
	return true;
}

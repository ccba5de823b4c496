// SPDX-License-Identifier: MIT
/*
 * history.c - one history of mappings for each trace
 *
 * The UUID identifies a trace (a text in version 1 of babeltrace2's message
 * protocol: mip.h). The chunks of a rotated session have the same one. LTTng
 * dumps the state into each session, so no trace needs another one's history.
 * Traces without a UUID share one history.
 *
 * Memory: that of a struct kunwind_history for each trace.
 */
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "history.h"
#include "protocol.h"
#include "ust.h"

struct trace {
	struct trace *next;
	struct kunwind_history *history;
	bool told;		/* a mapping was added */
	struct kunwind_ust_objects *objects;	/* of programs with LTTng-UST */
	size_t id_size;		/* 0: the trace has no UUID */
	char id[];
};

/* The UUID or text that identifies a trace; the memory belongs to the trace. */
struct identity {
	const void *bytes;
	size_t size;
};

struct kunwind_histories {
	struct kunwind_symbolizer *symbolizer;
	struct trace *traces;
	struct trace *last;	/* last one looked up */
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
	kunwind_history_free(trace->history);
	kunwind_ust_objects_free(trace->objects);
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

static struct identity identity_of(const bt_trace *trace)
{
	bt_uuid uuid;

#if MIP_MOST >= 1
	if (bt_trace_class_get_graph_mip_version(bt_trace_borrow_class_const(trace))) {
		const char *text = bt_trace_get_uid(trace);

		return (struct identity){ text, text ? strlen(text) : 0 };
	}
#endif
	uuid = bt_trace_get_uuid(trace);
	return (struct identity){ uuid, uuid ? 16 : 0 };
}

static bool is(const struct trace *trace, struct identity id)
{
	return trace->id_size == id.size && (!id.size || !memcmp(trace->id, id.bytes, id.size));
}

static struct trace *add_trace(struct kunwind_histories *histories, struct identity id)
{
	struct trace *trace = calloc(1, sizeof(*trace) + id.size);

	if (!trace)
		return NULL;
	trace->id_size = id.size;
	if (id.size)
		memcpy(trace->id, id.bytes, id.size);
	if (histories->symbolizer)
		trace->history = kunwind_history_new(histories->symbolizer);
	if (histories->symbolizer && !trace->history) {
		free_trace(trace);
		return NULL;
	}
	trace->next = histories->traces;
	histories->traces = trace;
	return trace;
}

const void *kunwind_histories_key(struct kunwind_histories *histories, const bt_event *event)
{
	const struct identity id = identity_of(
		bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event)));
	struct trace *trace = histories->last;

	if (!trace || !is(trace, id)) {
		trace = histories->traces;
		while (trace && !is(trace, id))
			trace = trace->next;
		if (!trace)
			trace = add_trace(histories, id);
		histories->last = trace;
	}
	return trace;
}

struct kunwind_history *kunwind_histories_of(struct kunwind_histories *histories,
					     const bt_event *event)
{
	return kunwind_histories_key(histories, event) ? histories->last->history : NULL;
}

bool kunwind_histories_tell(struct kunwind_histories *histories, const bt_event *event)
{
	const struct trace *trace = histories->traces;

	if (event)
		return kunwind_histories_of(histories, event) && histories->last->told;
	while (trace && !trace->told)
		trace = trace->next;
	return trace;
}

bool kunwind_history_is_own(const char *event_name)
{
	return kunwind_event_is_own(event_name) && strcmp(event_name, "kunwind_callstack") &&
	       !kunwind_event_is_sample(event_name) && !kunwind_event_is_blocked(event_name);
}

static bool learn_mapping(struct kunwind_histories *histories, struct kunwind_history *history,
			  const bt_event *event, int64_t time)
{
	struct kunwind_mapping map = {
		.pid = (int)kunwind_event_integer(event, "tgid", 0),
		.own_pid = (int)kunwind_event_integer(event, "vtgid", 0),
		.start = (uint64_t)kunwind_event_integer(event, "start", 0),
		.end = (uint64_t)kunwind_event_integer(event, "end", 0),
		.offset = (uint64_t)kunwind_event_integer(event, "offset", 0),
		.bias = (uint64_t)kunwind_event_integer(event, "bias", 0),
		.inode = (uint64_t)kunwind_event_integer(event, "ino", 0),
		.path = kunwind_field_string(kunwind_event_field(event, "path")),
		.build_id = kunwind_field_string(kunwind_event_field(event, "build_id")),
	};

	if (!map.path || !map.build_id)
		return true;	/* not a kunwind_map of ours */
	histories->last->told = true;
	return kunwind_history_map(history, time, &map);
}

bool kunwind_histories_learn(struct kunwind_histories *histories, const bt_event *event,
			     int64_t time)
{
	const char *name = kunwind_event_name(event);
	struct kunwind_history *history;
	int tgid;

	if (!kunwind_history_is_own(name) && !kunwind_ust_is_mapping(name))
		return true;
	history = kunwind_histories_of(histories, event);
	if (!history)
		return false;
	if (kunwind_ust_is_mapping(name)) {
		histories->last->told = true;
		return kunwind_ust_learn(&histories->last->objects, history, event, time);
	}
	tgid = (int)kunwind_event_integer(event, "tgid", 0);
	if (!strcmp(name, "kunwind_map"))
		return learn_mapping(histories, history, event, time);
	if (!strcmp(name, "kunwind_unmap"))
		return kunwind_history_unmap(history, time, tgid,
					     (uint64_t)kunwind_event_integer(event, "start", 0),
					     (uint64_t)kunwind_event_integer(event, "end", 0));
	if (!strcmp(name, "kunwind_exec"))
		return kunwind_history_exec(history, time, tgid);
	if (!strcmp(name, "kunwind_fork"))
		return kunwind_history_fork(history, time, (int)kunwind_event_integer(event, "parent", 0),
					    (int)kunwind_event_integer(event, "child", 0),
					    (int)kunwind_event_integer(event, "vchild", 0));
	if (!strcmp(name, "kunwind_exit"))
		return kunwind_history_exit(history, time, tgid);
	return true;
}

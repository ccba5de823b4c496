// SPDX-License-Identifier: MIT
/*
 * trace.c - read LTTng traces, event by event, with libbabeltrace2
 *
 * The graph is like that of babeltrace2(1): a source.ctf.fs for each trace, a
 * filter.utils.muxer, and this program as the sink, all in this process.
 * search.c finds the traces. Directories that ctf.fs assigns to one trace (the chunks of a
 * rotated session) share a source. A trace with stream files that are cut off is
 * read through a view (view.h).
 *
 * Memory: that of libbabeltrace2, which does not grow with the trace's length.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy.h"
#include "guard.h"
#include "inputs.h"
#include "own_events.h"
#include "protocol.h"
#include "search.h"
#include "syscall.h"
#include "tool.h"
#include "trace.h"
#include "ust.h"
#include "view.h"

struct source {
	char *group;			/* from ctf.fs; NULL: a trace by itself */
	bt_value *inputs;		/* array of directories */
};

struct kunwind_trace {
	const bt_plugin *ctf, *utils;
	struct source *source;
	size_t nr_sources;
	char **view;			/* of traces that are cut off */
	size_t nr_views;
	char hostname[256];
	uint64_t protocol;		/* version of babeltrace2's message protocol */
	bt_value *own;			/* map with a key for each port of such a stream; NULL: all */
	bool ids;			/* some stream has stacks by id */
	struct kunwind_copy *copy;	/* to write while reading; NULL: none */
	bt_value *copy_params;
	/* while reading */
	bool only_own;
	kunwind_trace_event_fn *fn;
	void *data;
	uint64_t lost;
	struct kunwind_losses losses;
	bool failed;
};

/*
 * Prints @what and up to 3 causes from the library, the innermost first. Further ones
 * that only describe the library's objects, with their addresses, are left out. Of
 * damaged metadata, the library keeps the cause for its log.
 */
static void say_error(const char *what)
{
	const bt_error *error = bt_current_thread_take_error();
	uint64_t i, nr = error ? bt_error_get_cause_count(error) : 0, printed = 0;
	bool metadata = false;

	kunwind_tool_error("%s", what);
	for (i = 0; i < nr && i < 3; i++) {
		const char *cause = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, i));

		if (i && strstr(cause, "-addr=0x"))
			continue;
		fputs("  ", stderr);
		kunwind_tool_text(stderr, cause, "");
		putc('\n', stderr);
		metadata = !printed++ && !strncmp(cause, "Cannot create trace", 19);
	}
	if (metadata)
		fputs("  Its metadata may be damaged: \"babeltrace2 TRACE\" prints the cause\n", stderr);
	if (error)
		bt_error_release(error);
}

static const bt_component_class_source *ctf_fs(const struct kunwind_trace *trace)
{
	return bt_plugin_borrow_source_component_class_by_name_const(trace->ctf, "fs");
}

static const bt_component_class_sink *sink_ctf_fs(const struct kunwind_trace *trace)
{
	return bt_plugin_borrow_sink_component_class_by_name_const(trace->ctf, "fs");
}

static const bt_component_class_filter *muxer_class(const struct kunwind_trace *trace)
{
	return bt_plugin_borrow_filter_component_class_by_name_const(trace->utils, "muxer");
}

/* Returns the group of the trace in @dir, which the caller frees; or NULL. */
static char *trace_group(const struct kunwind_trace *trace, const char *dir)
{
	bt_value *params = bt_value_map_create();
	bt_query_executor *query = NULL;
	const bt_value *result = NULL, *group;
	char *copy = NULL;

	if (!params || bt_value_map_insert_string_entry(params, "type", "directory") ||
	    bt_value_map_insert_string_entry(params, "input", dir))
		goto out;
	query = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(ctf_fs(trace)),
		"babeltrace.support-info", params);
	if (!query || bt_query_executor_query(query, &result)) {
		bt_current_thread_clear_error();	/* opening the trace will report it */
		goto out;
	}
	if (bt_value_is_map(result)) {
		group = bt_value_map_borrow_entry_value_const(result, "group");
		if (group && bt_value_is_string(group))
			copy = strdup(bt_value_string_get(group));
	}
out:
	bt_value_put_ref(result);
	bt_query_executor_put_ref(query);
	bt_value_put_ref(params);
	return copy;
}

/* Adds @dir to the source of its group, or to a new one. False: no memory. */
static bool add_directory(struct kunwind_trace *trace, const char *dir)
{
	char *group = trace_group(trace, dir);
	struct source *source;
	size_t i;

	for (i = 0; group && i < trace->nr_sources; i++) {
		source = &trace->source[i];
		if (source->group && !strcmp(source->group, group)) {
			free(group);
			return !bt_value_array_append_string_element(source->inputs, dir);
		}
	}
	source = realloc(trace->source, (trace->nr_sources + 1) * sizeof(*source));
	if (!source) {
		free(group);
		return false;
	}
	trace->source = source;
	source += trace->nr_sources++;
	source->group = group;
	source->inputs = bt_value_array_create();
	return source->inputs && !bt_value_array_append_string_element(source->inputs, dir);
}

/*
 * Adds @dir, or a view of it if it has stream files that are cut off. False: after
 * a message.
 */
static bool add_trace(const char *dir, void *data)
{
	struct kunwind_trace *trace = data;
	char *view, **views;

	if (!kunwind_view_new(dir, &view, &trace->losses.cut_files, &trace->losses.cut_bytes))
		return false;
	if (view) {
		views = reallocarray(trace->view, trace->nr_views + 1, sizeof(*views));
		if (!views) {
			kunwind_view_free(view);
			kunwind_tool_error("out of memory");
			return false;
		}
		trace->view = views;
		views[trace->nr_views++] = view;
	}
	if (add_directory(trace, view ? view : dir))
		return true;
	kunwind_tool_error("out of memory");
	return false;
}

/* Returns the parameters of ctf.fs; NULL: out of memory. */
static bt_value *source_params(const struct source *source)
{
	bt_value *params = bt_value_map_create();

	if (params && bt_value_map_insert_entry(params, "inputs", source->inputs))
		BT_VALUE_PUT_REF_AND_RESET(params);
	return params;
}

/*
 * Sets *version to the greatest version of babeltrace2's message protocol that
 * all sources, the muxer and the sink of a copy support (CTF 2 needs version 1).
 * False, and 0: none; opening the traces will then report the error.
 */
static bool protocol(const struct kunwind_trace *trace, uint64_t *version)
{
	bt_component_descriptor_set *set = bt_component_descriptor_set_create();
	bool ok = set && !bt_component_descriptor_set_add_descriptor(set,
		bt_component_class_filter_as_component_class_const(muxer_class(trace)), NULL);
	size_t i;

	if (ok && trace->copy)
		ok = !bt_component_descriptor_set_add_descriptor(set,
			bt_component_class_sink_as_component_class_const(sink_ctf_fs(trace)),
			trace->copy_params);

	for (i = 0; ok && i < trace->nr_sources; i++) {
		bt_value *params = source_params(&trace->source[i]);

		ok = params && !bt_component_descriptor_set_add_descriptor(set,
			bt_component_class_source_as_component_class_const(ctf_fs(trace)), params);
		bt_value_put_ref(params);
	}
	if (!ok || bt_get_greatest_operative_mip_version(set, BT_LOGGING_LEVEL_NONE, version)) {
		bt_current_thread_clear_error();
		*version = 0;
		ok = false;
	}
	bt_component_descriptor_set_put_ref(set);
	return ok;
}

/* Returns false, after a message, if the shell has opened a file of a trace for standard output. */
static bool output_spares(char *const *paths, int nr_paths)
{
	struct stat st;

	if (fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode) ||
	    !kunwind_inputs_have(paths, nr_paths, &st, NULL))
		return true;
	kunwind_tool_error("standard output is a file of a trace that is read, or in the directory of one: "
			   "send it to another file");
	return false;
}

struct kunwind_trace *kunwind_trace_open(char *const *paths, int nr_paths)
{
	struct kunwind_trace *trace;

	if (!output_spares(paths, nr_paths))
		return NULL;
	trace = calloc(1, sizeof(*trace));
	if (!trace) {
		kunwind_tool_error("out of memory");
		return NULL;
	}
	kunwind_guard_memory(paths, nr_paths);
	kunwind_guard_enter();
	if (bt_plugin_find("ctf", true, true, true, true, true, &trace->ctf) ||
	    bt_plugin_find("utils", true, true, true, true, true, &trace->utils)) {
		say_error("babeltrace2's plug-ins \"ctf\" and \"utils\" are not installed");
	} else if (!kunwind_search(paths, nr_paths, add_trace, trace)) {
		/* kunwind_search() has printed why */
	} else {
		protocol(trace, &trace->protocol);
		kunwind_guard_leave();
		return trace;
	}
	kunwind_guard_leave();
	kunwind_trace_close(trace);
	return NULL;
}

void kunwind_trace_close(struct kunwind_trace *trace)
{
	size_t i;

	if (!trace)
		return;
	for (i = 0; i < trace->nr_sources; i++) {
		bt_value_put_ref(trace->source[i].inputs);
		free(trace->source[i].group);
	}
	for (i = 0; i < trace->nr_views; i++)
		kunwind_view_free(trace->view[i]);
	free(trace->view);
	free(trace->source);
	bt_value_put_ref(trace->own);
	bt_value_put_ref(trace->copy_params);
	bt_plugin_put_ref(trace->ctf);
	bt_plugin_put_ref(trace->utils);
	free(trace);
}

static void note_hostname(struct kunwind_trace *trace, const bt_message *message)
{
	const bt_stream *stream = bt_message_stream_beginning_borrow_stream_const(message);

	if (!*trace->hostname)
		snprintf(trace->hostname, sizeof(trace->hostname), "%s",
			 kunwind_trace_environment(bt_stream_borrow_trace_const(stream), "hostname"));
}

/* Notes that the tracer discarded events of a stream. */
static void lose(struct kunwind_trace *trace, const bt_stream *stream, uint64_t events)
{
	struct kunwind_losses *losses = &trace->losses;
	const char *path = bt_stream_get_name(stream), *slash = path ? strrchr(path, '/') : NULL;
	const size_t most = sizeof(losses->by) / sizeof(losses->by[0]);
	char channel[sizeof(losses->by[0].channel)];
	char *end;
	size_t i;

	trace->lost += events;
	snprintf(channel, sizeof(channel), "%s", slash ? slash + 1 : path ? path : "?");
	/* LTTng's files are CHANNEL_PROCESSOR */
	end = strrchr(channel, '_');
	if (end && end[1] && !end[1 + strspn(end + 1, "0123456789")])
		*end = '\0';
	for (i = 0; i < losses->nr && i < most - 1; i++) {
		if (!strcmp(losses->by[i].channel, channel))
			break;
	}
	if (i == losses->nr) {
		losses->by[losses->nr].events = 0;
		strcpy(losses->by[losses->nr++].channel, i == most - 1 ? "others" : channel);
	}
	losses->by[i].events += events;
}

static int handle(struct kunwind_trace *trace, const bt_message *message)
{
	uint64_t count;
	int next;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		note_hostname(trace, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		if (bt_message_discarded_events_get_count(message, &count) ==
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			lose(trace, bt_message_discarded_events_borrow_stream_const(message), count);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		if (bt_message_discarded_packets_get_count(message, &count) ==
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			trace->losses.packets += count;
		break;
	case BT_MESSAGE_TYPE_EVENT:
		kunwind_guard_leave();
		next = trace->fn(bt_message_event_borrow_event_const(message),
				 kunwind_event_time(message), trace->data);
		kunwind_guard_enter();
		return next;
	default:
		break;
	}
	return KUNWIND_TRACE_GO_ON;
}

static bt_graph_simple_sink_component_consume_func_status
consume(bt_message_iterator *iterator, void *data)
{
	struct kunwind_trace *trace = data;
	int next = KUNWIND_TRACE_GO_ON;
	bt_message_iterator_next_status status;
	bt_message_array_const messages;
	uint64_t i, nr;

	status = bt_message_iterator_next(iterator, &messages, &nr);
	if (status)	/* both statuses have the same values */
		return (bt_graph_simple_sink_component_consume_func_status)status;
	for (i = 0; i < nr; i++) {
		if (next == KUNWIND_TRACE_GO_ON)
			next = handle(trace, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	if (next == KUNWIND_TRACE_FAIL)
		trace->failed = true;
	return next == KUNWIND_TRACE_GO_ON ?
		BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK :
		BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
}

/* For a copy: as consume(). */
static bool read_message(void *data, const bt_message *message)
{
	struct kunwind_trace *trace = data;

	return handle(trace, message) == KUNWIND_TRACE_GO_ON;
}

bool kunwind_trace_copy_to(struct kunwind_trace *trace, struct kunwind_copy *copy)
{
	int version;

	copy->read = read_message;
	copy->trace = trace;
	copy->single = trace->nr_sources == 1;
	trace->copy = copy;
	/* CTF 1.8, which more programs read, except if the input needs CTF 2 */
	for (version = 1; version <= MIP_MOST + 1; version++) {
		bt_value_put_ref(trace->copy_params);
		trace->copy_params = kunwind_copy_params(copy, version);
		if (!trace->copy_params) {
			kunwind_tool_error("out of memory");
			return false;
		}
		if (protocol(trace, &trace->protocol))
			return true;
	}
	return true;
}

/* The name of a port, for all graphs. @source: number of the port's source. */
struct port_key {
	char text[PATH_MAX + 32];
};

static struct port_key key_of(size_t source, const bt_port_output *port)
{
	struct port_key key;

	snprintf(key.text, sizeof(key.text), "%zu %s", source,
		 bt_port_get_name(bt_port_output_as_port_const(port)));
	return key;
}

static bool is_wanted(const struct kunwind_trace *trace, size_t source, const bt_port_output *port)
{
	return !trace->only_own || !trace->own ||
	       bt_value_map_has_entry(trace->own, key_of(source, port).text);
}

/* Connects each wanted port to one of the muxer, which always has a free last one. */
static bool connect_source(const struct kunwind_trace *trace, size_t number, bt_graph *graph,
			   const bt_component_source *source, const bt_component_filter *muxer)
{
	uint64_t i, nr = bt_component_source_get_output_port_count(source);

	for (i = 0; i < nr; i++) {
		const bt_port_output *port =
			bt_component_source_borrow_output_port_by_index_const(source, i);
		uint64_t spare = bt_component_filter_get_input_port_count(muxer) - 1;

		if (is_wanted(trace, number, port) &&
		    bt_graph_connect_ports(graph, port,
			bt_component_filter_borrow_input_port_by_index_const(muxer, spare), NULL))
			return false;
	}
	return true;
}

/* Returns NULL after an error. */
static const bt_component_source *add_source(struct kunwind_trace *trace, size_t i, bt_graph *graph)
{
	const bt_component_source *source = NULL;
	bt_value *params = source_params(&trace->source[i]);
	char name[32];

	snprintf(name, sizeof(name), "trace%zu", i);
	if (params && bt_graph_add_source_component(graph, ctf_fs(trace), name, params,
						    BT_LOGGING_LEVEL_NONE, &source))
		source = NULL;
	bt_value_put_ref(params);
	return source;
}

static bool build(struct kunwind_trace *trace, bt_graph *graph)
{
	const bt_component_filter *muxer;
	const bt_component_sink *sink;
	const bt_port_output *merged;
	size_t i;

	if (bt_graph_add_filter_component(graph, muxer_class(trace), "muxer", NULL,
					  BT_LOGGING_LEVEL_NONE, &muxer))
		return false;
	for (i = 0; i < trace->nr_sources; i++) {
		const bt_component_source *source = add_source(trace, i, graph);

		if (!source || !connect_source(trace, i, graph, source, muxer))
			return false;
	}
	merged = bt_component_filter_borrow_output_port_by_index_const(muxer, 0);
	if (trace->copy)
		return kunwind_copy_connect(trace->copy, graph, merged, sink_ctf_fs(trace),
					    trace->copy_params);
	return !bt_graph_add_simple_sink_component(graph, "show", NULL, consume, NULL, trace,
						   &sink) &&
	       !bt_graph_connect_ports(graph, merged,
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
}

/* A sink that reads the first messages of one port. */
struct look {
	struct look *next;
	struct kunwind_trace *trace;
	struct port_key key;
};

static bool has_own_events(const bt_stream_class *class)
{
	uint64_t i, nr = bt_stream_class_get_event_class_count(class);
	const char *name;

	for (i = 0; i < nr; i++) {
		name = bt_event_class_get_name(
			bt_stream_class_borrow_event_class_by_index_const(class, i));
		if (name && kunwind_event_is_own(name))
			return true;
	}
	return false;
}

static bool has_ids(const bt_stream_class *class)
{
	const bt_field_class *context =
		bt_stream_class_borrow_event_common_context_field_class_const(class);

	return context && bt_field_class_structure_borrow_member_by_name_const(context, KUNWIND_STACK_ID);
}

/* Notes what the class of a stream says of the stream of a port. */
static void note_class(const struct look *look, const bt_stream_class *class)
{
	if (has_own_events(class) || kunwind_ust_class(class))
		bt_value_map_insert_bool_entry(look->trace->own, look->key.text, true);
	look->trace->ids |= has_ids(class) || kunwind_ust_class(class);
}

static bt_graph_simple_sink_component_consume_func_status
look_at(bt_message_iterator *iterator, void *data)
{
	const struct look *look = data;
	bt_message_iterator_next_status status;
	bt_message_array_const messages;
	uint64_t i, nr;
	bool error;

	status = bt_message_iterator_next(iterator, &messages, &nr);
	if (status)	/* both statuses have the same values */
		return (bt_graph_simple_sink_component_consume_func_status)status;
	error = kunwind_error_left();
	if (!error && bt_message_get_type(messages[0]) == BT_MESSAGE_TYPE_STREAM_BEGINNING)
		note_class(look, bt_stream_borrow_class_const(
			bt_message_stream_beginning_borrow_stream_const(messages[0])));
	else if (!error)
		bt_value_map_insert_bool_entry(look->trace->own, look->key.text, true);
	for (i = 0; i < nr; i++)
		bt_message_put_ref(messages[i]);
	return error ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR :
		       BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
}

/* Adds a sink for each port of a source. False: error. */
static bool look_at_source(struct kunwind_trace *trace, size_t number, bt_graph *graph,
			   struct look **looks)
{
	const bt_component_source *source = add_source(trace, number, graph);
	const bt_component_sink *sink;
	const bt_port_output *port;
	struct look *look;
	char name[64];
	uint64_t i;

	for (i = 0; source && i < bt_component_source_get_output_port_count(source); i++) {
		port = bt_component_source_borrow_output_port_by_index_const(source, i);
		look = malloc(sizeof(*look));
		if (!look)
			return false;
		*look = (struct look){ .next = *looks, .trace = trace, .key = key_of(number, port) };
		*looks = look;
		snprintf(name, sizeof(name), "look%zu-%llu", number, (unsigned long long)i);
		if (bt_graph_add_simple_sink_component(graph, name, NULL, look_at, NULL, look, &sink) ||
		    bt_graph_connect_ports(graph, port,
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL))
			return false;
	}
	return source;
}

/*
 * Finds the ports of streams whose class has kunwind's events. After an error,
 * which reading will meet and report, all ports count.
 */
static void find_own(struct kunwind_trace *trace)
{
	struct look *looks = NULL, *next;
	bt_graph *graph;
	bool ok;
	size_t i;

	if (trace->own)
		return;
	graph = bt_graph_create(trace->protocol);
	ok = graph;
	kunwind_guard_enter();
	trace->own = bt_value_map_create();
	for (i = 0; ok && i < trace->nr_sources; i++)
		ok = look_at_source(trace, i, graph, &looks);
	/* a graph without sinks must not run */
	if (!ok || !trace->own || !looks || bt_graph_run(graph) || kunwind_error_left()) {
		bt_current_thread_clear_error();
		BT_VALUE_PUT_REF_AND_RESET(trace->own);
	}
	bt_graph_put_ref(graph);
	kunwind_guard_leave();
	for (; looks; looks = next) {
		next = looks->next;
		free(looks);
	}
}

bool kunwind_trace_has_ids(struct kunwind_trace *trace)
{
	find_own(trace);
	return !trace->own || trace->ids;
}

bool kunwind_trace_read_own(struct kunwind_trace *trace, kunwind_trace_event_fn *fn, void *data)
{
	bool ok = true;

	find_own(trace);
	trace->only_own = true;
	if (!trace->own || bt_value_map_get_size(trace->own))
		ok = kunwind_trace_read(trace, fn, data, NULL);
	trace->only_own = false;
	return ok;
}

bool kunwind_trace_read(struct kunwind_trace *trace, kunwind_trace_event_fn *fn, void *data,
			uint64_t *lost)
{
	bt_graph *graph = bt_graph_create(trace->protocol);
	bool ok = false, ran = true;

	trace->fn = fn;
	trace->data = data;
	trace->lost = 0;
	trace->losses.nr = 0;
	trace->losses.packets = 0;
	trace->failed = false;
	kunwind_guard_enter();
	if (!graph || !build(trace, graph)) {
		say_error("the trace cannot be opened");
	} else if (bt_graph_run(graph) || kunwind_error_left()) {
		ran = false;
		say_error(trace->copy ? "the trace cannot be copied to its end (is the disk full?)" :
					"the trace cannot be read to its end");
	} else {
		ok = !trace->failed && !(trace->copy && trace->copy->failed);
	}
	/*
	 * The end of a copy writes its metadata. After an error, or if a stream has not
	 * ended, sink.ctf.fs of libbabeltrace2 2.0 would free a stream twice.
	 */
	if (!trace->copy || (ran && !trace->copy->failed))
		bt_graph_put_ref(graph);
	kunwind_guard_leave();
	kunwind_syscall_forget();
	ok = ok && !kunwind_error_left();
	if (lost)
		*lost = trace->lost;
	return ok;
}

const struct kunwind_losses *kunwind_trace_losses(const struct kunwind_trace *trace)
{
	return &trace->losses;
}

const char *kunwind_trace_hostname(const struct kunwind_trace *trace)
{
	return *trace->hostname ? trace->hostname : NULL;
}

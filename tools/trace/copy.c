// SPDX-License-Identifier: MIT
/*
 * copy.c - write a changed copy of traces as CTF while they are read
 *
 * A filter and a sink.ctf.fs follow the muxer of trace.c. The filter takes a
 * message from the muxer, calls read() and pass() of struct kunwind_copy for
 * it, and hands on the messages that replace it. The class of the filter exists
 * only in this process.
 *
 * Memory: the messages that replace one message.
 */
#include <stdlib.h>

#include "copy.h"
#include "protocol.h"
#include "tool.h"

bool kunwind_error_left(void)
{
	const bt_error *error = bt_current_thread_take_error();

	if (error)
		bt_current_thread_move_error(error);
	return error;
}

bool kunwind_copy_add(struct kunwind_copy *copy, bt_message *message)
{
	const bt_message **out = copy->out;

	if (message && copy->nr == copy->cap) {
		copy->cap = copy->cap ? copy->cap * 2 : 64;
		out = realloc(copy->out, copy->cap * sizeof(*out));
		if (out)
			copy->out = out;
	}
	if (!message || !out) {
		bt_message_put_ref(message);
		kunwind_tool_error("out of memory");
		return false;
	}
	copy->out[copy->nr++] = message;
	return true;
}

/* ------------------------------------------------------------ the filter */

static bt_component_class_initialize_method_status
init(bt_self_component_filter *self_filter, bt_self_component_filter_configuration *config,
     const bt_value *params, void *data)
{
	bt_self_component *self = bt_self_component_filter_as_self_component(self_filter);
	struct kunwind_copy *copy = data;

	(void)config, (void)params;
	if (bt_self_component_filter_add_input_port(self_filter, "in", NULL, &copy->input) ||
	    bt_self_component_filter_add_output_port(self_filter, "out", NULL, NULL))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	bt_self_component_set_data(self, copy);
	copy->begin(self, copy->data);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_message_iterator_class_initialize_method_status
begin_reading(bt_self_message_iterator *self, bt_self_message_iterator_configuration *config,
	      bt_self_component_port_output *port)
{
	struct kunwind_copy *copy = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));

	(void)config, (void)port;
	if (bt_message_iterator_create_from_message_iterator(self, copy->input, &copy->upstream))
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void drop_messages(struct kunwind_copy *copy)
{
	while (copy->next < copy->nr)
		bt_message_put_ref(copy->out[copy->next++]);
	copy->next = copy->nr = 0;
}

static void end_reading(bt_self_message_iterator *self)
{
	struct kunwind_copy *copy = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));

	drop_messages(copy);
	free(copy->out);
	copy->end(copy->data);
	BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(copy->upstream);
}

/* Reads messages until there is something to pass on. Returns a status of next(). */
static int refill(struct kunwind_copy *copy, bt_self_message_iterator *self)
{
	bt_message_array_const messages;
	uint64_t i, nr;
	bool ok = true, error;
	int status;

	copy->next = copy->nr = 0;
	if (copy->ended)
		return BT_MESSAGE_ITERATOR_NEXT_STATUS_END;
	status = bt_message_iterator_next(copy->upstream, &messages, &nr);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		copy->ended = true;
		copy->failed = !copy->pass(copy, self, NULL, copy->data);
		return copy->nr ? BT_MESSAGE_ITERATOR_NEXT_STATUS_OK :
				  BT_MESSAGE_ITERATOR_NEXT_STATUS_END;
	}
	if (status)
		return status;
	error = kunwind_error_left();
	for (i = 0; i < nr; i++) {
		ok = ok && !error && copy->read(copy->trace, messages[i]) &&
		     copy->pass(copy, self, messages[i], copy->data);
		bt_message_put_ref(messages[i]);
	}
	if (error)
		return BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR;
	if (ok)
		return BT_MESSAGE_ITERATOR_NEXT_STATUS_OK;
	/* the message is on stderr, and the copy will be removed */
	copy->ended = copy->failed = true;
	drop_messages(copy);
	return BT_MESSAGE_ITERATOR_NEXT_STATUS_END;
}

static bt_message_iterator_class_next_method_status
next(bt_self_message_iterator *self, bt_message_array_const messages, uint64_t capacity,
     uint64_t *count)
{
	struct kunwind_copy *copy = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));
	int status = 0;

	while (!status && copy->next == copy->nr)
		status = refill(copy, self);
	*count = 0;
	while (!status && copy->next < copy->nr && *count < capacity)
		messages[(*count)++] = copy->out[copy->next++];
	return (bt_message_iterator_class_next_method_status)status;
}

/* Returns the class of the filter; NULL: out of memory. */
static bt_component_class_filter *filter_class(void)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(next);
	bt_component_class_filter *class = NULL;

	if (!iterator)
		return NULL;
	bt_message_iterator_class_set_initialize_method(iterator, begin_reading);
	bt_message_iterator_class_set_finalize_method(iterator, end_reading);
	class = bt_component_class_filter_create("copy", iterator);
	bt_message_iterator_class_put_ref(iterator);
	if (!class)
		return NULL;
	bt_component_class_filter_set_initialize_method(class, init);
	bt_component_class_filter_set_get_supported_mip_versions_method(class, kunwind_protocol_versions);
	return class;
}

/* ------------------------------------------------------------ the graph */

bt_value *kunwind_copy_params(const struct kunwind_copy *copy, int version)
{
	bt_value *params = bt_value_map_create();

	if (params && !bt_value_map_insert_string_entry(params, "path", copy->directory) &&
	    !bt_value_map_insert_bool_entry(params, "assume-single-trace", copy->single) &&
	    !bt_value_map_insert_bool_entry(params, "quiet", true) &&
	    (!MIP_MOST || !bt_value_map_insert_string_entry(params, "ctf-version",
							    version == 1 ? "1" : "2")))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

bool kunwind_copy_connect(struct kunwind_copy *copy, bt_graph *graph, const bt_port_output *port,
			  const bt_component_class_sink *sink_class, const bt_value *params)
{
	bt_component_class_filter *class = filter_class();
	const bt_component_filter *filter;
	const bt_component_sink *sink;
	bool ok;

	ok = class && params &&
	     !bt_graph_add_filter_component_with_initialize_method_data(graph, class, "copy", NULL,
			copy, BT_LOGGING_LEVEL_NONE, &filter) &&
	     !bt_graph_add_sink_component(graph, sink_class, "ctf", params, BT_LOGGING_LEVEL_NONE,
					  &sink) &&
	     !bt_graph_connect_ports(graph, port,
			bt_component_filter_borrow_input_port_by_index_const(filter, 0), NULL) &&
	     !bt_graph_connect_ports(graph,
			bt_component_filter_borrow_output_port_by_index_const(filter, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
	bt_component_class_filter_put_ref(class);
	return ok;
}

// SPDX-License-Identifier: MIT
/*
 * iterator.c - the message iterator of filter.kunwind.symbolize
 *
 * If the upstream iterator can seek its beginning, the messages are read twice:
 * first only kunwind's events, which record what was mapped where, because a
 * state dump may come after the first events of a session. In a live trace,
 * these events are learned as they come.
 *
 * Memory: the history of mappings and the symbolizer's cache, both of
 * libkunwind-symbolize, and the copies that meta.c makes.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy_field.h"
#include "filter.h"
#include "frames.h"
#include "meta.h"
#include "trace/event.h"
#include "trace/history.h"
#include "trace/kernel.h"
#include "trace/stack.h"
#include "trace/whole.h"

struct iterator {
	const struct filter *filter;
	bt_message_iterator *upstream;
	enum { LEARNING, SEEKING, PASSING } state;
	bool learned;			/* all messages are read before the first is passed on */
	/* received and not yet passed on: pending[next] to pending[nr - 1] */
	bt_message_array_const pending;
	uint64_t next, nr;
	struct kunwind_symbolizer *symbolizer;
	struct kunwind_histories *histories;
	struct kunwind_wholes *wholes;
	struct kunwind_kernels *kernels;
	struct meta meta;
	/* last trace of compare_hosts(); is it of this host? */
	const bt_trace *trace;
	bool same_host;
	uint64_t address[KUNWIND_STACK_MAX];
	struct kunwind_frame frame[KUNWIND_STACK_MAX];
};

static void drop_pending(struct iterator *it)
{
	while (it->next < it->nr)
		bt_message_put_ref(it->pending[it->next++]);
}

static void free_iterator(struct iterator *it)
{
	if (!it)
		return;
	drop_pending(it);
	bt_message_iterator_put_ref(it->upstream);
	meta_free(&it->meta);
	kunwind_wholes_free(it->wholes);
	kunwind_histories_free(it->histories);
	kunwind_kernels_free(it->kernels);
	kunwind_symbolizer_free(it->symbolizer);
	free(it);
}

bt_message_iterator_class_initialize_method_status
filter_iterator_init(bt_self_message_iterator *self, bt_self_message_iterator_configuration *config,
		     bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	struct iterator *it = calloc(1, sizeof(*it));
	bt_bool again = BT_FALSE;

	(void)config, (void)port;
	if (!it)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	it->filter = bt_self_component_get_data(component);
	it->meta.component = component;
	it->meta.text = it->filter->text;
	it->symbolizer = kunwind_symbolizer_new(&it->filter->options);
	it->histories = it->symbolizer ? kunwind_histories_new(it->symbolizer) : NULL;
	it->wholes = kunwind_wholes_new();
	if (it->symbolizer)	/* the directories of the traces are not known here */
		it->kernels = kunwind_kernels_new(it->symbolizer, NULL, 0, it->filter->live,
						  it->filter->options.kallsyms);
	if (!it->histories || !it->wholes || !it->kernels ||
	    bt_message_iterator_create_from_message_iterator(self, it->filter->input,
							     &it->upstream)) {
		free_iterator(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (bt_message_iterator_can_seek_beginning(it->upstream, &again))
		bt_current_thread_clear_error();
	it->state = again ? LEARNING : PASSING;
	it->learned = again;
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void filter_iterator_finalize(bt_self_message_iterator *self)
{
	free_iterator(bt_self_message_iterator_get_data(self));
}

/*
 * Stacks are learned in both passes, because the first one may meet a stack before
 * the base that has its outer frames (trace/whole.c). False: out of memory.
 */
static bool learn(struct iterator *it, const bt_message *message)
{
	const bt_event *event;
	const void *trace;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return true;
	event = bt_message_event_borrow_event_const(message);
	if (!kunwind_event_is_whole(event))
		return (it->learned && it->state == PASSING) ||
		       kunwind_histories_learn(it->histories, event, kunwind_event_time(message));
	trace = kunwind_histories_of(it->histories, event);
	return trace && kunwind_wholes_learn(it->wholes, trace, event);
}

/* Reads the addresses of a stack to it->address. Returns how many. */
static size_t read_stack(struct iterator *it, const bt_event *event, int stack)
{
	const struct kunwind_whole *whole;

	if (stack != STACK_USER || !kunwind_event_is_whole(event))
		return kunwind_stack_read(event, stack_names[stack], it->address);
	whole = kunwind_wholes_find(it->wholes, kunwind_histories_of(it->histories, event), event);
	if (!whole)
		return 0;
	memcpy(it->address, whole->address, whole->nr * sizeof(*whole->address));
	return whole->nr;
}

/* Sets same_host: /proc may know processes of this trace. */
static void compare_hosts(struct iterator *it, const bt_trace *trace)
{
	char here[256];

	if (trace == it->trace)
		return;
	it->trace = trace;
	it->same_host = it->filter->live && !gethostname(here, sizeof(here)) &&
			!strcmp(kunwind_trace_environment(trace, "hostname"), here);
}

/* Names the frames of a stack: address[] to frame[]. False: out of memory. */
static bool name_stack(struct iterator *it, const bt_event *event, int64_t time, int stack,
		       size_t nr)
{
	struct kunwind_history *history;
	struct kunwind_head head;

	compare_hosts(it, bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event)));
	if (stack == STACK_USER) {
		history = kunwind_histories_of(it->histories, event);
		if (!history)
			return false;
		kunwind_head_read(&head, event, time);
		return kunwind_history_stack(history, &(struct kunwind_who){
			.pid = (int)head.pid, .own_number = head.own_number, .comm = head.comm,
			.time = time, .live = it->same_host }, it->address, nr, it->frame);
	}
	return kunwind_kernels_stack(it->kernels, event, it->address, nr, it->frame);
}

/* Copies the fields and adds the named frames. False: out of memory. */
static bool fill_event(struct iterator *it, bt_event *to, const bt_event *from, int64_t time)
{
	const bt_event_class *class = bt_event_borrow_class_const(from);
	const bt_field *field;
	unsigned int wanted;
	int stack;

	field = bt_event_borrow_common_context_field_const(from);
	if (field && !copy_field(bt_event_borrow_common_context_field(to), field))
		return false;
	field = bt_event_borrow_specific_context_field_const(from);
	if (field && !copy_field(bt_event_borrow_specific_context_field(to), field))
		return false;
	field = bt_event_borrow_payload_field_const(from);
	if (field && !copy_field(bt_event_borrow_payload_field(to), field))
		return false;
	wanted = frames_wanted(
		bt_stream_class_borrow_event_common_context_field_class_const(
			bt_event_class_borrow_stream_class_const(class)),
		bt_event_class_borrow_specific_context_field_class_const(class),
		bt_event_class_borrow_payload_field_class_const(class));
	for (stack = 0; stack < NR_STACKS; stack++) {
		size_t nr;

		if (!(wanted & 1u << stack))
			continue;
		nr = read_stack(it, from, stack);
		if ((nr && !name_stack(it, from, time, stack, nr)) ||
		    !frames_fill(bt_event_borrow_payload_field(to), stack,
				 it->filter->text, it->frame, nr))
			return false;
	}
	return true;
}

/*
 * Each pass_...() returns a new message of the output for one of the input, or
 * NULL if out of memory.
 */
static bt_message *pass_event(struct iterator *it, bt_self_message_iterator *self,
			      const bt_message *from)
{
	const bt_event *event = bt_message_event_borrow_event_const(from);
	const bt_packet *packet = bt_event_borrow_packet_const(event);
	const bt_event_class *class = meta_event_class(&it->meta, bt_event_borrow_class_const(event));
	const bt_stream *stream = meta_stream(&it->meta, bt_event_borrow_stream_const(event));
	const bt_clock_snapshot *clock = NULL;
	bt_message *to;

	if (packet)
		packet = meta_packet(&it->meta, packet);
	if (!class || !stream || (!packet && bt_event_borrow_packet_const(event)))
		return NULL;
	if (bt_message_event_borrow_stream_class_default_clock_class_const(from))
		clock = bt_message_event_borrow_default_clock_snapshot_const(from);
	if (packet && clock)
		to = bt_message_event_create_with_packet_and_default_clock_snapshot(self, class,
			packet, bt_clock_snapshot_get_value(clock));
	else if (packet)
		to = bt_message_event_create_with_packet(self, class, packet);
	else if (clock)
		to = bt_message_event_create_with_default_clock_snapshot(self, class, stream,
			bt_clock_snapshot_get_value(clock));
	else
		to = bt_message_event_create(self, class, stream);
	if (to && !fill_event(it, bt_message_event_borrow_event(to), event, kunwind_event_time(from)))
		BT_MESSAGE_PUT_REF_AND_RESET(to);
	return to;
}

static bt_message *pass_stream_beginning(struct iterator *it, bt_self_message_iterator *self,
					 const bt_message *from)
{
	const bt_stream *stream = meta_stream(&it->meta,
		bt_message_stream_beginning_borrow_stream_const(from));
	bt_message *to = stream ? bt_message_stream_beginning_create(self, stream) : NULL;
	const bt_clock_snapshot *clock;

	if (to && bt_message_stream_beginning_borrow_stream_class_default_clock_class_const(from) &&
	    bt_message_stream_beginning_borrow_default_clock_snapshot_const(from, &clock) ==
	    BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
		bt_message_stream_beginning_set_default_clock_snapshot(to,
			bt_clock_snapshot_get_value(clock));
	return to;
}

static bt_message *pass_stream_end(struct iterator *it, bt_self_message_iterator *self,
				   const bt_message *from)
{
	const bt_stream *ended = bt_message_stream_end_borrow_stream_const(from);
	const bt_stream *stream = meta_stream(&it->meta, ended);
	bt_message *to = stream ? bt_message_stream_end_create(self, stream) : NULL;
	const bt_clock_snapshot *clock;

	if (to && bt_message_stream_end_borrow_stream_class_default_clock_class_const(from) &&
	    bt_message_stream_end_borrow_default_clock_snapshot_const(from, &clock) ==
	    BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
		bt_message_stream_end_set_default_clock_snapshot(to,
			bt_clock_snapshot_get_value(clock));
	meta_stream_ended(&it->meta, ended);
	return to;
}

static bt_message *pass_packet_beginning(struct iterator *it, bt_self_message_iterator *self,
					 const bt_message *from)
{
	const bt_packet *begun = bt_message_packet_beginning_borrow_packet_const(from);
	const bt_packet *packet = meta_packet(&it->meta, begun);

	if (!packet)
		return NULL;
	if (!bt_stream_class_packets_have_beginning_default_clock_snapshot(
		bt_stream_borrow_class_const(bt_packet_borrow_stream_const(begun))))
		return bt_message_packet_beginning_create(self, packet);
	return bt_message_packet_beginning_create_with_default_clock_snapshot(self, packet,
		bt_clock_snapshot_get_value(
			bt_message_packet_beginning_borrow_default_clock_snapshot_const(from)));
}

static bt_message *pass_packet_end(struct iterator *it, bt_self_message_iterator *self,
				   const bt_message *from)
{
	const bt_packet *ended = bt_message_packet_end_borrow_packet_const(from);
	const bt_packet *packet = meta_packet(&it->meta, ended);
	bt_message *to;

	if (!packet)
		return NULL;
	if (!bt_stream_class_packets_have_end_default_clock_snapshot(
		bt_stream_borrow_class_const(bt_packet_borrow_stream_const(ended))))
		to = bt_message_packet_end_create(self, packet);
	else
		to = bt_message_packet_end_create_with_default_clock_snapshot(self, packet,
			bt_clock_snapshot_get_value(
				bt_message_packet_end_borrow_default_clock_snapshot_const(from)));
	meta_packet_ended(&it->meta, ended);
	return to;
}

static bt_message *pass_discarded_events(struct iterator *it, bt_self_message_iterator *self,
					 const bt_message *from)
{
	const bt_stream *lossy = bt_message_discarded_events_borrow_stream_const(from);
	const bt_stream *stream = meta_stream(&it->meta, lossy);
	bt_message *to;
	uint64_t count;

	if (!stream)
		return NULL;
	if (bt_stream_class_discarded_events_have_default_clock_snapshots(
		bt_stream_borrow_class_const(lossy)))
		to = bt_message_discarded_events_create_with_default_clock_snapshots(self, stream,
			bt_clock_snapshot_get_value(
			bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(from)),
			bt_clock_snapshot_get_value(
				bt_message_discarded_events_borrow_end_default_clock_snapshot_const(from)));
	else
		to = bt_message_discarded_events_create(self, stream);
	if (to && bt_message_discarded_events_get_count(from, &count) ==
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		bt_message_discarded_events_set_count(to, count);
	return to;
}

static bt_message *pass_discarded_packets(struct iterator *it, bt_self_message_iterator *self,
					  const bt_message *from)
{
	const bt_stream *lossy = bt_message_discarded_packets_borrow_stream_const(from);
	const bt_stream *stream = meta_stream(&it->meta, lossy);
	bt_message *to;
	uint64_t count;

	if (!stream)
		return NULL;
	if (bt_stream_class_discarded_packets_have_default_clock_snapshots(
		bt_stream_borrow_class_const(lossy)))
		to = bt_message_discarded_packets_create_with_default_clock_snapshots(self, stream,
			bt_clock_snapshot_get_value(
			bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(from)),
			bt_clock_snapshot_get_value(
			bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(from)));
	else
		to = bt_message_discarded_packets_create(self, stream);
	if (to && bt_message_discarded_packets_get_count(from, &count) ==
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		bt_message_discarded_packets_set_count(to, count);
	return to;
}

static bt_message *pass_inactivity(struct iterator *it, bt_self_message_iterator *self,
				   const bt_message *from)
{
	const bt_clock_snapshot *clock =
		bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(from);
	const bt_clock_class *class = meta_clock_class(&it->meta,
		bt_clock_snapshot_borrow_clock_class_const(clock));

	return class ? bt_message_message_iterator_inactivity_create(self, class,
				bt_clock_snapshot_get_value(clock)) : NULL;
}

static bt_message *pass(struct iterator *it, bt_self_message_iterator *self, const bt_message *from)
{
	switch (bt_message_get_type(from)) {
	case BT_MESSAGE_TYPE_EVENT:
		return pass_event(it, self, from);
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return pass_stream_beginning(it, self, from);
	case BT_MESSAGE_TYPE_STREAM_END:
		return pass_stream_end(it, self, from);
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return pass_packet_beginning(it, self, from);
	case BT_MESSAGE_TYPE_PACKET_END:
		return pass_packet_end(it, self, from);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return pass_discarded_events(it, self, from);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return pass_discarded_packets(it, self, from);
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		return pass_inactivity(it, self, from);
	}
	return NULL;
}

/*
 * Reads all messages once and then seeks the beginning. Returns 0 or a status
 * of the upstream iterator, whose values are the same for all methods. After
 * AGAIN, the next call goes on.
 */
static int learn_all(struct iterator *it)
{
	int status;

	while (it->state == LEARNING) {
		status = bt_message_iterator_next(it->upstream, &it->pending, &it->nr);
		if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
			it->state = SEEKING;
			it->next = it->nr = 0;
			break;
		}
		if (status) {
			it->next = it->nr = 0;
			return status;
		}
		for (it->next = 0; it->next < it->nr; it->next++) {
			if (!learn(it, it->pending[it->next]))
				return BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR;
			bt_message_put_ref(it->pending[it->next]);
		}
	}
	status = bt_message_iterator_seek_beginning(it->upstream);
	if (!status)
		it->state = PASSING;
	return status;
}

bt_message_iterator_class_next_method_status
filter_iterator_next(bt_self_message_iterator *self, bt_message_array_const messages,
		     uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	int status = it->state == PASSING ? 0 : learn_all(it);

	if (!status && it->next == it->nr) {
		it->next = it->nr = 0;
		status = bt_message_iterator_next(it->upstream, &it->pending, &it->nr);
		if (status)
			it->nr = 0;
	}
	*count = 0;
	while (!status && it->next < it->nr && *count < capacity) {
		const bt_message *from = it->pending[it->next];

		if (learn(it, from) &&
		    (messages[*count] = pass(it, self, from))) {
			bt_message_put_ref(from);
			it->next++;
			++*count;
		} else {
			status = BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR;
		}
	}
	if (status) {
		while (*count)
			bt_message_put_ref(messages[--*count]);
	}
	return (bt_message_iterator_class_next_method_status)status;
}

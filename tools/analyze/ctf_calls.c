// SPDX-License-Identifier: MIT
/*
 * ctf_calls.c - events that say which functions a thread is in, for the flame
 * chart of Trace Compass
 *
 * Each trace gets one more stream, in order of time, whose two events are
 *
 *   kunwind_frames_push { process, pid, tid, nr, frames[] }
 *   kunwind_frames_pop { process, pid, tid, nr, left }
 *
 * trace-compass.xml makes a stack of functions of each thread (process, tid)
 * from them. nr functions are added or removed; left is the number of functions
 * after that. Trace Compass removes one or all at once, and its rules have no
 * loops. So nr is limited if left is not 0.
 *
 * A packet ends after some events, so that a reader need not hold all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "ctf_calls.h"
#include "babeltrace2/mip.h"
#include "calls.h"

enum { PACKET_EVENTS = 8192 };

static const char push_name[] = "kunwind_frames_push", pop_name[] = "kunwind_frames_pop";

/* The members of the payload. */
enum { PROCESS, PID, TID, NR, FRAMES, LEFT = FRAMES };

struct ctf_calls_stream {
	struct ctf_calls_stream *next;
	const bt_trace *from;		/* the input's trace */
	bt_event_class *push, *pop;
	bt_stream *stream;
	bt_packet *packet;		/* NULL: none begun */
	uint64_t events, last;		/* of the packet; last: value of the clock */
};

bool ctf_calls_is_own(const char *event_name)
{
	return !strcmp(event_name, push_name) || !strcmp(event_name, pop_name);
}

/* ------------------------------------------------------------ classes */

/* Appends a member, whose class it releases. Ends the program if out of memory. */
static void add_member(bt_field_class *payload, const char *name, bt_field_class *class)
{
	needed(class);
	needed(bt_field_class_structure_append_member(payload, name, class) ? NULL : payload);
	bt_field_class_put_ref(class);
}

static bt_field_class *number_class(bt_trace_class *tc, bool is_signed)
{
	bt_field_class *class = needed(is_signed ? bt_field_class_integer_signed_create(tc) :
						   bt_field_class_integer_unsigned_create(tc));

	bt_field_class_integer_set_field_value_range(class, 32);
	return class;
}

static bt_event_class *event_class(bt_stream_class *sc, bt_trace_class *tc, const char *name,
				   bool frames)
{
	bt_event_class *class = needed(bt_event_class_create(sc));
	bt_field_class *payload = needed(bt_field_class_structure_create(tc)), *string;

	needed(bt_event_class_set_name(class, name) ? NULL : class);
	add_member(payload, "process", bt_field_class_string_create(tc));
	add_member(payload, "pid", number_class(tc, true));
	add_member(payload, "tid", number_class(tc, true));
	add_member(payload, "nr", number_class(tc, false));
	if (frames) {
		string = needed(bt_field_class_string_create(tc));
		add_member(payload, "frames", mip_sequence(tc, string));
		bt_field_class_put_ref(string);
	} else {
		add_member(payload, "left", number_class(tc, false));
	}
	needed(bt_event_class_set_payload_field_class(class, payload) ? NULL : class);
	bt_field_class_put_ref(payload);
	return class;
}

/* Returns an id that no class of the input's streams has. */
static uint64_t unused_id(const bt_trace_class *from)
{
	uint64_t id = 0;

	while (bt_trace_class_borrow_stream_class_by_id_const(from, id))
		id++;
	return id;
}

static struct ctf_calls_stream *new_stream(struct ctf_calls *calls, const bt_stream *beside)
{
	struct ctf_calls_stream *stream = needed(calloc(1, sizeof(*stream)));
	bt_trace *trace = needed(meta_trace(calls->meta, bt_stream_borrow_trace_const(beside)));
	bt_trace_class *tc = bt_trace_borrow_class(trace);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
		bt_stream_borrow_class_const(beside));
	bt_stream_class *class;

	stream->from = bt_stream_borrow_trace_const(beside);
	class = needed(bt_stream_class_create_with_id(tc, unused_id(
		bt_trace_borrow_class_const(stream->from))));
	needed(bt_stream_class_set_name(class, "kunwind_frames") ? NULL : class);
	clock = needed((void *)meta_clock_class(calls->meta, clock));
	needed(bt_stream_class_set_default_clock_class(class, (bt_clock_class *)clock) ? NULL : class);
	bt_stream_class_set_supports_packets(class, BT_TRUE, BT_TRUE, BT_TRUE);
	stream->push = event_class(class, tc, push_name, true);
	stream->pop = event_class(class, tc, pop_name, false);
	stream->stream = needed(bt_stream_create(class, trace));
	needed(bt_stream_set_name(stream->stream, "kunwind_frames") ? NULL : class);
	bt_stream_class_put_ref(class);
	stream->next = calls->stream;
	calls->stream = stream;
	return stream;
}

/* ------------------------------------------------------------ messages */

static bool end_packet(struct ctf_calls *calls, bt_self_message_iterator *self,
		       struct ctf_calls_stream *stream)
{
	bt_message *message;

	if (!stream->packet)
		return true;
	message = bt_message_packet_end_create_with_default_clock_snapshot(self, stream->packet,
									    stream->last);
	BT_PACKET_PUT_REF_AND_RESET(stream->packet);
	return kunwind_copy_add(calls->copy, message);
}

/* Returns the stream of the trace of @message, an event, with a packet begun; or NULL. */
static struct ctf_calls_stream *find_stream(struct ctf_calls *calls, bt_self_message_iterator *self,
					    const bt_message *message)
{
	const bt_stream *beside = bt_event_borrow_stream_const(
		bt_message_event_borrow_event_const(message));
	struct ctf_calls_stream *stream;
	uint64_t now = bt_clock_snapshot_get_value(
		bt_message_event_borrow_default_clock_snapshot_const(message));

	for (stream = calls->stream; stream; stream = stream->next) {
		if (stream->from == bt_stream_borrow_trace_const(beside))
			break;
	}
	if (!stream) {
		stream = new_stream(calls, beside);
		if (!kunwind_copy_add(calls->copy,
				      bt_message_stream_beginning_create(self, stream->stream)))
			return NULL;
	}
	if (stream->events == PACKET_EVENTS && !end_packet(calls, self, stream))
		return NULL;
	stream->last = now;
	if (stream->packet)
		return stream;
	stream->events = 0;
	stream->packet = needed(bt_packet_create(stream->stream));
	return kunwind_copy_add(calls->copy,
		bt_message_packet_beginning_create_with_default_clock_snapshot(
			self, stream->packet, now)) ? stream : NULL;
}

static bt_field *member(bt_field *payload, int index)
{
	return bt_field_structure_borrow_member_field_by_index(payload, (uint64_t)index);
}

static void set_string(bt_field *field, const char *text)
{
	needed(bt_field_string_set_value(field, text) ? NULL : field);
}

/* A number of a trace that is not in the range of the field becomes -1. */
static void set_number(bt_field *field, int64_t value)
{
	bt_field_integer_signed_set_value(field, value == (int32_t)value ? value : -1);
}

/* Returns the payload of a new event, which is added to the copy; NULL: out of memory. */
static bt_field *add_event(struct ctf_calls *calls, bt_self_message_iterator *self,
			   const bt_message *message, const struct ctf_calls_thread *thread,
			   uint32_t nr, bool push)
{
	struct ctf_calls_stream *stream = find_stream(calls, self, message);
	bt_message *made;
	bt_field *payload;

	if (!stream)
		return NULL;
	made = bt_message_event_create_with_packet_and_default_clock_snapshot(self,
		push ? stream->push : stream->pop, stream->packet, stream->last);
	if (!kunwind_copy_add(calls->copy, made))
		return NULL;
	stream->events++;
	payload = bt_event_borrow_payload_field(bt_message_event_borrow_event(made));
	set_string(member(payload, PROCESS), thread->process);
	set_number(member(payload, PID), thread->pid);
	set_number(member(payload, TID), thread->tid);
	bt_field_integer_unsigned_set_value(member(payload, NR), nr);
	return payload;
}

bool ctf_calls_push(struct ctf_calls *calls, bt_self_message_iterator *self,
		    const bt_message *message, const struct ctf_calls_thread *thread,
		    const char *const *name, uint32_t nr)
{
	bt_field *payload = add_event(calls, self, message, thread, nr, true), *frames;
	uint32_t i;

	if (!payload)
		return false;
	frames = member(payload, FRAMES);
	needed(bt_field_array_dynamic_set_length(frames, nr) ? NULL : frames);
	for (i = 0; i < nr; i++)
		set_string(bt_field_array_borrow_element_field_by_index(frames, i), name[i]);
	return true;
}

bool ctf_calls_pop(struct ctf_calls *calls, bt_self_message_iterator *self,
		   const bt_message *message, const struct ctf_calls_thread *thread, uint32_t nr,
		   uint32_t left)
{
	bt_field *payload = add_event(calls, self, message, thread, nr, false);

	if (payload)
		bt_field_integer_unsigned_set_value(member(payload, LEFT), left);
	return payload;
}

bool ctf_calls_end(struct ctf_calls *calls, bt_self_message_iterator *self)
{
	struct ctf_calls_stream *stream;

	for (stream = calls->stream; stream; stream = stream->next) {
		if (!end_packet(calls, self, stream) ||
		    !kunwind_copy_add(calls->copy, bt_message_stream_end_create(self, stream->stream)))
			return false;
	}
	return true;
}

void ctf_calls_free(struct ctf_calls *calls)
{
	struct ctf_calls_stream *stream;

	while ((stream = calls->stream)) {
		calls->stream = stream->next;
		bt_packet_put_ref(stream->packet);
		bt_stream_put_ref(stream->stream);
		bt_event_class_put_ref(stream->push);
		bt_event_class_put_ref(stream->pop);
		free(stream);
	}
}

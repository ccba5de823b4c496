// SPDX-License-Identifier: MIT
/*
 * pass.c - copy messages, with the streams, packets and fields that they refer to
 */
#include "copy_field.h"
#include "pass.h"

/* Copies the fields that both events have. False: out of memory. */
static bool copy_fields(bt_event *to, const bt_event *from)
{
	const bt_field *field;

	field = bt_event_borrow_common_context_field_const(from);
	if (field && !copy_field(bt_event_borrow_common_context_field(to), field))
		return false;
	field = bt_event_borrow_specific_context_field_const(from);
	if (field && !copy_field(bt_event_borrow_specific_context_field(to), field))
		return false;
	field = bt_event_borrow_payload_field_const(from);
	return !field || copy_field(bt_event_borrow_payload_field(to), field);
}

/*
 * Each pass_...() returns a new message of the output for one of the input, or
 * NULL if out of memory.
 */
static bt_message *pass_event(struct meta *meta, bt_self_message_iterator *self,
			      const bt_message *from)
{
	const bt_event *event = bt_message_event_borrow_event_const(from);
	const bt_packet *packet = bt_event_borrow_packet_const(event);
	const bt_event_class *class = meta_event_class(meta, bt_event_borrow_class_const(event));
	const bt_stream *stream = meta_stream(meta, bt_event_borrow_stream_const(event));
	const bt_clock_snapshot *clock = NULL;
	bt_message *to;

	if (packet)
		packet = meta_packet(meta, packet);
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
	if (to && !copy_fields(bt_message_event_borrow_event(to), event))
		BT_MESSAGE_PUT_REF_AND_RESET(to);
	return to;
}

static bt_message *pass_stream_beginning(struct meta *meta, bt_self_message_iterator *self,
					 const bt_message *from)
{
	const bt_stream *stream = meta_stream(meta,
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

static bt_message *pass_stream_end(struct meta *meta, bt_self_message_iterator *self,
				   const bt_message *from)
{
	const bt_stream *ended = bt_message_stream_end_borrow_stream_const(from);
	const bt_stream *stream = meta_stream(meta, ended);
	bt_message *to = stream ? bt_message_stream_end_create(self, stream) : NULL;
	const bt_clock_snapshot *clock;

	if (to && bt_message_stream_end_borrow_stream_class_default_clock_class_const(from) &&
	    bt_message_stream_end_borrow_default_clock_snapshot_const(from, &clock) ==
	    BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
		bt_message_stream_end_set_default_clock_snapshot(to,
			bt_clock_snapshot_get_value(clock));
	meta_stream_ended(meta, ended);
	return to;
}

static bt_message *pass_packet_beginning(struct meta *meta, bt_self_message_iterator *self,
					 const bt_message *from)
{
	const bt_packet *begun = bt_message_packet_beginning_borrow_packet_const(from);
	const bt_packet *packet = meta_packet(meta, begun);

	if (!packet)
		return NULL;
	if (!bt_stream_class_packets_have_beginning_default_clock_snapshot(
		bt_stream_borrow_class_const(bt_packet_borrow_stream_const(begun))))
		return bt_message_packet_beginning_create(self, packet);
	return bt_message_packet_beginning_create_with_default_clock_snapshot(self, packet,
		bt_clock_snapshot_get_value(
			bt_message_packet_beginning_borrow_default_clock_snapshot_const(from)));
}

static bt_message *pass_packet_end(struct meta *meta, bt_self_message_iterator *self,
				   const bt_message *from)
{
	const bt_packet *ended = bt_message_packet_end_borrow_packet_const(from);
	const bt_packet *packet = meta_packet(meta, ended);
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
	meta_packet_ended(meta, ended);
	return to;
}

/* @lost: events or packets */
#define PASS_DISCARDED(lost)								\
	static bt_message *pass_discarded_##lost(struct meta *meta, bt_self_message_iterator *self, \
						 const bt_message *from)		\
	{										\
		const bt_stream *lossy = bt_message_discarded_##lost##_borrow_stream_const(from); \
		const bt_stream *stream = meta_stream(meta, lossy);			\
		bt_message *to;								\
		uint64_t count;								\
											\
		if (!stream)								\
			return NULL;							\
		to = bt_stream_class_discarded_##lost##_have_default_clock_snapshots(	\
			     bt_stream_borrow_class_const(lossy)) ?			\
			bt_message_discarded_##lost##_create_with_default_clock_snapshots(self, stream, \
			bt_clock_snapshot_get_value(					\
			bt_message_discarded_##lost##_borrow_beginning_default_clock_snapshot_const(from)), \
			bt_clock_snapshot_get_value(					\
			bt_message_discarded_##lost##_borrow_end_default_clock_snapshot_const(from))) : \
			bt_message_discarded_##lost##_create(self, stream);		\
		if (to && bt_message_discarded_##lost##_get_count(from, &count) ==	\
			  BT_PROPERTY_AVAILABILITY_AVAILABLE)				\
			bt_message_discarded_##lost##_set_count(to, count);		\
		return to;								\
	}
PASS_DISCARDED(events)
PASS_DISCARDED(packets)

static bt_message *pass_inactivity(struct meta *meta, bt_self_message_iterator *self,
				   const bt_message *from)
{
	const bt_clock_snapshot *clock =
		bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(from);
	const bt_clock_class *class = meta_clock_class(meta,
		bt_clock_snapshot_borrow_clock_class_const(clock));

	return class ? bt_message_message_iterator_inactivity_create(self, class,
				bt_clock_snapshot_get_value(clock)) : NULL;
}

bt_message *pass(struct meta *meta, bt_self_message_iterator *self, const bt_message *from)
{
	switch (bt_message_get_type(from)) {
	case BT_MESSAGE_TYPE_EVENT:
		return pass_event(meta, self, from);
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return pass_stream_beginning(meta, self, from);
	case BT_MESSAGE_TYPE_STREAM_END:
		return pass_stream_end(meta, self, from);
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return pass_packet_beginning(meta, self, from);
	case BT_MESSAGE_TYPE_PACKET_END:
		return pass_packet_end(meta, self, from);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return pass_discarded_events(meta, self, from);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return pass_discarded_packets(meta, self, from);
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		return pass_inactivity(meta, self, from);
	}
	return NULL;
}

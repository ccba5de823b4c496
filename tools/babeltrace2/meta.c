// SPDX-License-Identifier: MIT
/*
 * meta.c - copy traces, streams and their classes, adding fields for frames
 *
 * A filter cannot change the objects that it receives, so it copies all of
 * them: a trace class for each trace class, and so on down to the event. The
 * maps hold references to the input's objects: otherwise a new object could get
 * the address, and so the copy, of a freed one.
 *
 * Memory: as much again as the input's metadata, which stays in memory, too.
 * Packets and streams are freed when they end.
 */
#include <stdlib.h>

#include "copy_class.h"
#include "copy_field.h"
#include "frames.h"
#include "meta.h"
#include "mip.h"
#include "trace/stack.h"

struct trace_class {
	struct copy_classes classes;
};

static void put_trace_class(const void *key, void *value)
{
	struct trace_class *made = value;

	bt_trace_class_put_ref(made->classes.to);
	ptrmap_clear(&made->classes.made, NULL);
	free(made);
	bt_trace_class_put_ref(key);
}

/* Drop the references to an object of the input and to its copy. */
#define PUT_BOTH(object)						\
	static void put_##object(const void *key, void *value)		\
	{								\
		bt_##object##_put_ref(value);				\
		bt_##object##_put_ref(key);				\
	}
PUT_BOTH(stream_class)
PUT_BOTH(event_class)
PUT_BOTH(clock_class)
PUT_BOTH(trace)
PUT_BOTH(stream)
PUT_BOTH(packet)

void meta_free(struct meta *meta)
{
	ptrmap_clear(&meta->packets, put_packet);
	ptrmap_clear(&meta->streams, put_stream);
	ptrmap_clear(&meta->traces, put_trace);
	ptrmap_clear(&meta->event_classes, put_event_class);
	ptrmap_clear(&meta->stream_classes, put_stream_class);
	ptrmap_clear(&meta->clock_classes, put_clock_class);
	ptrmap_clear(&meta->trace_classes, put_trace_class);
}

static struct copy_classes *trace_class(struct meta *meta, const bt_trace_class *from)
{
	struct trace_class *made = ptrmap_find(&meta->trace_classes, from);

	if (made)
		return &made->classes;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	made->classes.to = bt_trace_class_create(meta->component);
	if (!made->classes.to || !ptrmap_add(&meta->trace_classes, from, made)) {
		bt_trace_class_put_ref(made->classes.to);
		free(made);
		return NULL;
	}
	bt_trace_class_get_ref(from);
	bt_trace_class_set_user_attributes(made->classes.to,
		bt_trace_class_borrow_user_attributes_const(from));
	bt_trace_class_set_assigns_automatic_stream_class_id(made->classes.to, BT_FALSE);
	return &made->classes;
}

const bt_clock_class *meta_clock_class(struct meta *meta, const bt_clock_class *from)
{
	bt_clock_class *made = ptrmap_find(&meta->clock_classes, from);
	const char *name = bt_clock_class_get_name(from);
	const char *description = bt_clock_class_get_description(from);
	int64_t seconds;
	uint64_t cycles;

	if (made)
		return made;
	made = bt_clock_class_create(meta->component);
	if (!made)
		return NULL;
	bt_clock_class_set_frequency(made, bt_clock_class_get_frequency(from));
	bt_clock_class_get_offset(from, &seconds, &cycles);
	bt_clock_class_set_offset(made, seconds, cycles);
	bt_clock_class_set_user_attributes(made,
		bt_clock_class_borrow_user_attributes_const(from));
	if (!mip_copy_clock_class(made, from) ||
	    (name && bt_clock_class_set_name(made, name)) ||
	    (description && bt_clock_class_set_description(made, description)) ||
	    !ptrmap_add(&meta->clock_classes, from, made)) {
		bt_clock_class_put_ref(made);
		return NULL;
	}
	bt_clock_class_get_ref(from);
	return made;
}

/*
 * Copies the field class @from, unless it is NULL, and passes the copy to @set.
 * False: out of memory.
 */
#define COPY_SCOPE(classes, scopes, from, owner, set) ({			\
	bt_field_class *copy_ = (from) ? copy_class(classes, scopes, from) : NULL;	\
	bool ok_ = !(from) || (copy_ && !set(owner, copy_));			\
	bt_field_class_put_ref(copy_);						\
	ok_; })

static bool copy_stream_class(struct meta *meta, struct copy_classes *classes, bt_stream_class *to,
			      const bt_stream_class *from)
{
	struct copy_scopes scopes = {
		.packet_context = bt_stream_class_borrow_packet_context_field_class_const(from),
		.common_context = bt_stream_class_borrow_event_common_context_field_class_const(from),
	};
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(from);
	const char *name = bt_stream_class_get_name(from);

	if ((name && bt_stream_class_set_name(to, name)) || !mip_copy_stream_class(to, from))
		return false;
	if (clock) {
		clock = meta_clock_class(meta, clock);
		if (!clock || bt_stream_class_set_default_clock_class(to, (bt_clock_class *)clock))
			return false;
	}
	bt_stream_class_set_user_attributes(to, bt_stream_class_borrow_user_attributes_const(from));
	bt_stream_class_set_assigns_automatic_event_class_id(to, BT_FALSE);
	bt_stream_class_set_assigns_automatic_stream_id(to, BT_FALSE);
	if (bt_stream_class_supports_packets(from))
		bt_stream_class_set_supports_packets(to, BT_TRUE,
			bt_stream_class_packets_have_beginning_default_clock_snapshot(from),
			bt_stream_class_packets_have_end_default_clock_snapshot(from));
	if (bt_stream_class_supports_discarded_events(from))
		bt_stream_class_set_supports_discarded_events(to, BT_TRUE,
			bt_stream_class_discarded_events_have_default_clock_snapshots(from));
	if (bt_stream_class_supports_discarded_packets(from))
		bt_stream_class_set_supports_discarded_packets(to, BT_TRUE,
			bt_stream_class_discarded_packets_have_default_clock_snapshots(from));
	return COPY_SCOPE(classes, &scopes, scopes.packet_context, to,
			  bt_stream_class_set_packet_context_field_class) &&
	       COPY_SCOPE(classes, &scopes, scopes.common_context, to,
			  bt_stream_class_set_event_common_context_field_class);
}

static bt_stream_class *stream_class(struct meta *meta, const bt_stream_class *from)
{
	bt_stream_class *made = ptrmap_find(&meta->stream_classes, from);
	struct copy_classes *classes;

	if (made)
		return made;
	classes = trace_class(meta, bt_stream_class_borrow_trace_class_const(from));
	if (classes)
		made = bt_stream_class_create_with_id(classes->to, bt_stream_class_get_id(from));
	if (!made || !copy_stream_class(meta, classes, made, from) ||
	    !ptrmap_add(&meta->stream_classes, from, made)) {
		bt_stream_class_put_ref(made);
		return NULL;
	}
	bt_stream_class_get_ref(from);
	return made;
}

unsigned int meta_wanted(const struct meta *meta, const bt_event_class *from)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(from);
	unsigned int wanted = frames_wanted(
		bt_stream_class_borrow_event_common_context_field_class_const(
			bt_event_class_borrow_stream_class_const(from)),
		bt_event_class_borrow_specific_context_field_class_const(from), payload);

	if (meta->user_only)
		wanted &= kunwind_payload_is_whole(payload) ? 0 : 1u << STACK_USER;
	return wanted;
}

/*
 * Copies the payload's class and appends the fields for the frames. These
 * fields would belong in the specific context, but babeltrace2 2.0 aborts when
 * it reads a CTF trace with an array there.
 */
static bool make_payload(struct meta *meta, struct copy_classes *classes,
			 const struct copy_scopes *scopes, bt_event_class *to,
			 const bt_event_class *from)
{
	unsigned int wanted = meta_wanted(meta, from);
	bt_field_class *payload;
	bool ok;

	if (!wanted)
		return COPY_SCOPE(classes, scopes, scopes->payload, to,
				  bt_event_class_set_payload_field_class);
	payload = scopes->payload ? copy_class(classes, scopes, scopes->payload) :
				    bt_field_class_structure_create(classes->to);
	ok = payload && frames_append(classes->to, payload, wanted, meta->text) &&
	     !bt_event_class_set_payload_field_class(to, payload);
	bt_field_class_put_ref(payload);
	return ok;
}

static bool copy_event_class(struct meta *meta, struct copy_classes *classes, bt_event_class *to,
			     const bt_event_class *from)
{
	const bt_stream_class *stream = bt_event_class_borrow_stream_class_const(from);
	struct copy_scopes scopes = {
		.packet_context = bt_stream_class_borrow_packet_context_field_class_const(stream),
		.common_context = bt_stream_class_borrow_event_common_context_field_class_const(stream),
		.specific_context = bt_event_class_borrow_specific_context_field_class_const(from),
		.payload = bt_event_class_borrow_payload_field_class_const(from),
	};
	const char *name = bt_event_class_get_name(from);
	const char *uri = bt_event_class_get_emf_uri(from);
	bt_event_class_log_level level;

	if ((name && bt_event_class_set_name(to, name)) ||
	    (uri && bt_event_class_set_emf_uri(to, uri)) || !mip_copy_event_class(to, from))
		return false;
	if (bt_event_class_get_log_level(from, &level) == BT_PROPERTY_AVAILABILITY_AVAILABLE)
		bt_event_class_set_log_level(to, level);
	bt_event_class_set_user_attributes(to, bt_event_class_borrow_user_attributes_const(from));
	return COPY_SCOPE(classes, &scopes, scopes.specific_context, to,
			  bt_event_class_set_specific_context_field_class) &&
	       make_payload(meta, classes, &scopes, to, from);
}

const bt_event_class *meta_event_class(struct meta *meta, const bt_event_class *from)
{
	bt_event_class *made = ptrmap_find(&meta->event_classes, from);
	const bt_stream_class *stream;
	struct copy_classes *classes;
	bt_stream_class *to;

	if (made)
		return made;
	stream = bt_event_class_borrow_stream_class_const(from);
	to = stream_class(meta, stream);
	classes = trace_class(meta, bt_stream_class_borrow_trace_class_const(stream));
	if (to && classes)
		made = bt_event_class_create_with_id(to, bt_event_class_get_id(from));
	if (!made || !copy_event_class(meta, classes, made, from) ||
	    !ptrmap_add(&meta->event_classes, from, made)) {
		bt_event_class_put_ref(made);
		return NULL;
	}
	bt_event_class_get_ref(from);
	return made;
}

static bool copy_environment(bt_trace *to, const bt_trace *from)
{
	uint64_t i, nr = bt_trace_get_environment_entry_count(from);

	for (i = 0; i < nr; i++) {
		const bt_value *value;
		const char *name;
		int status = 0;

		bt_trace_borrow_environment_entry_by_index_const(from, i, &name, &value);
		if (bt_value_is_signed_integer(value))
			status = bt_trace_set_environment_entry_integer(to, name,
				bt_value_integer_signed_get(value));
		else if (bt_value_is_string(value))
			status = bt_trace_set_environment_entry_string(to, name,
				bt_value_string_get(value));
		if (status)
			return false;
	}
	return true;
}

bt_trace *meta_trace(struct meta *meta, const bt_trace *from)
{
	bt_trace *made = ptrmap_find(&meta->traces, from);
	const char *name = bt_trace_get_name(from);
	struct copy_classes *classes;

	if (made)
		return made;
	classes = trace_class(meta, bt_trace_borrow_class_const(from));
	made = classes ? bt_trace_create(classes->to) : NULL;
	if (!made || (name && bt_trace_set_name(made, name)) || !copy_environment(made, from) ||
	    (meta->mark && bt_trace_set_environment_entry_integer(made, meta->mark, 1)) ||
	    !mip_copy_trace(made, from) || !ptrmap_add(&meta->traces, from, made)) {
		bt_trace_put_ref(made);
		return NULL;
	}
	bt_trace_set_user_attributes(made, bt_trace_borrow_user_attributes_const(from));
	bt_trace_get_ref(from);
	return made;
}

const bt_stream *meta_stream(struct meta *meta, const bt_stream *from)
{
	bt_stream *made = ptrmap_find(&meta->streams, from);
	const char *name = bt_stream_get_name(from);
	bt_stream_class *class;
	bt_trace *owner;

	if (made)
		return made;
	class = stream_class(meta, bt_stream_borrow_class_const(from));
	owner = class ? meta_trace(meta, bt_stream_borrow_trace_const(from)) : NULL;
	made = owner ? bt_stream_create_with_id(class, owner, bt_stream_get_id(from)) : NULL;
	if (!made || (name && bt_stream_set_name(made, name)) ||
	    !ptrmap_add(&meta->streams, from, made)) {
		bt_stream_put_ref(made);
		return NULL;
	}
	bt_stream_set_user_attributes(made, bt_stream_borrow_user_attributes_const(from));
	bt_stream_get_ref(from);
	return made;
}

const bt_packet *meta_packet(struct meta *meta, const bt_packet *from)
{
	bt_packet *made = ptrmap_find(&meta->packets, from);
	const bt_field *context = bt_packet_borrow_context_field_const(from);
	const bt_stream *stream;

	if (made)
		return made;
	stream = meta_stream(meta, bt_packet_borrow_stream_const(from));
	made = stream ? bt_packet_create(stream) : NULL;
	if (!made || (context && !copy_field(bt_packet_borrow_context_field(made), context)) ||
	    !ptrmap_add(&meta->packets, from, made)) {
		bt_packet_put_ref(made);
		return NULL;
	}
	bt_packet_get_ref(from);
	return made;
}

void meta_stream_ended(struct meta *meta, const bt_stream *from)
{
	bt_stream *made = ptrmap_remove(&meta->streams, from);

	if (made)
		put_stream(from, made);
}

void meta_packet_ended(struct meta *meta, const bt_packet *from)
{
	bt_packet *made = ptrmap_remove(&meta->packets, from);

	if (made)
		put_packet(from, made);
}

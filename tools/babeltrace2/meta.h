/* SPDX-License-Identifier: MIT */
/*
 * meta.h - copy traces, streams and their classes, adding fields for frames
 */
#ifndef KUNWIND_META_H
#define KUNWIND_META_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "ptrmap.h"

/* Maps from the input's objects to their copies. Begins zeroed. */
struct meta {
	bt_self_component *component;
	bool text;			/* frames are strings */
	bool user_only;			/* only for user stacks in contexts */
	const char *mark;		/* an entry that the traces' environments get; NULL: none */
	struct ptrmap trace_classes, stream_classes, event_classes, clock_classes;
	struct ptrmap traces, streams, packets;
};

void meta_free(struct meta *meta);

/*
 * Return the copy of an input object, made at the first call for that object.
 * The map owns the copy. NULL: out of memory.
 */
bt_trace *meta_trace(struct meta *meta, const bt_trace *from);
const bt_event_class *meta_event_class(struct meta *meta, const bt_event_class *from);
const bt_clock_class *meta_clock_class(struct meta *meta, const bt_clock_class *from);
const bt_stream *meta_stream(struct meta *meta, const bt_stream *from);
const bt_packet *meta_packet(struct meta *meta, const bt_packet *from);

/* Returns which stacks the copies of events get fields for, as bits 1 << STACK_... */
unsigned int meta_wanted(const struct meta *meta, const bt_event_class *from);

/* Free the copy of an object that no later message refers to. */
void meta_stream_ended(struct meta *meta, const bt_stream *from);
void meta_packet_ended(struct meta *meta, const bt_packet *from);

#endif /* KUNWIND_META_H */

/* SPDX-License-Identifier: MIT */
/*
 * meta.h - traces, streams and their classes again, with room for named frames
 */
#ifndef KUNWIND_META_H
#define KUNWIND_META_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "ptrmap.h"

/* What an input object became. Each is made when it is first asked for; NULL: out of memory. */
struct meta {
	bt_self_component *component;
	bool text;			/* frames are strings */
	struct ptrmap trace_classes, stream_classes, event_classes, clock_classes;
	struct ptrmap traces, streams, packets;
};

void meta_free(struct meta *meta);

const bt_event_class *meta_event_class(struct meta *meta, const bt_event_class *from);
const bt_clock_class *meta_clock_class(struct meta *meta, const bt_clock_class *from);
const bt_stream *meta_stream(struct meta *meta, const bt_stream *from);
const bt_packet *meta_packet(struct meta *meta, const bt_packet *from);

/* Those that have ended are asked for no more. */
void meta_stream_ended(struct meta *meta, const bt_stream *from);
void meta_packet_ended(struct meta *meta, const bt_packet *from);

#endif /* KUNWIND_META_H */

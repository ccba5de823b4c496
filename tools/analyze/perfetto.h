/* SPDX-License-Identifier: MIT */
/*
 * perfetto.h - field numbers of Perfetto's trace format, and what its packets
 * refer to
 *
 * The numbers are those of protos/perfetto/trace in Perfetto's source.
 */
#ifndef KUNWIND_ANALYZE_PERFETTO_H
#define KUNWIND_ANALYZE_PERFETTO_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "protobuf.h"

enum { TRACE_PACKET = 1 };

enum trace_packet {
	PACKET_CLOCK_SNAPSHOT = 6, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11, PACKET_INTERNED_DATA = 12, PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59, PACKET_TRACK_DESCRIPTOR = 60, PACKET_FIRST_ON_SEQUENCE = 87,
};
enum { DEFAULTS_TIMESTAMP_CLOCK_ID = 58 };
enum sequence_flag { SEQ_INCREMENTAL_STATE_CLEARED = 1, SEQ_NEEDS_INCREMENTAL_STATE = 2 };

enum clock_snapshot { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY_TRACE_CLOCK = 2 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_IS_INCREMENTAL = 3 };

enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

enum track_event {
	EVENT_CATEGORY_IIDS = 3, EVENT_DEBUG_ANNOTATIONS = 4, EVENT_TYPE = 9, EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11, EVENT_FLOW_IDS = 47, EVENT_TERMINATING_FLOW_IDS = 48,
	EVENT_CALLSTACK_IID = 56,
};
enum event_type { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3 };

enum debug_annotation {
	ANNOTATION_NAME_IID = 1, ANNOTATION_BOOL = 2, ANNOTATION_UINT = 3, ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5, ANNOTATION_STRING = 6, ANNOTATION_POINTER = 7,
	ANNOTATION_DICT_ENTRIES = 11, ANNOTATION_ARRAY_VALUES = 12, ANNOTATION_STRING_IID = 17,
};

/* Kinds of interned data. The number of a kind is its field of InternedData. */
enum interned {
	INTERNED_CATEGORY = 1, INTERNED_EVENT_NAME = 2, INTERNED_ANNOTATION_NAME = 3,
	INTERNED_FUNCTION_NAME = 5, INTERNED_FRAME = 6, INTERNED_CALLSTACK = 7,
	INTERNED_BUILD_ID = 16, INTERNED_PATH = 17, INTERNED_SOURCE_PATH = 18,
	INTERNED_MAPPING = 19, INTERNED_ANNOTATION_STRING = 29, NR_INTERNED,
};
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum { MAPPING_BUILD_ID = 2, MAPPING_PATH_STRING_IDS = 7 };
enum {
	FRAME_FUNCTION_NAME_ID = 2, FRAME_MAPPING_ID = 3, FRAME_REL_PC = 4,
	FRAME_SOURCE_PATH_IID = 5, FRAME_LINE_NUMBER = 6,
};
enum { CALLSTACK_FRAME_IDS = 2 };

/*
 * Definitions that packets refer to by number (iid). Each is written once,
 * before the first packet that refers to it, or in that packet. Memory: one bit for each
 * string, frame and stack. Starts as all zeros.
 */
struct perfetto_interned {
	struct calls *calls;		/* set by the caller */
	struct protobuf out;		/* an InternedData for the next packet; the caller empties it */
	/* private to perfetto_interned.c */
	struct perfetto_seen {
		uint8_t *bit;
		size_t cap;
	} seen[NR_INTERNED];
	struct calls_objects objects;
	uint32_t *path, cap_path;
};

void perfetto_interned_exit(struct perfetto_interned *interned);

/* Returns the iid of a string of @calls. The first time, defines it. */
uint64_t perfetto_string(struct perfetto_interned *interned, enum interned kind, uint32_t string);

/*
 * Returns the iid of the stack whose innermost function is @node; 0: it has no
 * frame. Processes and FRAME_WHAT are no frames.
 */
uint64_t perfetto_callstack(struct perfetto_interned *interned, uint32_t node);

/* Writes the fields of an event as debug annotations of a TrackEvent. */
void perfetto_arguments(struct perfetto_interned *interned, struct protobuf *out,
			const bt_event *event);

#endif /* KUNWIND_ANALYZE_PERFETTO_H */

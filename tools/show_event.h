/* SPDX-License-Identifier: MIT */
/*
 * show_event.h - what is read from an event: fields, contexts, where it happened
 */
#ifndef KUNWIND_SHOW_EVENT_H
#define KUNWIND_SHOW_EVENT_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

/* "" when it has none. */
const char *kunwind_event_name(const bt_event *event);

/* A field of the event's payload, or of its contexts, by name; NULL: none. */
const bt_field *kunwind_event_field(const bt_event *event, const char *name);
const bt_field *kunwind_event_context(const bt_event *event, const char *name);

/* The value of an integer field of either sign. False when it is none, or NULL. */
bool kunwind_field_integer(const bt_field *field, int64_t *value);

/* The text of a string field; NULL when it is none. */
const char *kunwind_field_string(const bt_field *field);

/* What an event tells of where it happened; -1 and "" where the trace does not have it. */
struct kunwind_head {
	const char *name, *comm;
	int64_t time, pid, tid, cpu;
	bool own_number;	/* pid is vpid: of the process's own namespace */
};

/* Global process numbers where the trace has them. */
void kunwind_head_read(struct kunwind_head *head, const bt_event *event, int64_t time);

#endif /* KUNWIND_SHOW_EVENT_H */

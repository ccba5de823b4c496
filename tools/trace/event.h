/* SPDX-License-Identifier: MIT */
/*
 * event.h - read fields, contexts, process and CPU of an event
 */
#ifndef KUNWIND_TRACE_EVENT_H
#define KUNWIND_TRACE_EVENT_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the event's name; "" if it has none. */
const char *kunwind_event_name(const bt_event *event);

/* Returns whether an event of this name is one of kunwind's own. */
bool kunwind_event_is_own(const char *name);

/*
 * Returns whether the event says nothing of the thread in which it occurs. Most such events are
 * of a channel without contexts: of interrupts (interrupt_events.h), or of LTTng's state dump
 * (own_events.h). Others say what a program with LTTng-UST has loaded.
 */
bool kunwind_event_is_background(const bt_event *event);

/* Returns whether it is a sample of a CPU: kunwind_sample. */
bool kunwind_event_is_sample(const char *name);

/* Returns whether it reports a thread that was blocked when the recording began: kunwind_blocked. */
bool kunwind_event_is_blocked(const char *name);

/* Nanoseconds since 1970 of a message with an event; -1: its stream has no clock. */
int64_t kunwind_event_time(const bt_message *message);

/* The text of an entry in the trace's environment; "": no such entry, or no text. */
const char *kunwind_trace_environment(const bt_trace *trace, const char *name);

/* A field of the event's payload, or of its contexts, by name; NULL: none. */
const bt_field *kunwind_event_field(const bt_event *event, const char *name);
const bt_field *kunwind_event_context(const bt_event *event, const char *name);

/*
 * Reads an integer or enumeration field, signed or unsigned. Returns false, and
 * does not set *value, if @field is another field or NULL.
 */
bool kunwind_field_integer(const bt_field *field, int64_t *value);

/* Returns the value of such a field of the event's payload; @none: it has none. */
int64_t kunwind_event_integer(const bt_event *event, const char *name, int64_t none);

/* Returns the text of a string field; NULL if @field is another one or NULL. */
const char *kunwind_field_string(const bt_field *field);

/*
 * Time, process and CPU of an event. -1 or "" if the trace does not have them.
 * The strings are valid as long as the event. time: nanoseconds since 1970.
 */
struct kunwind_head {
	const char *name, *comm;
	int64_t time, pid, tid, cpu;
	bool own_number;	/* pid is from vpid: in the process's own pid namespace */
	bool by_id;		/* the event has its stack by id (own_events.h) */
	bool called;		/* of LTTng-UST: the first address of the stack is a return address */
	uint64_t stack;		/* the id; 0: no stack */
	uint64_t kernel_stack;	/* the same of the kernel stack */
	char call[80];		/* private to syscall.c: name may point to it */
	char idle[16];		/* private to reading.c: comm may point to it */
};

/*
 * Prefers numbers of the initial pid namespace if the trace has them. Of an event that
 * has its stack by id, comm may be missing, and pid, if there is a stack.
 */
void kunwind_head_read(struct kunwind_head *head, const bt_event *event, int64_t time);

#endif /* KUNWIND_TRACE_EVENT_H */

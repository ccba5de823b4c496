/* SPDX-License-Identifier: MIT */
/*
 * ust.h - stacks and mappings of programs with LTTng-UST (kunwind_ust_register(3))
 */
#ifndef KUNWIND_TRACE_UST_H
#define KUNWIND_TRACE_UST_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names of the context: of LTTng 2.13, and of 2.16. */
#define KUNWIND_UST_CONTEXT	"_app_kunwind_stack"
#define KUNWIND_UST_CONTEXT_2	"$app.kunwind:stack"

/* The value of the context of an event. */
struct kunwind_ust_value {
	uint64_t id;
	const char *text;	/* the addresses, and the reason; NULL: only the id */
};

/* False: the event has no stack of LTTng-UST. */
bool kunwind_ust_value(const bt_event *event, struct kunwind_ust_value *value);

/* Reads the addresses of value->text. Returns how many; 0: it is wrong. @reason: enum kunwind_reason. */
size_t kunwind_ust_addresses(const struct kunwind_ust_value *value, uint64_t *address, size_t most,
			     int *reason);

/* Whether a stream of the class may have stacks, or the state dump, of LTTng-UST. */
bool kunwind_ust_class(const bt_stream_class *class);

/* Whether the event, by its name, says what a program has loaded or unloaded. */
bool kunwind_ust_is_mapping(const char *name);

/* What was loaded and is still needed: the build-id comes in an event of its own. */
struct kunwind_ust_objects;
struct kunwind_history;

void kunwind_ust_objects_free(struct kunwind_ust_objects *objects);

/* Adds to the history what a mapping event says. *@objects: NULL at first. False: out of memory. */
bool kunwind_ust_learn(struct kunwind_ust_objects **objects, struct kunwind_history *history,
		       const bt_event *event, int64_t time);

#endif /* KUNWIND_TRACE_UST_H */

/* SPDX-License-Identifier: MIT */
/*
 * show_stack.h - the addresses of an event's call stack
 */
#ifndef KUNWIND_SHOW_STACK_H
#define KUNWIND_SHOW_STACK_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* LTTng's own limit of its context. */
#define KUNWIND_STACK_LTTNG_MAX	128
/* Of the event kunwind_callstack; longer ones are cut. */
#define KUNWIND_STACK_MAX	4096

/*
 * Is it kunwind_callstack, whose stack is in the payload? That of a class may be
 * NULL.
 */
bool kunwind_event_is_whole(const bt_event *event);
bool kunwind_payload_is_whole(const bt_field_class *payload);

/*
 * The addresses of the field @name ("callstack_user"), innermost first, without
 * LTTng's mark of the end; of kunwind_callstack its own, whole. @address: room for
 * KUNWIND_STACK_MAX. Return: how many; 0 also when the event has no such field.
 */
size_t kunwind_stack_read(const bt_event *event, const char *name, uint64_t *address);

/*
 * enum kunwind_trust of each of the first @nr addresses that kunwind_stack_read()
 * gave of the user's stack. False: the event does not tell.
 */
bool kunwind_stack_trust(const bt_event *event, uint8_t *trust, size_t nr);

#endif /* KUNWIND_SHOW_STACK_H */

/* SPDX-License-Identifier: MIT */
/*
 * stack.h - read the addresses of an event's call stack
 */
#ifndef KUNWIND_TRACE_STACK_H
#define KUNWIND_TRACE_STACK_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* LTTng's limit of frames in the context callstack_user. */
#define KUNWIND_STACK_LTTNG_MAX	128
/* Limit of frames of kunwind_callstack. Longer stacks are cut when read. */
#define KUNWIND_STACK_MAX	4096

/*
 * Return whether an event, or the payload of an event class (may be NULL), has
 * the members of kunwind_callstack, whose payload holds a whole stack.
 */
bool kunwind_event_is_whole(const bt_event *event);
bool kunwind_payload_is_whole(const bt_field_class *payload);

/* Returns whether the event, kunwind_callstack or kunwind_kernel_callstack, may define an id. */
bool kunwind_event_defines(const bt_event *event);

/*
 * Reads the addresses in the payload's field @name ("callstack_user" or
 * "callstack_kernel"), or else in the context of this name, innermost first,
 * without LTTng's end mark. Of a kunwind_callstack, the user stack is the addresses
 * in its payload: those of the innermost frames, or none (whole.h). @address: room
 * for KUNWIND_STACK_MAX. Returns how many; 0 also if the event has no such field.
 */
size_t kunwind_stack_read(const bt_event *event, const char *name, uint64_t *address);

/*
 * Reads the enum kunwind_trust of each of the first @nr addresses that
 * kunwind_stack_read() returned for the user stack. If the event holds no
 * trust, the first is REGISTERS and the others are CFI, as in most stacks.
 * False: the event is not kunwind_callstack, or holds fewer trusts.
 */
bool kunwind_stack_trust(const bt_event *event, uint8_t *trust, size_t nr);

#endif /* KUNWIND_TRACE_STACK_H */

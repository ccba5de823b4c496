/* SPDX-License-Identifier: MIT */
/*
 * show_json.h - print each event with its stack as JSON, one object a line
 */
#ifndef KUNWIND_SHOW_JSON_H
#define KUNWIND_SHOW_JSON_H

#include "trace/event.h"
#include "trace/reading.h"

/*
 * Prints an event without its stack. The object stays open: call
 * kunwind_json_stack() next. @but, @but_fields: contexts and fields to leave
 * out, ending with NULL; or NULL.
 */
void kunwind_json_event(uint64_t number, const struct kunwind_head *head, const bt_event *event,
			const char *const *but, const char *const *but_fields);

/*
 * Prints the stack, which may be empty, and ends the object and the line.
 * @reason: why the stack ended; NULL: not recorded.
 */
void kunwind_json_stack(const struct kunwind_event_stack *stack, const char *reason);

/* Prints one frame as an object. @kernel: it is the kernel's. @trust: its name; NULL: not known. */
void kunwind_json_frame(const struct kunwind_frame *frame, bool kernel, const char *trust);

#endif /* KUNWIND_SHOW_JSON_H */

/* SPDX-License-Identifier: MIT */
/*
 * frames.h - the fields that name the frames of a stack
 */
#ifndef KUNWIND_FRAMES_H
#define KUNWIND_FRAMES_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "libkunwind-symbolize.h"

/* Stacks that are looked for in an event's contexts, and what is added for each. */
enum { STACK_USER, STACK_KERNEL, NR_STACKS };
extern const char *const stack_names[NR_STACKS];

/*
 * Bits, by stack, of those that an event's contexts have, or for the user's the
 * payload of kunwind_callstack; each may be NULL.
 */
unsigned int frames_wanted(const bt_field_class *common, const bt_field_class *specific,
			   const bt_field_class *payload);

/*
 * Appends a field for each stack in @wanted to @payload, a structure that is not
 * in use yet. @text: each frame is one string. False: out of memory.
 */
bool frames_append(bt_trace_class *tc, bt_field_class *payload, unsigned int wanted, bool text);

/* Fills the field of one stack in an event's payload. False: out of memory. */
bool frames_fill(bt_field *payload, int stack, bool text, const struct kunwind_frame *frame,
		 size_t nr);

#endif /* KUNWIND_FRAMES_H */

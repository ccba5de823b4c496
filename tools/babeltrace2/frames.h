/* SPDX-License-Identifier: MIT */
/*
 * frames.h - add fields to an event that name the frames of its stacks
 */
#ifndef KUNWIND_FRAMES_H
#define KUNWIND_FRAMES_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

#include "libkunwind-symbolize.h"

/* The stacks, and the names of their fields in an event's contexts. */
enum { STACK_USER, STACK_KERNEL, NR_STACKS };
extern const char *const stack_names[NR_STACKS];

/*
 * Returns which stacks an event class has, as bits 1 << STACK_...: in a
 * context or the payload, or the user stack in that of kunwind_callstack.
 * Leaves out stacks whose frames the payload already has. Each class may be
 * NULL.
 */
unsigned int frames_wanted(const bt_field_class *common, const bt_field_class *specific,
			   const bt_field_class *payload);

/*
 * Appends a field for each stack in @wanted to the class @payload, a structure
 * that no event class uses yet. @text: one string for each function, instead of
 * a structure. False: out of memory.
 */
bool frames_append(bt_trace_class *tc, bt_field_class *payload, unsigned int wanted, bool text);

/*
 * Sets the field of one stack (STACK_USER, STACK_KERNEL) in an event's payload
 * from @nr frames, innermost first. False: out of memory.
 */
bool frames_fill(bt_field *payload, int stack, bool text, const struct kunwind_frame *frame,
		 size_t nr);

/* The same with one text for each function, for a class with @text. */
bool frames_fill_text(bt_field *payload, int stack, const char *const *name, size_t nr);

#endif /* KUNWIND_FRAMES_H */

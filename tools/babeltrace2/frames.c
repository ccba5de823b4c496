// SPDX-License-Identifier: MIT
/*
 * frames.c - add fields to an event that name the frames of its stacks
 *
 * Each field is an array whose elements are functions, innermost first. An
 * inlined function comes before the function that it is part of, with the same
 * address and inlined = 1. Elements are structures or, for people, strings.
 * Only kinds of fields that CTF 1.8 has are used, so that sink.ctf.fs can write
 * them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frames.h"
#include "mip.h"
#include "own_events.h"
#include "trace/stack.h"
#include "trace/ust.h"

const char *const stack_names[NR_STACKS] = { "callstack_user", "callstack_kernel" };
static const char *const ids[NR_STACKS] = { KUNWIND_STACK_ID, KUNWIND_KERNEL_STACK_ID };
static const char *const added[NR_STACKS] = { "callstack_user_frames", "callstack_kernel_frames" };

/* The members of a frame's structure, in this order. */
enum { ADDRESS, FUNCTION, OFFSET, INLINED, FILE_NAME, LINE, OBJECT, OBJECT_ADDRESS, WHY, NR_MEMBERS };
static const struct member {
	const char *name;
	bool number, hex;
} members[NR_MEMBERS] = {
	[ADDRESS] = { "address", true, true },
	[FUNCTION] = { "function", false, false },
	[OFFSET] = { "offset", true, true },
	[INLINED] = { "inlined", true, false },
	[FILE_NAME] = { "file", false, false },
	[LINE] = { "line", true, false },
	[OBJECT] = { "object", false, false },
	[OBJECT_ADDRESS] = { "object_address", true, true },
	[WHY] = { "why", false, false },
};

static bool has_member(const bt_field_class *structure, const char *name)
{
	return structure &&
	       bt_field_class_structure_borrow_member_by_name_const(structure, name);
}

unsigned int frames_wanted(const bt_field_class *common, const bt_field_class *specific,
			   const bt_field_class *payload)
{
	unsigned int wanted = 0;
	int stack;

	for (stack = 0; stack < NR_STACKS; stack++) {
		/* an instance of this filter may come before this one */
		if ((has_member(common, stack_names[stack]) ||
		     has_member(specific, stack_names[stack]) ||
		     has_member(payload, stack_names[stack]) ||
		     has_member(common, ids[stack]) ||
		     (stack == STACK_USER && (has_member(common, KUNWIND_UST_CONTEXT) ||
					      has_member(common, KUNWIND_UST_CONTEXT_2))) ||
		     (stack == STACK_USER && kunwind_payload_is_whole(payload))) &&
		    !has_member(payload, added[stack]))
			wanted |= 1u << stack;
	}
	return wanted;
}

static bt_field_class *member_class(bt_trace_class *tc, const struct member *member)
{
	bt_field_class *class;

	if (!member->number)
		return bt_field_class_string_create(tc);
	class = bt_field_class_integer_unsigned_create(tc);
	if (class && member->hex)
		bt_field_class_integer_set_preferred_display_base(class,
			BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

static bt_field_class *frame_class(bt_trace_class *tc, bool text)
{
	bt_field_class *class = text ? bt_field_class_string_create(tc) :
				       bt_field_class_structure_create(tc);
	int i;

	for (i = 0; class && !text && i < NR_MEMBERS; i++) {
		bt_field_class *member = member_class(tc, &members[i]);

		if (!member ||
		    bt_field_class_structure_append_member(class, members[i].name, member))
			BT_FIELD_CLASS_PUT_REF_AND_RESET(class);
		bt_field_class_put_ref(member);
	}
	return class;
}

bool frames_append(bt_trace_class *tc, bt_field_class *payload, unsigned int wanted, bool text)
{
	bool ok = true;
	int stack;

	for (stack = 0; ok && stack < NR_STACKS; stack++) {
		bt_field_class *frame, *array;

		if (!(wanted & 1u << stack))
			continue;
		frame = frame_class(tc, text);
		array = frame ? mip_sequence(tc, frame) : NULL;
		ok = array &&
		     !bt_field_class_structure_append_member(payload, added[stack], array);
		bt_field_class_put_ref(array);
		bt_field_class_put_ref(frame);
	}
	return ok;
}

static void put_number(bt_field *frame, int member, uint64_t value)
{
	bt_field_integer_unsigned_set_value(
		bt_field_structure_borrow_member_field_by_index(frame, (uint64_t)member), value);
}

static bool put_string(bt_field *frame, int member, const char *value)
{
	return !bt_field_string_set_value(
		bt_field_structure_borrow_member_field_by_index(frame, (uint64_t)member),
		value ? value : "");
}

static bool put_structure(bt_field *field, const struct kunwind_frame *frame,
			  const struct kunwind_function *function)
{
	static const struct kunwind_function none;
	bool named = function && function->name;

	if (!function)
		function = &none;
	put_number(field, ADDRESS, frame->address);
	put_number(field, OFFSET, named ? function->offset : 0);
	put_number(field, INLINED, function->inlined);
	put_number(field, LINE, function->line);
	put_number(field, OBJECT_ADDRESS, frame->object_address);
	return put_string(field, FUNCTION, function->name) &&
	       put_string(field, FILE_NAME, function->file) &&
	       put_string(field, OBJECT, frame->object ? kunwind_object_path(frame->object) : NULL) &&
	       put_string(field, WHY, named ? NULL : frame->why);
}

/* Similar to "kunwind show", but without the frame's address. */
static bool put_text(bt_field *field, const struct kunwind_frame *frame,
		     const struct kunwind_function *function)
{
	const char *object = frame->object ? kunwind_object_path(frame->object) : NULL;
	char text[8192];
	int n = 0;

	if (function && function->name && function->inlined)
		n = snprintf(text, sizeof(text), "%s (inlined)", function->name);
	else if (function && function->name)
		n = snprintf(text, sizeof(text), "%s+0x%" PRIx64 " (%s)", function->name,
			     function->offset, object ? object : "?");
	else if (object)
		n = snprintf(text, sizeof(text), "%s+0x%" PRIx64 " (%s)", object,
			     frame->object_address, frame->why ? frame->why : "?");
	else
		n = snprintf(text, sizeof(text), "0x%" PRIx64 " (%s)", frame->address,
			     frame->why ? frame->why : "?");
	if (function && function->file && n < (int)sizeof(text))
		snprintf(text + n, sizeof(text) - (size_t)n, function->line ? " at %s:%u" : " at %s",
			 function->file, function->line);
	return !bt_field_string_set_value(field, text);
}

bool frames_fill_text(bt_field *payload, int stack, const char *const *name, size_t nr)
{
	bt_field *array = bt_field_structure_borrow_member_field_by_name(payload, added[stack]);
	size_t i;

	if (bt_field_array_dynamic_set_length(array, nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (bt_field_string_set_value(
			bt_field_array_borrow_element_field_by_index(array, i), name[i]))
			return false;
	}
	return true;
}

bool frames_fill(bt_field *payload, int stack, bool text, const struct kunwind_frame *frame,
		 size_t nr)
{
	bt_field *array = bt_field_structure_borrow_member_field_by_name(payload, added[stack]);
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		at += frame[i].nr_functions ? frame[i].nr_functions : 1;
	if (bt_field_array_dynamic_set_length(array, at))
		return false;
	for (i = 0, at = 0; i < nr; i++) {
		unsigned int j = 0;

		do {
			bt_field *field = bt_field_array_borrow_element_field_by_index(array, at++);
			const struct kunwind_function *function =
				frame[i].nr_functions ? &frame[i].function[j] : NULL;

			if (!(text ? put_text : put_structure)(field, &frame[i], function))
				return false;
		} while (++j < frame[i].nr_functions);
	}
	return true;
}

// SPDX-License-Identifier: MIT
/*
 * show_json.c - print each event with its stack as JSON, one object a line
 *
 * kunwind-json(5) describes the format. Each event is printed to stdout when it
 * is read; nothing is kept. Addresses are strings, because many readers of JSON
 * have no 64-bit integers. Integer fields of events are numbers all the same.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "kunwind_core.h"
#include "show_field.h"
#include "show_json.h"
#include "tool.h"

static void print_key(const char *key)
{
	printf("\"%s\": ", key);
}

static void print_text(const char *key, const char *text)
{
	print_key(key);
	if (text)
		kunwind_tool_json_string(text);
	else
		fputs("null", stdout);
}

/* Prints a comma and a member; null for a negative number. */
static void print_number(const char *key, int64_t number)
{
	fputs(", ", stdout);
	print_key(key);
	if (number >= 0)
		printf("%" PRId64, number);
	else
		fputs("null", stdout);
}

static void print_real(double value)
{
	if (isfinite(value))
		printf("%.17g", value);
	else
		fputs("null", stdout);
}

/* Prints the value with all of its labels. */
static void print_enumeration(const bt_field *field, bool is_signed)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t i, nr = 0;
	int status;

	if (is_signed) {
		printf("{\"value\": %" PRId64 ", \"labels\": [",
		       bt_field_integer_signed_get_value(field));
		status = bt_field_enumeration_signed_get_mapping_labels(field, &labels, &nr);
	} else {
		printf("{\"value\": %" PRIu64 ", \"labels\": [",
		       bt_field_integer_unsigned_get_value(field));
		status = bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &nr);
	}
	for (i = 0; !status && i < nr; i++) {
		fputs(i ? ", " : "", stdout);
		kunwind_tool_json_string(labels[i]);
	}
	fputs("]}", stdout);
}

static void print_field(const bt_field *field);

static void print_array(const bt_field *field)
{
	uint64_t i, nr = bt_field_array_get_length(field);

	putchar('[');
	for (i = 0; i < nr; i++) {
		fputs(i ? ", " : "", stdout);
		print_field(bt_field_array_borrow_element_field_by_index_const(field, i));
	}
	putchar(']');
}

static void print_structure(const bt_field *structure, const char *const *but)
{
	const bt_field_class *class = bt_field_borrow_class_const(structure);
	uint64_t i, nr = bt_field_class_structure_get_member_count(class);
	const char *comma = "";

	putchar('{');
	for (i = 0; i < nr; i++) {
		const char *name = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(class, i));

		if (kunwind_field_is_left_out(name, but))
			continue;
		fputs(comma, stdout);
		kunwind_tool_json_string(name);
		fputs(": ", stdout);
		print_field(bt_field_structure_borrow_member_field_by_index_const(structure, i));
		comma = ", ";
	}
	putchar('}');
}

static void print_field(const bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);
	const bt_field *inner;

	if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION) {
		print_enumeration(field, false);
	} else if (type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION) {
		print_enumeration(field, true);
	} else if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) {
		printf("%" PRIu64, bt_field_integer_unsigned_get_value(field));
	} else if (type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) {
		printf("%" PRId64, bt_field_integer_signed_get_value(field));
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		kunwind_tool_json_string(kunwind_field_string(field));
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		fputs(bt_field_bool_get_value(field) ? "true" : "false", stdout);
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		printf("%" PRIu64, bt_field_bit_array_get_value_as_integer(field));
	} else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		print_real((double)bt_field_real_single_precision_get_value(field));
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		print_real(bt_field_real_double_precision_get_value(field));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		print_array(field);
	} else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		print_structure(field, NULL);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT)) {
		print_field(bt_field_variant_borrow_selected_option_field_const(field));
	} else {
		inner = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION) ?
			bt_field_option_borrow_field_const(field) : NULL;
		if (inner)
			print_field(inner);
		else
			fputs("null", stdout);
	}
}

void kunwind_json_event(uint64_t number, const struct kunwind_head *head, const bt_event *event,
			const char *const *but, const char *const *but_fields)
{
	const bt_field *context = bt_event_borrow_common_context_field_const(event);
	const bt_field *payload = bt_event_borrow_payload_field_const(event);

	printf("{\"number\": %" PRIu64, number);
	print_number("time_ns", head->time);
	fputs(", ", stdout);
	print_text("name", head->name);
	fputs(", ", stdout);
	print_text("command", head->comm);
	print_number("pid", head->pid);
	print_number("tid", head->tid);
	print_number("cpu", head->cpu);
	fputs(", \"context\": ", stdout);
	if (context)
		print_structure(context, but);
	else
		fputs("{}", stdout);
	fputs(", \"fields\": ", stdout);
	if (payload)
		print_structure(payload, but_fields);
	else
		fputs("{}", stdout);
}

/* Prints the source lines, the innermost inlined function first. */
static void print_sources(const struct kunwind_frame *frame)
{
	const char *comma = "";
	unsigned int i;

	fputs(", \"sources\": [", stdout);
	for (i = 0; i < frame->nr_functions; i++) {
		const struct kunwind_function *function = &frame->function[i];

		if (!function->file && !function->inlined)
			continue;
		printf("%s{", comma);
		print_text("function", function->name);
		printf(", \"inlined\": %s, ", function->inlined ? "true" : "false");
		print_text("file", function->file);
		print_number("line", function->line ? (int64_t)function->line : -1);
		putchar('}');
		comma = ", ";
	}
	putchar(']');
}

void kunwind_json_frame(const struct kunwind_frame *frame, bool kernel, const char *trust)
{
	const struct kunwind_function *function = kunwind_frame_function(frame);
	bool named = function && function->name;

	printf("{\"address\": \"0x%" PRIx64 "\", \"kernel\": %s, ", frame->address,
	       kernel ? "true" : "false");
	print_text("function", named ? function->name : NULL);
	print_number("offset", named ? (int64_t)function->offset : -1);
	fputs(", ", stdout);
	print_text("object", frame->object ? kunwind_object_path(frame->object) : NULL);
	fputs(", ", stdout);
	if (frame->object)
		printf("\"object_address\": \"0x%" PRIx64 "\", ", frame->object_address);
	else
		fputs("\"object_address\": null, ", stdout);
	print_text("build_id", frame->object && *kunwind_object_build_id(frame->object) ?
		   kunwind_object_build_id(frame->object) : NULL);
	fputs(", ", stdout);
	print_text("why", frame->why);
	fputs(", ", stdout);
	print_text("trust", trust);
	print_sources(frame);
	putchar('}');
}

void kunwind_json_stack(const struct kunwind_event_stack *stack, const char *reason)
{
	size_t i;

	fputs(", \"stack\": [", stdout);
	for (i = 0; i < stack->nr_kernel; i++) {
		fputs(i ? ", " : "", stdout);
		kunwind_json_frame(&stack->kernel[i], true, NULL);
	}
	for (i = 0; i < stack->nr; i++) {
		fputs(i || stack->nr_kernel ? ", " : "", stdout);
		kunwind_json_frame(&stack->frame[i], false,
				   stack->trust ? kunwind_trust_name(stack->trust[i]) : NULL);
	}
	fputs("], ", stdout);
	print_text("reason", reason);
	fputs("}\n", stdout);
}

// SPDX-License-Identifier: MIT
/*
 * show_field.c - print fields of events as text
 *
 * All kinds of field of libbabeltrace2 except BLOBs, which are printed as "?".
 * Integers are printed in the base that the trace prefers, enumerations as
 * labels and number.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "show_field.h"
#include "tool.h"
#include "trace/event.h"
#include "trace/field.h"

void kunwind_text_print(FILE *out, const char *text)
{
	kunwind_tool_text(out, text, "");
}

static void print_string(FILE *out, const char *s)
{
	putc('"', out);
	kunwind_tool_text(out, s, "\"\\");
	putc('"', out);
}

static void print_unsigned(FILE *out, const bt_field *field)
{
	uint64_t value = bt_field_integer_unsigned_get_value(field);

	switch (bt_field_class_integer_get_preferred_display_base(
			bt_field_borrow_class_const(field))) {
	case BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL:
		fprintf(out, "0x%" PRIx64, value);
		break;
	case BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_OCTAL:
		fprintf(out, "0%" PRIo64, value);
		break;
	default:
		fprintf(out, "%" PRIu64, value);
	}
}

static void print_signed(FILE *out, const bt_field *field)
{
	int64_t value = bt_field_integer_signed_get_value(field);

	if (bt_field_class_integer_get_preferred_display_base(
			bt_field_borrow_class_const(field)) ==
	    BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL)
		fprintf(out, "0x%" PRIx64, (uint64_t)value);
	else
		fprintf(out, "%" PRId64, value);
}

static void print_labels(FILE *out, const bt_field *field, bool is_signed)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t i, nr = 0;
	int status;

	putc('(', out);
	if (is_signed)
		status = bt_field_enumeration_signed_get_mapping_labels(field, &labels, &nr);
	else
		status = bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &nr);
	for (i = 0; !status && i < nr; i++) {
		fputs(i ? " | " : " ", out);
		print_string(out, labels[i]);
	}
	fputs(nr ? " : " : " ", out);
	if (is_signed)
		print_signed(out, field);
	else
		print_unsigned(out, field);
	fputs(" )", out);
}

static void print_array(FILE *out, const bt_field *field)
{
	uint64_t i, nr = bt_field_array_get_length(field);

	putc('[', out);
	for (i = 0; i < nr; i++) {
		fputs(i ? ", " : " ", out);
		kunwind_field_print(out,
				    bt_field_array_borrow_element_field_by_index_const(field, i));
	}
	fputs(" ]", out);
}

void kunwind_field_print(FILE *out, const bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);
	const bt_field *inner;

	if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION)
		print_labels(out, field, false);
	else if (type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION)
		print_labels(out, field, true);
	else if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)
		print_unsigned(out, field);
	else if (type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
		print_signed(out, field);
	else if (type == BT_FIELD_CLASS_TYPE_STRING)
		print_string(out, kunwind_field_string(field));
	else if (type == BT_FIELD_CLASS_TYPE_BOOL)
		fputs(bt_field_bool_get_value(field) ? "true" : "false", out);
	else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
		fprintf(out, "0x%" PRIx64, bt_field_bit_array_get_value_as_integer(field));
	else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		fprintf(out, "%g", (double)bt_field_real_single_precision_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		fprintf(out, "%g", bt_field_real_double_precision_get_value(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		print_array(out, field);
	else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		if (!kunwind_field_print_members(out, "", field, NULL))
			fputs("{ }", out);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		kunwind_field_print(out,
				    bt_field_variant_borrow_selected_option_field_const(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		inner = bt_field_option_borrow_field_const(field);
		if (inner)
			kunwind_field_print(out, inner);
		else
			fputs("none", out);
	} else
		putc('?', out);
}

bool kunwind_field_is_left_out(const char *name, const char *const *but)
{
	for (; but && *but; but++) {
		if (!strcmp(name, *but))
			return true;
	}
	return kunwind_field_is_length(name);
}

unsigned int kunwind_field_print_members(FILE *out, const char *before, const bt_field *structure,
					 const char *const *but)
{
	const bt_field_class *class = bt_field_borrow_class_const(structure);
	uint64_t i, nr = bt_field_class_structure_get_member_count(class);
	unsigned int printed = 0;

	for (i = 0; i < nr; i++) {
		const char *name = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(class, i));

		if (kunwind_field_is_left_out(name, but))
			continue;
		fputs(printed ? ", " : before, out);
		if (!printed++)
			fputs("{ ", out);
		kunwind_text_print(out, name);
		fputs(" = ", out);
		kunwind_field_print(out,
			bt_field_structure_borrow_member_field_by_index_const(structure, i));
	}
	if (printed)
		fputs(" }", out);
	return printed;
}

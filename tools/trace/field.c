// SPDX-License-Identifier: MIT
/*
 * field.c - values of fields, for programs that convert them
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "field.h"

bool kunwind_field_is_length(const char *name)
{
	size_t len = strlen(name);

	return *name == '_' && len > 7 && !strcmp(name + len - 7, "_length");
}

bool kunwind_field_is_hexadecimal(const bt_field *field)
{
	return bt_field_class_integer_get_preferred_display_base(
		       bt_field_borrow_class_const(field)) ==
	       BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;
}

void kunwind_field_labels(const bt_field *field, char *text, size_t size)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t i, nr = 0;
	bool is_signed = bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION;
	int64_t value = 0;
	size_t at = 0;
	int status;

	if (is_signed)
		status = bt_field_enumeration_signed_get_mapping_labels(field, &labels, &nr);
	else
		status = bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &nr);
	if (status || !nr) {
		kunwind_field_integer(field, &value);
		snprintf(text, size, is_signed ? "%" PRId64 : "%" PRIu64, value);
		return;
	}
	for (i = 0; i < nr && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", i ? " | " : "", labels[i]);
}

double kunwind_field_real(const bt_field *field)
{
	if (bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		return (double)bt_field_real_single_precision_get_value(field);
	return bt_field_real_double_precision_get_value(field);
}

const bt_field *kunwind_field_inner(const bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return bt_field_variant_borrow_selected_option_field_const(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return bt_field_option_borrow_field_const(field);
	return NULL;
}

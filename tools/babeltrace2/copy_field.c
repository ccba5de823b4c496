// SPDX-License-Identifier: MIT
/*
 * copy_field.c - copy the values of fields
 */
#include "copy_field.h"
#include "mip.h"

static bool copy_structure(bt_field *to, const bt_field *from)
{
	uint64_t i, nr = bt_field_class_structure_get_member_count(
		bt_field_borrow_class_const(from));

	for (i = 0; i < nr; i++) {
		if (!copy_field(bt_field_structure_borrow_member_field_by_index(to, i),
				bt_field_structure_borrow_member_field_by_index_const(from, i)))
			return false;
	}
	return true;
}

static bool copy_array(bt_field *to, const bt_field *from)
{
	uint64_t i, nr = bt_field_array_get_length(from);

	if (bt_field_class_type_is(bt_field_get_class_type(from),
				   BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY) &&
	    bt_field_array_dynamic_set_length(to, nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (!copy_field(bt_field_array_borrow_element_field_by_index(to, i),
				bt_field_array_borrow_element_field_by_index_const(from, i)))
			return false;
	}
	return true;
}

static bool copy_option(bt_field *to, const bt_field *from)
{
	const bt_field *inner = bt_field_option_borrow_field_const(from);

	bt_field_option_set_has_field(to, inner != NULL);
	return !inner || copy_field(bt_field_option_borrow_field(to), inner);
}

static bool copy_variant(bt_field *to, const bt_field *from)
{
	if (bt_field_variant_select_option_by_index(to,
			bt_field_variant_get_selected_option_index(from)))
		return false;
	return copy_field(bt_field_variant_borrow_selected_option_field(to),
			  bt_field_variant_borrow_selected_option_field_const(from));
}

/* Uses the length, because the text of an empty string may be stale. */
static bool copy_string(bt_field *to, const bt_field *from)
{
	bt_field_string_clear(to);
	return !bt_field_string_append_with_length(to, bt_field_string_get_value(from),
						   bt_field_string_get_length(from));
}

bool copy_field(bt_field *to, const bt_field *from)
{
	bt_field_class_type type = bt_field_get_class_type(from);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		bt_field_integer_unsigned_set_value(to, bt_field_integer_unsigned_get_value(from));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		bt_field_integer_signed_set_value(to, bt_field_integer_signed_get_value(from));
	else if (type == BT_FIELD_CLASS_TYPE_STRING)
		return copy_string(to, from);
	else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		return copy_structure(to, from);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return copy_array(to, from);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return copy_option(to, from);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return copy_variant(to, from);
	else if (type == BT_FIELD_CLASS_TYPE_BOOL)
		bt_field_bool_set_value(to, bt_field_bool_get_value(from));
	else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
		bt_field_bit_array_set_value_as_integer(to,
			bt_field_bit_array_get_value_as_integer(from));
	else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		bt_field_real_single_precision_set_value(to,
			bt_field_real_single_precision_get_value(from));
	else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		bt_field_real_double_precision_set_value(to,
			bt_field_real_double_precision_get_value(from));
	else
		return mip_copy_blob(to, from);
	return true;
}

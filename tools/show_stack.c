// SPDX-License-Identifier: MIT
/*
 * show_stack.c - the addresses of an event's call stack
 */
#include "show_event.h"
#include "show_stack.h"

static bool holds_addresses(const bt_field *array)
{
	const bt_field_class *element;

	if (!array || !bt_field_class_type_is(bt_field_get_class_type(array),
					      BT_FIELD_CLASS_TYPE_ARRAY))
		return false;
	element = bt_field_class_array_borrow_element_field_class_const(
		bt_field_borrow_class_const(array));
	return bt_field_class_type_is(bt_field_class_get_type(element),
				      BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

size_t kunwind_stack_read(const bt_event *event, const char *name, uint64_t *address)
{
	const bt_field *array = kunwind_event_context(event, name);
	uint64_t i, nr;

	if (!holds_addresses(array))
		return 0;
	nr = bt_field_array_get_length(array);
	if (nr > KUNWIND_STACK_MAX)
		nr = KUNWIND_STACK_MAX;
	for (i = 0; i < nr; i++)
		address[i] = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(array, i));
	/* LTTng ends a stack with ULONG_MAX, which is no frame */
	if (nr && address[nr - 1] == UINT64_MAX)
		nr--;
	return nr;
}

// SPDX-License-Identifier: MIT
/*
 * stack.c - read the addresses of an event's call stack
 */
#include <kunwind/abi.h>
#include <string.h>

#include "event.h"
#include "own_events.h"
#include "stack.h"
#include "ust.h"

static const bt_field_class *member(const bt_field_class *structure, const char *name)
{
	const bt_field_class_structure_member *found =
		bt_field_class_structure_borrow_member_by_name_const(structure, name);

	return found ? bt_field_class_structure_member_borrow_field_class_const(found) : NULL;
}

bool kunwind_payload_is_whole(const bt_field_class *payload)
{
	return payload && member(payload, "addresses") && member(payload, "trust") &&
	       member(payload, "reason");
}

bool kunwind_event_is_whole(const bt_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);

	return payload && kunwind_payload_is_whole(bt_field_borrow_class_const(payload));
}

bool kunwind_event_defines(const bt_event *event)
{
	struct kunwind_ust_value ust;

	return kunwind_event_is_whole(event) || (kunwind_ust_value(event, &ust) && ust.text) ||
	       !strcmp(kunwind_event_name(event), KUNWIND_KERNEL_STACK_EVENT);
}

/* Returns the stack's field: of the payload, else a context. */
static const bt_field *stack_field(const bt_event *event, const char *name)
{
	const bt_field *field;

	if (!strcmp(name, "callstack_user") && kunwind_event_is_whole(event))
		return kunwind_event_field(event, "addresses");
	field = kunwind_event_field(event, name);
	return field ? field : kunwind_event_context(event, name);
}

/* Returns whether a field (may be NULL) is an array of unsigned integers. */
static bool holds_numbers(const bt_field *array)
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
	const bt_field *array = stack_field(event, name);
	uint64_t i, nr;

	if (!holds_numbers(array))
		return 0;
	nr = bt_field_array_get_length(array);
	if (nr > KUNWIND_STACK_MAX)
		nr = KUNWIND_STACK_MAX;
	for (i = 0; i < nr; i++)
		address[i] = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(array, i));
	/* LTTng ends a stack with ULONG_MAX, which is not a frame */
	if (nr && address[nr - 1] == UINT64_MAX)
		nr--;
	return nr;
}

bool kunwind_stack_trust(const bt_event *event, uint8_t *trust, size_t nr)
{
	const bt_field *array;
	uint64_t value;
	size_t i;

	if (!kunwind_event_is_whole(event))
		return false;
	array = kunwind_event_field(event, "trust");
	if (!holds_numbers(array))
		return false;
	if (!bt_field_array_get_length(array)) {
		for (i = 0; i < nr; i++)
			trust[i] = i ? KUNWIND_TRUST_CFI : KUNWIND_TRUST_REGISTERS;
		return true;
	}
	if (bt_field_array_get_length(array) < nr)
		return false;
	for (i = 0; i < nr; i++) {
		value = bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(array, i));
		trust[i] = value < KUNWIND_NR_TRUSTS ? (uint8_t)value : KUNWIND_NR_TRUSTS;
	}
	return true;
}

// SPDX-License-Identifier: MIT
/*
 * ust_context.c - the context of an event of LTTng-UST that is its stack, and kinds of its events
 */
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "ust.h"

#define ID_DIGITS	16

static const bt_field *context_of(const bt_event *event)
{
	const bt_field *field = kunwind_event_context(event, KUNWIND_UST_CONTEXT);

	if (!field)
		field = kunwind_event_context(event, KUNWIND_UST_CONTEXT_2);
	if (!field || !bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_VARIANT))
		return NULL;
	return bt_field_variant_borrow_selected_option_field_const(field);
}

bool kunwind_ust_value(const bt_event *event, struct kunwind_ust_value *value)
{
	const bt_field *field = context_of(event);
	const char *text = kunwind_field_string(field);
	int64_t id;
	char *end;

	value->text = NULL;
	if (kunwind_field_integer(field, &id)) {
		value->id = (uint64_t)id;
		return true;
	}
	if (!text || strspn(text, "0123456789abcdef") != ID_DIGITS || text[ID_DIGITS] != ' ')
		return false;
	value->id = strtoull(text, &end, 16);
	value->text = end + 1;
	return true;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

bool kunwind_ust_is_mapping(const char *name)
{
	return begins(name, "lttng_ust_statedump:") || begins(name, "lttng_ust_lib:");
}

// SPDX-License-Identifier: MIT
/*
 * perfetto_arguments.c - the fields of an event as debug annotations
 *
 * Names of fields and labels of enumerations are interned. Other texts are
 * written where they occur, so memory does not grow with their number.
 */
#include <string.h>

#include "perfetto.h"
#include "trace/event.h"
#include "trace/field.h"
#include "trace/syscall.h"

static void put_labels(struct perfetto_interned *interned, struct protobuf *out,
		       const bt_field *field)
{
	char text[256];

	kunwind_field_labels(field, text, sizeof(text));
	protobuf_uint(out, ANNOTATION_STRING_IID,
		      perfetto_string(interned, INTERNED_ANNOTATION_STRING,
				      calls_string(interned->calls, text)));
}

static void put_value(struct perfetto_interned *interned, struct protobuf *out,
		      const bt_field *field);

static void put_array(struct perfetto_interned *interned, struct protobuf *out,
		      const bt_field *field)
{
	uint64_t i, nr = bt_field_array_get_length(field);
	size_t at;

	for (i = 0; i < nr; i++) {
		at = protobuf_begin(out, ANNOTATION_ARRAY_VALUES);
		put_value(interned, out,
			  bt_field_array_borrow_element_field_by_index_const(field, i));
		protobuf_end(out, at);
	}
}

/*
 * Writes each member of a structure as field @number, which is an annotation. @event:
 * whose payload the structure is; NULL: it is a field.
 */
static void put_members(struct perfetto_interned *interned, struct protobuf *out,
			unsigned int number, const bt_field *structure, const bt_event *event)
{
	const bt_field_class *class = bt_field_borrow_class_const(structure);
	uint64_t i, nr = bt_field_class_structure_get_member_count(class);
	size_t at;

	for (i = 0; i < nr; i++) {
		const char *name = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(class, i));
		char text[280];

		if (kunwind_field_is_length(name))
			continue;
		if (event)
			name = kunwind_syscall_field(event, name, text, sizeof(text));
		at = protobuf_begin(out, number);
		protobuf_uint(out, ANNOTATION_NAME_IID,
			      perfetto_string(interned, INTERNED_ANNOTATION_NAME,
					      calls_string(interned->calls, name)));
		put_value(interned, out,
			  bt_field_structure_borrow_member_field_by_index_const(structure, i));
		protobuf_end(out, at);
	}
}

static void put_value(struct perfetto_interned *interned, struct protobuf *out,
		      const bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);
	const bt_field *inner = kunwind_field_inner(field);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ENUMERATION))
		put_labels(interned, out, field);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		protobuf_uint(out, kunwind_field_is_hexadecimal(field) ? ANNOTATION_POINTER :
			      ANNOTATION_UINT, bt_field_integer_unsigned_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
		protobuf_uint(out, ANNOTATION_INT,
			      (uint64_t)bt_field_integer_signed_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_STRING)
		protobuf_text(out, ANNOTATION_STRING, kunwind_field_string(field));
	else if (type == BT_FIELD_CLASS_TYPE_BOOL)
		protobuf_uint(out, ANNOTATION_BOOL, !!bt_field_bool_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY)
		protobuf_uint(out, ANNOTATION_POINTER, bt_field_bit_array_get_value_as_integer(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_REAL))
		protobuf_double(out, ANNOTATION_DOUBLE, kunwind_field_real(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		put_array(interned, out, field);
	else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		put_members(interned, out, ANNOTATION_DICT_ENTRIES, field, NULL);
	else if (inner)
		put_value(interned, out, inner);
}

void perfetto_arguments(struct perfetto_interned *interned, struct protobuf *out,
			const bt_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);

	if (payload)
		put_members(interned, out, EVENT_DEBUG_ANNOTATIONS, payload, event);
}

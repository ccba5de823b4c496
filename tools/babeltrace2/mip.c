// SPDX-License-Identifier: MIT
/*
 * mip.c - hide the differences between versions of babeltrace2's protocol
 *
 * Functions that only one version has are called only here, and in
 * trace/history.c to get the identity of a trace.
 */
#include "mip.h"

#include <stdlib.h>
#include <string.h>

#if MIP_MOST >= 1

/* Returns whether the graph has version 0 of the protocol. */
static bool is_first(const bt_field_class *class)
{
	return !bt_field_class_get_graph_mip_version(class);
}

bt_field_class *mip_sequence(bt_trace_class *tc, bt_field_class *element)
{
	return is_first(element) ? bt_field_class_array_dynamic_create(tc, element, NULL) :
		bt_field_class_array_dynamic_without_length_field_location_create(tc, element);
}

/* A location belongs to one trace class, as a field class does. */
static const bt_field_location *copy_location(bt_trace_class *tc, const bt_field_location *from)
{
	uint64_t i, nr = bt_field_location_get_item_count(from);
	const char **items = calloc(nr + 1, sizeof(*items));
	const bt_field_location *to;

	if (!items)
		return NULL;
	for (i = 0; i < nr; i++)
		items[i] = bt_field_location_get_item_by_index(from, i);
	to = bt_field_location_create(tc, bt_field_location_get_root_scope(from), items, nr);
	free(items);
	return to;
}

/* Returns the location of a class's length or selector; NULL: it has none. */
static const bt_field_location *location_of(const bt_field_class *from)
{
	bt_field_class_type type = bt_field_class_get_type(from);

	if (type == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD)
		return bt_field_class_array_dynamic_with_length_field_borrow_length_field_location_const(
			from);
	if (type == BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB_WITH_LENGTH_FIELD)
		return bt_field_class_blob_dynamic_with_length_field_borrow_length_field_location_const(
			from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION_WITH_SELECTOR_FIELD))
		return bt_field_class_option_with_selector_field_borrow_selector_field_location_const(
			from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT_WITH_SELECTOR_FIELD))
		return bt_field_class_variant_with_selector_field_borrow_selector_field_location_const(
			from);
	return NULL;
}

/* Copies a class that has its length or selector at @at. */
static bt_field_class *copy_located(bt_trace_class *tc, const bt_field_class *from,
				    bt_field_class *inner, const bt_field_location *at)
{
	bt_field_class *to;

	switch (bt_field_class_get_type(from)) {
	case BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD:
		return bt_field_class_array_dynamic_with_length_field_location_create(tc, inner, at);
	case BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB_WITH_LENGTH_FIELD:
		return bt_field_class_blob_dynamic_with_length_field_location_create(tc, at);
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_BOOL_SELECTOR_FIELD:
		to = bt_field_class_option_with_selector_field_location_bool_create(tc, inner, at);
		if (to)
			bt_field_class_option_with_selector_field_bool_set_selector_is_reversed(to,
				bt_field_class_option_with_selector_field_bool_selector_is_reversed(from));
		return to;
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
		return bt_field_class_option_with_selector_field_location_integer_unsigned_create(tc,
			inner, at,
	bt_field_class_option_with_selector_field_integer_unsigned_borrow_selector_ranges_const(from));
	case BT_FIELD_CLASS_TYPE_OPTION_WITH_SIGNED_INTEGER_SELECTOR_FIELD:
		return bt_field_class_option_with_selector_field_location_integer_signed_create(tc,
			inner, at,
	bt_field_class_option_with_selector_field_integer_signed_borrow_selector_ranges_const(from));
	case BT_FIELD_CLASS_TYPE_VARIANT_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
		return bt_field_class_variant_with_selector_field_location_integer_unsigned_create(tc,
			at);
	case BT_FIELD_CLASS_TYPE_VARIANT_WITH_SIGNED_INTEGER_SELECTOR_FIELD:
		return bt_field_class_variant_with_selector_field_location_integer_signed_create(tc, at);
	default:
		return NULL;
	}
}

/* Copies a class without length or selector field. */
static bt_field_class *copy_alone(bt_trace_class *tc, const bt_field_class *from,
				  bt_field_class *inner)
{
	switch (bt_field_class_get_type(from)) {
	case BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITHOUT_LENGTH_FIELD:
		return mip_sequence(tc, inner);
	case BT_FIELD_CLASS_TYPE_OPTION_WITHOUT_SELECTOR_FIELD:
		return bt_field_class_option_without_selector_field_location_create(tc, inner);
	case BT_FIELD_CLASS_TYPE_VARIANT_WITHOUT_SELECTOR_FIELD:
		return bt_field_class_variant_without_selector_field_location_create(tc);
	case BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB_WITHOUT_LENGTH_FIELD:
		return bt_field_class_blob_dynamic_without_length_field_location_create(tc);
	case BT_FIELD_CLASS_TYPE_STATIC_BLOB:
		return bt_field_class_blob_static_create(tc,
							 bt_field_class_blob_static_get_length(from));
	default:
		return NULL;
	}
}

static bt_field_class *copy_bit_array(bt_trace_class *tc, const bt_field_class *from)
{
	bt_field_class *to = bt_field_class_bit_array_create(tc,
						bt_field_class_bit_array_get_length(from));
	uint64_t i, nr = bt_field_class_bit_array_get_flag_count(from);

	for (i = 0; to && i < nr; i++) {
		const bt_field_class_bit_array_flag *flag =
			bt_field_class_bit_array_borrow_flag_by_index_const(from, i);

		if (bt_field_class_bit_array_add_flag(to,
				bt_field_class_bit_array_flag_get_label(flag),
				bt_field_class_bit_array_flag_borrow_index_ranges_const(flag)))
			BT_FIELD_CLASS_PUT_REF_AND_RESET(to);
	}
	return to;
}

bool mip_copy_class(bt_trace_class *tc, const bt_field_class *from, bt_field_class *inner,
		    bt_field_class **to)
{
	bt_field_class_type type = bt_field_class_get_type(from);
	const bt_field_location *at;

	if (is_first(from))
		return false;
	if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		*to = copy_bit_array(tc, from);
		return true;
	}
	if (!bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY) &&
	    !bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION) &&
	    !bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT) &&
	    !bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BLOB))
		return false;
	at = location_of(from);
	if (at) {
		at = copy_location(tc, at);
		*to = at ? copy_located(tc, from, inner, at) : NULL;
		bt_field_location_put_ref(at);
	} else {
		*to = copy_alone(tc, from, inner);
	}
	if (*to && bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BLOB) &&
	    bt_field_class_blob_set_media_type(*to, bt_field_class_blob_get_media_type(from)))
		BT_FIELD_CLASS_PUT_REF_AND_RESET(*to);
	return true;
}

bool mip_copy_blob(bt_field *to, const bt_field *from)
{
	bt_field_class_type type = bt_field_get_class_type(from);
	uint64_t length;

	if (!bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BLOB))
		return false;
	length = bt_field_blob_get_length(from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB) &&
	    bt_field_blob_dynamic_set_length(to, length))
		return false;
	if (length)
		memcpy(bt_field_blob_get_data(to), bt_field_blob_get_data_const(from), length);
	return true;
}

static bool copy_origin(bt_clock_class *to, const bt_clock_class *from)
{
	if (!bt_clock_class_origin_is_known(from))
		bt_clock_class_set_origin_unknown(to);
	else if (bt_clock_class_origin_is_unix_epoch(from))
		bt_clock_class_set_origin_unix_epoch(to);
	else
		return !bt_clock_class_set_origin(to, bt_clock_class_get_origin_namespace(from),
						  bt_clock_class_get_origin_name(from),
						  bt_clock_class_get_origin_uid(from));
	return true;
}

/* Copies namespace and text, as far as set. Is false if out of memory. */
#define COPY_IDENTITY(kind, to, from) ({						\
	const char *space_ = bt_##kind##_get_namespace(from);				\
	const char *uid_ = bt_##kind##_get_uid(from);					\
	(!space_ || !bt_##kind##_set_namespace(to, space_)) &&				\
	(!uid_ || !bt_##kind##_set_uid(to, uid_)); })

static bool copy_clock_class_1(bt_clock_class *to, const bt_clock_class *from)
{
	uint64_t cycles;

	if (bt_clock_class_get_opt_precision(from, &cycles) == BT_PROPERTY_AVAILABILITY_AVAILABLE)
		bt_clock_class_set_precision(to, cycles);
	if (bt_clock_class_get_accuracy(from, &cycles) == BT_PROPERTY_AVAILABILITY_AVAILABLE)
		bt_clock_class_set_accuracy(to, cycles);
	return copy_origin(to, from) && COPY_IDENTITY(clock_class, to, from);
}

static bool clock_is_first(const bt_clock_class *clock)
{
	return !bt_clock_class_get_graph_mip_version(clock);
}

static bool is_of_first(const bt_trace_class *class)
{
	return !bt_trace_class_get_graph_mip_version(class);
}

bool mip_copy_stream_class(bt_stream_class *to, const bt_stream_class *from)
{
	return is_of_first(bt_stream_class_borrow_trace_class_const(from)) ||
	       COPY_IDENTITY(stream_class, to, from);
}

bool mip_copy_event_class(bt_event_class *to, const bt_event_class *from)
{
	const bt_stream_class *stream = bt_event_class_borrow_stream_class_const(from);

	return is_of_first(bt_stream_class_borrow_trace_class_const(stream)) ||
	       COPY_IDENTITY(event_class, to, from);
}

static bool copy_trace_1(bt_trace *to, const bt_trace *from)
{
	return COPY_IDENTITY(trace, to, from);
}

static bool trace_is_first(const bt_trace *trace)
{
	return is_of_first(bt_trace_borrow_class_const(trace));
}

#else /* babeltrace2 2.0 */

bt_field_class *mip_sequence(bt_trace_class *tc, bt_field_class *element)
{
	return bt_field_class_array_dynamic_create(tc, element, NULL);
}

bool mip_copy_class(bt_trace_class *tc, const bt_field_class *from, bt_field_class *inner,
		    bt_field_class **to)
{
	(void)tc, (void)from, (void)inner, (void)to;
	return false;
}

bool mip_copy_blob(bt_field *to, const bt_field *from)
{
	(void)to, (void)from;
	return false;
}

bool mip_copy_stream_class(bt_stream_class *to, const bt_stream_class *from)
{
	(void)to, (void)from;
	return true;
}

bool mip_copy_event_class(bt_event_class *to, const bt_event_class *from)
{
	(void)to, (void)from;
	return true;
}

#define clock_is_first(clock) true
#define trace_is_first(trace) true
#define copy_clock_class_1(to, from) true
#define copy_trace_1(to, from) true

#endif

bool mip_copy_clock_class(bt_clock_class *to, const bt_clock_class *from)
{
	bt_uuid uuid;

	if (!clock_is_first(from))
		return copy_clock_class_1(to, from);
	bt_clock_class_set_precision(to, bt_clock_class_get_precision(from));
	bt_clock_class_set_origin_is_unix_epoch(to, bt_clock_class_origin_is_unix_epoch(from));
	uuid = bt_clock_class_get_uuid(from);
	if (uuid)
		bt_clock_class_set_uuid(to, uuid);
	return true;
}

bool mip_copy_trace(bt_trace *to, const bt_trace *from)
{
	bt_uuid uuid;

	if (!trace_is_first(from))
		return copy_trace_1(to, from);
	uuid = bt_trace_get_uuid(from);
	if (uuid)
		bt_trace_set_uuid(to, uuid);
	return true;
}

// SPDX-License-Identifier: MIT
/*
 * copy_class.c - copy field classes to another trace class
 *
 * A field class belongs to one trace class. A class with a length or selector
 * names it by a path, which leads to another class of the input. The map of
 * copies then gives the copy of that class. In version 1 of babeltrace2's
 * protocol, locations take the place of paths (mip.c).
 */
#include "copy_class.h"
#include "mip.h"

static const bt_field_class *scope_class(const struct copy_scopes *scopes,
					 bt_field_path_scope scope)
{
	switch (scope) {
	case BT_FIELD_PATH_SCOPE_PACKET_CONTEXT:
		return scopes->packet_context;
	case BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT:
		return scopes->common_context;
	case BT_FIELD_PATH_SCOPE_EVENT_SPECIFIC_CONTEXT:
		return scopes->specific_context;
	case BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD:
		return scopes->payload;
	}
	return NULL;
}

/* Returns the class to which one item of a path leads. */
static const bt_field_class *step(const bt_field_class *from, const bt_field_path_item *item)
{
	bt_field_class_type type = bt_field_class_get_type(from);
	uint64_t index;

	if (bt_field_path_item_get_type(item) == BT_FIELD_PATH_ITEM_TYPE_CURRENT_ARRAY_ELEMENT)
		return bt_field_class_array_borrow_element_field_class_const(from);
	if (bt_field_path_item_get_type(item) != BT_FIELD_PATH_ITEM_TYPE_INDEX)
		return bt_field_class_option_borrow_field_class_const(from);
	index = bt_field_path_item_index_get_index(item);
	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		return bt_field_class_structure_member_borrow_field_class_const(
			bt_field_class_structure_borrow_member_by_index_const(from, index));
	return bt_field_class_variant_option_borrow_field_class_const(
		bt_field_class_variant_borrow_option_by_index_const(from, index));
}

/* Returns the copy of the class at the end of a path; NULL: none was made. */
static bt_field_class *at_path(const struct copy_classes *classes, const struct copy_scopes *scopes,
			       const bt_field_path *path)
{
	const bt_field_class *class = scope_class(scopes, bt_field_path_get_root_scope(path));
	uint64_t i, nr = bt_field_path_get_item_count(path);

	for (i = 0; class && i < nr; i++)
		class = step(class, bt_field_path_borrow_item_by_index_const(path, i));
	return class ? ptrmap_find(&classes->made, class) : NULL;
}

/* Copies the properties of an integer class. @to may be NULL. */
static void copy_integer(bt_field_class *to, const bt_field_class *from)
{
	if (!to)
		return;
	bt_field_class_integer_set_field_value_range(to,
		bt_field_class_integer_get_field_value_range(from));
	bt_field_class_integer_set_preferred_display_base(to,
		bt_field_class_integer_get_preferred_display_base(from));
}

static bt_field_class *copy_unsigned_enumeration(bt_trace_class *tc, const bt_field_class *from)
{
	bt_field_class *to = bt_field_class_enumeration_unsigned_create(tc);
	uint64_t i, nr = bt_field_class_enumeration_get_mapping_count(from);

	copy_integer(to, from);
	for (i = 0; to && i < nr; i++) {
		const bt_field_class_enumeration_unsigned_mapping *mapping =
			bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(from, i);

		if (bt_field_class_enumeration_unsigned_add_mapping(to,
			bt_field_class_enumeration_mapping_get_label(
			bt_field_class_enumeration_unsigned_mapping_as_mapping_const(mapping)),
			bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(mapping)))
			BT_FIELD_CLASS_PUT_REF_AND_RESET(to);
	}
	return to;
}

static bt_field_class *copy_signed_enumeration(bt_trace_class *tc, const bt_field_class *from)
{
	bt_field_class *to = bt_field_class_enumeration_signed_create(tc);
	uint64_t i, nr = bt_field_class_enumeration_get_mapping_count(from);

	copy_integer(to, from);
	for (i = 0; to && i < nr; i++) {
		const bt_field_class_enumeration_signed_mapping *mapping =
			bt_field_class_enumeration_signed_borrow_mapping_by_index_const(from, i);

		if (bt_field_class_enumeration_signed_add_mapping(to,
			bt_field_class_enumeration_mapping_get_label(
			bt_field_class_enumeration_signed_mapping_as_mapping_const(mapping)),
			bt_field_class_enumeration_signed_mapping_borrow_ranges_const(mapping)))
			BT_FIELD_CLASS_PUT_REF_AND_RESET(to);
	}
	return to;
}

/*
 * Copies members in order, because a member may have an earlier one as its
 * length or selector.
 */
static bt_field_class *copy_structure(struct copy_classes *classes,
				      const struct copy_scopes *scopes, const bt_field_class *from)
{
	bt_field_class *to = bt_field_class_structure_create(classes->to);
	uint64_t i, nr = bt_field_class_structure_get_member_count(from);

	for (i = 0; to && i < nr; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(from, i);
		bt_field_class *copy = copy_class(classes, scopes,
			bt_field_class_structure_member_borrow_field_class_const(member));

		if (!copy || bt_field_class_structure_append_member(to,
				bt_field_class_structure_member_get_name(member), copy))
			BT_FIELD_CLASS_PUT_REF_AND_RESET(to);
		bt_field_class_put_ref(copy);
		if (to)
			bt_field_class_structure_member_set_user_attributes(
				bt_field_class_structure_borrow_member_by_index(to, i),
				bt_field_class_structure_member_borrow_user_attributes_const(member));
	}
	return to;
}

static bt_field_class *copy_array(struct copy_classes *classes, const struct copy_scopes *scopes,
				  const bt_field_class *from)
{
	bt_field_class_type type = bt_field_class_get_type(from);
	bt_field_class *element, *length = NULL, *to = NULL;

	element = copy_class(classes, scopes,
			     bt_field_class_array_borrow_element_field_class_const(from));
	if (!element)
		return NULL;
	if (type == BT_FIELD_CLASS_TYPE_STATIC_ARRAY) {
		to = bt_field_class_array_static_create(classes->to, element,
			bt_field_class_array_static_get_length(from));
	} else if (!mip_copy_class(classes->to, from, element, &to)) {
		bool has_length = type == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD;

		if (has_length)
			length = at_path(classes, scopes,
		bt_field_class_array_dynamic_with_length_field_borrow_length_field_path_const(from));
		if (!has_length || length)
			to = bt_field_class_array_dynamic_create(classes->to, element, length);
	}
	bt_field_class_put_ref(element);
	return to;
}

static bt_field_class *copy_option(struct copy_classes *classes, const struct copy_scopes *scopes,
				   const bt_field_class *from)
{
	bt_field_class_type type = bt_field_class_get_type(from);
	bt_field_class *inner, *selector = NULL, *to = NULL;

	inner = copy_class(classes, scopes, bt_field_class_option_borrow_field_class_const(from));
	if (!inner)
		return NULL;
	if (mip_copy_class(classes->to, from, inner, &to)) {
		bt_field_class_put_ref(inner);
		return to;
	}
	if (type != BT_FIELD_CLASS_TYPE_OPTION_WITHOUT_SELECTOR_FIELD)
		selector = at_path(classes, scopes,
			bt_field_class_option_with_selector_field_borrow_selector_field_path_const(from));
	if (type == BT_FIELD_CLASS_TYPE_OPTION_WITHOUT_SELECTOR_FIELD) {
		to = bt_field_class_option_without_selector_create(classes->to, inner);
	} else if (!selector) {
		/* cannot happen: the selector was copied before */
	} else if (type == BT_FIELD_CLASS_TYPE_OPTION_WITH_BOOL_SELECTOR_FIELD) {
		to = bt_field_class_option_with_selector_field_bool_create(classes->to, inner, selector);
		if (to)
			bt_field_class_option_with_selector_field_bool_set_selector_is_reversed(to,
				bt_field_class_option_with_selector_field_bool_selector_is_reversed(from));
	} else if (type == BT_FIELD_CLASS_TYPE_OPTION_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD) {
		to = bt_field_class_option_with_selector_field_integer_unsigned_create(classes->to,
			inner, selector,
	bt_field_class_option_with_selector_field_integer_unsigned_borrow_selector_ranges_const(from));
	} else {
		to = bt_field_class_option_with_selector_field_integer_signed_create(classes->to,
			inner, selector,
	bt_field_class_option_with_selector_field_integer_signed_borrow_selector_ranges_const(from));
	}
	bt_field_class_put_ref(inner);
	return to;
}

/* Appends option @i of @from to the variant @to. Returns 0 or a status. */
static int append_option(bt_field_class *to, const bt_field_class *from, uint64_t i,
			 const char *name, bt_field_class *copy)
{
	switch (bt_field_class_get_type(from)) {
	case BT_FIELD_CLASS_TYPE_VARIANT_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
		return bt_field_class_variant_with_selector_field_integer_unsigned_append_option(to,
			name, copy,
		bt_field_class_variant_with_selector_field_integer_unsigned_option_borrow_ranges_const(
		bt_field_class_variant_with_selector_field_integer_unsigned_borrow_option_by_index_const(
				from, i)));
	case BT_FIELD_CLASS_TYPE_VARIANT_WITH_SIGNED_INTEGER_SELECTOR_FIELD:
		return bt_field_class_variant_with_selector_field_integer_signed_append_option(to,
			name, copy,
		bt_field_class_variant_with_selector_field_integer_signed_option_borrow_ranges_const(
		bt_field_class_variant_with_selector_field_integer_signed_borrow_option_by_index_const(
				from, i)));
	default:
		return bt_field_class_variant_without_selector_append_option(to, name, copy);
	}
}

static bt_field_class *variant_without_options(struct copy_classes *classes,
					       const struct copy_scopes *scopes,
					       const bt_field_class *from)
{
	bt_field_class *selector = NULL, *to;

	if (mip_copy_class(classes->to, from, NULL, &to))
		return to;
	if (bt_field_class_get_type(from) != BT_FIELD_CLASS_TYPE_VARIANT_WITHOUT_SELECTOR_FIELD) {
		selector = at_path(classes, scopes,
			bt_field_class_variant_with_selector_field_borrow_selector_field_path_const(from));
		if (!selector)
			return NULL;
	}
	return bt_field_class_variant_create(classes->to, selector);
}

static bt_field_class *copy_variant(struct copy_classes *classes, const struct copy_scopes *scopes,
				    const bt_field_class *from)
{
	uint64_t i, nr = bt_field_class_variant_get_option_count(from);
	bt_field_class *to = variant_without_options(classes, scopes, from);

	for (i = 0; to && i < nr; i++) {
		const bt_field_class_variant_option *option =
			bt_field_class_variant_borrow_option_by_index_const(from, i);
		bt_field_class *copy = copy_class(classes, scopes,
			bt_field_class_variant_option_borrow_field_class_const(option));

		if (!copy || append_option(to, from, i,
					   bt_field_class_variant_option_get_name(option), copy))
			BT_FIELD_CLASS_PUT_REF_AND_RESET(to);
		bt_field_class_put_ref(copy);
	}
	return to;
}

static bt_field_class *copy_kind(struct copy_classes *classes, const struct copy_scopes *scopes,
				 const bt_field_class *from)
{
	bt_field_class_type type = bt_field_class_get_type(from);
	bt_field_class *to;

	/* most specific first: an enumeration is an integer, too */
	if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION)
		return copy_unsigned_enumeration(classes->to, from);
	if (type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION)
		return copy_signed_enumeration(classes->to, from);
	if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER ||
	    type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) {
		to = type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER ?
			bt_field_class_integer_unsigned_create(classes->to) :
			bt_field_class_integer_signed_create(classes->to);
		copy_integer(to, from);
		return to;
	}
	if (type == BT_FIELD_CLASS_TYPE_BOOL)
		return bt_field_class_bool_create(classes->to);
	if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		if (!mip_copy_class(classes->to, from, NULL, &to))
			to = bt_field_class_bit_array_create(classes->to,
							     bt_field_class_bit_array_get_length(from));
		return to;
	}
	if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		return bt_field_class_real_single_precision_create(classes->to);
	if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		return bt_field_class_real_double_precision_create(classes->to);
	if (type == BT_FIELD_CLASS_TYPE_STRING)
		return bt_field_class_string_create(classes->to);
	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		return copy_structure(classes, scopes, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return copy_array(classes, scopes, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return copy_option(classes, scopes, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return copy_variant(classes, scopes, from);
	/* a BLOB */
	return mip_copy_class(classes->to, from, NULL, &to) ? to : NULL;
}

bt_field_class *copy_class(struct copy_classes *classes, const struct copy_scopes *scopes,
			   const bt_field_class *from)
{
	bt_field_class *to = copy_kind(classes, scopes, from);

	if (!to)
		return NULL;
	bt_field_class_set_user_attributes(to,
		bt_field_class_borrow_user_attributes_const(from));
	if (!ptrmap_add(&classes->made, from, to))
		BT_FIELD_CLASS_PUT_REF_AND_RESET(to);
	return to;
}

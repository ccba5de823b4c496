/* SPDX-License-Identifier: MIT */
/*
 * field.h - values of fields, for programs that convert them
 */
#ifndef KUNWIND_TRACE_FIELD_H
#define KUNWIND_TRACE_FIELD_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

/* Is @name the length of a sequence (_..._length), which the sequence shows anyway? */
bool kunwind_field_is_length(const char *name);

/* Does the trace prefer to show this integer in hexadecimal? */
bool kunwind_field_is_hexadecimal(const bt_field *field);

/*
 * Writes the labels of an enumeration, with " | " between them; its number if it
 * has none. A longer text is cut.
 */
void kunwind_field_labels(const bt_field *field, char *text, size_t size);

/* The value of a real field of any precision. */
double kunwind_field_real(const bt_field *field);

/* Returns the field that a variant or option holds; NULL: none, or another kind of field. */
const bt_field *kunwind_field_inner(const bt_field *field);

#endif /* KUNWIND_TRACE_FIELD_H */

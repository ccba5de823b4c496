/* SPDX-License-Identifier: MIT */
/*
 * show_field.h - print fields of events as text
 */
#ifndef KUNWIND_SHOW_FIELD_H
#define KUNWIND_SHOW_FIELD_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Prints a field's value in the way of babeltrace2(1). Control characters are
 * escaped.
 */
void kunwind_field_print(FILE *out, const bt_field *field);

/*
 * Prints @before and the members of a structure as "{ a = 1, b = "x" }", except
 * those that kunwind_field_is_left_out(). Returns how many; prints nothing, not
 * even @before, if there are none.
 */
unsigned int kunwind_field_print_members(FILE *out, const char *before, const bt_field *structure,
					 const char *const *but);

/*
 * Returns whether @name is in @but (ends with NULL; may be NULL) or is the
 * length of a sequence (_..._length), which the sequence shows anyway.
 */
bool kunwind_field_is_left_out(const char *name, const char *const *but);

/*
 * Prints text from a trace or a file. Control characters and bytes that are not
 * UTF-8 become \xNN, so the text is safe in a terminal and in a table.
 */
void kunwind_text_print(FILE *out, const char *text);

#endif /* KUNWIND_SHOW_FIELD_H */

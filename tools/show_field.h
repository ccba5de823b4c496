/* SPDX-License-Identifier: MIT */
/*
 * show_field.h - fields of events as text
 */
#ifndef KUNWIND_SHOW_FIELD_H
#define KUNWIND_SHOW_FIELD_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdio.h>

/* One field's value, as babeltrace2(1) writes it. No control characters. */
void kunwind_field_print(FILE *out, const bt_field *field);

/*
 * The members of a structure but for those named in @but (ends with NULL; may
 * be NULL), as "{ a = 1, b = "x" }" behind @before. Return: how many; nothing
 * is written for none.
 */
unsigned int kunwind_field_print_members(FILE *out, const char *before, const bt_field *structure,
					 const char *const *but);

/* Is it in @but, or the length of a sequence, which the sequence shows anyway? */
bool kunwind_field_is_left_out(const char *name, const char *const *but);

/* Text from a trace or a file: what a terminal or a table would trip over is escaped. */
void kunwind_text_print(FILE *out, const char *text);

#endif /* KUNWIND_SHOW_FIELD_H */

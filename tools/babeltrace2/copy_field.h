/* SPDX-License-Identifier: MIT */
/*
 * copy_field.h - the values of fields again
 */
#ifndef KUNWIND_COPY_FIELD_H
#define KUNWIND_COPY_FIELD_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/*
 * @to: of a copy of @from's class, or of one that has further members behind
 * those of the outermost structure. False: out of memory.
 */
bool copy_field(bt_field *to, const bt_field *from);

#endif /* KUNWIND_COPY_FIELD_H */

/* SPDX-License-Identifier: MIT */
/*
 * copy_field.h - copy the values of fields
 */
#ifndef KUNWIND_COPY_FIELD_H
#define KUNWIND_COPY_FIELD_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/*
 * Copies the value of @from. The class of @to is a copy of @from's class; its
 * outermost structure may have further members, which stay unset. False: out of
 * memory.
 */
bool copy_field(bt_field *to, const bt_field *from);

#endif /* KUNWIND_COPY_FIELD_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * interp_field.c - copy the bytes that name an id
 *
 * In the context of the process, where a page fault is allowed. Nothing here knows what
 * the bytes mean.
 */
#include "interp_field.h"

u32 kunwind_interp_field_read(const struct kunwind_interp_field *field, u64 id,
			      kunwind_interp_copy_fn *copy, void *data, u8 *bytes, u32 room)
{
	u64 at = id, length = 0, unit = field->unit, size;
	u32 i;

	for (i = 0; i < field->nr_path; i++)
		if (!copy(data, at + field->path[i], &at, sizeof(at)) || !at)
			return 0;
	if (field->length_width && !copy(data, at + field->length, &length, field->length_width))
		return 0;
	if (field->unit_width) {
		unit = 0;
		if (!copy(data, at + field->unit_at, &unit, field->unit_width))
			return 0;
		unit = unit >> field->unit_shift & field->unit;
	}
	/* The length is any number. The unit is at most 16, so this does not wrap. */
	size = field->fixed + unit * min(length, (u64)KUNWIND_INTERP_BYTES);
	size = min(size, (u64)min(field->most, room));
	return size && copy(data, at + field->start, bytes, size) ? size : 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * interp_field.h - copy the bytes that name an id
 */
#ifndef _KUNWIND_INTERP_FIELD_H
#define _KUNWIND_INTERP_FIELD_H

#include "interp.h"

/* Copies @size bytes of user memory at @addr, or returns false. May sleep. */
typedef bool kunwind_interp_copy_fn(void *data, u64 addr, void *to, u32 size);

/**
 * kunwind_interp_field_read() - copy the bytes of a field
 * @field: of a checked description
 * @bytes: out: room for @room bytes
 *
 * Not for the walk: the memory may have to be faulted in. The bytes are as the process has
 * written them. Bounded: one copy for each element of the path, for length, unit and bytes.
 * Return: the number of bytes; 0: there are none, or they cannot be read.
 */
u32 kunwind_interp_field_read(const struct kunwind_interp_field *field, u64 id,
			      kunwind_interp_copy_fn *copy, void *data, u8 *bytes, u32 room);

#endif /* _KUNWIND_INTERP_FIELD_H */

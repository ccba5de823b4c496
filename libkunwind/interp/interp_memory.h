/* SPDX-License-Identifier: MIT */
/*
 * interp_memory.h - the reader of kunwind_interp_walk() in programs: a function
 */
#ifndef KUNWIND_INTERP_MEMORY_H
#define KUNWIND_INTERP_MEMORY_H

#include <kunwind/unwind.h>

#include "interp/interp_field.h"

/* kunwind_mem.memory, which the reader of libkunwind-unwind declares as another type. */
struct interp_memory {
	kunwind_read_memory *read;
	void *data;
};

/* For kunwind_interp_field_read(); @data: struct interp_memory. */
bool interp_copy(void *data, u64 addr, void *to, u32 size);

#endif /* KUNWIND_INTERP_MEMORY_H */

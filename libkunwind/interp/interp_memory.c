// SPDX-License-Identifier: MIT
/*
 * interp_memory.c - read words and bytes by the caller's function; see interp_memory.h
 */
#include "interp_memory.h"

bool interp_copy(void *data, u64 addr, void *to, u32 size)
{
	const struct interp_memory *memory = data;

	/* The upper half is the kernel's. */
	return (s64)addr >= 0 && memory->read(memory->data, addr, to, size) == size;
}

bool kunwind_unwind_read(struct kunwind_mem *mem, u64 addr, u64 *value)
{
	return interp_copy(mem->memory, addr, value, sizeof(*value));
}

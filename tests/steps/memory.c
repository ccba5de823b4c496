// SPDX-License-Identifier: MIT
/*
 * memory.c - copies of the stopped process's pages, for one position each
 *
 * process_vm_readv() reads memory that the process itself may read, as a walk
 * in the kernel does. Unlike a walk, it faults pages in.
 */
#include <sys/uio.h>

#include "memory.h"

void memory_new_position(struct memory *memory)
{
	memory->position++;
}

size_t memory_raw(pid_t pid, u64 addr, void *to, size_t len)
{
	struct iovec here = { to, len }, there = { (void *)addr, len };
	ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return got < 0 ? 0 : got;
}

static const u8 *page_of(struct memory *memory, u64 addr)
{
	u64 start = addr & -(u64)MEMORY_PAGE;
	u32 i = start / MEMORY_PAGE % MEMORY_PAGES;

	if (memory->page[i].addr != start || memory->page[i].position != memory->position) {
		memory->page[i].addr = start;
		memory->page[i].position = memory->position;
		memory->page[i].there = memory_raw(memory->pid, start, memory->page[i].bytes,
						   MEMORY_PAGE) == MEMORY_PAGE;
		if (memory->page[i].there && memory->patch)
			memory->patch(memory->patch_data, start, memory->page[i].bytes);
	}
	return memory->page[i].there ? memory->page[i].bytes : NULL;
}

bool memory_word(struct memory *memory, u64 addr, u64 *value)
{
	u32 at = addr % MEMORY_PAGE, first;
	const u8 *page;

	/* The upper half is the kernel's. */
	if ((s64)addr < 0)
		return false;
	page = page_of(memory, addr);
	if (!page)
		return false;
	first = min(MEMORY_PAGE - at, 8U);
	memcpy(value, page + at, first);
	if (first == 8)
		return true;
	page = page_of(memory, addr + first);
	if (!page)
		return false;
	memcpy((u8 *)value + first, page, 8 - first);
	return true;
}

u64 memory_handler(const struct memory *memory, u64 ip)
{
	u64 nearest = 0;
	u32 i;

	for (i = 0; i < MEMORY_SIGNALS; i++)
		if (memory->handler[i] <= ip)
			nearest = max(nearest, memory->handler[i]);
	return nearest;
}

bool memory_original(struct memory *memory, u64 addr, u8 *byte)
{
	return memory->known && memory_raw(memory->pid, addr, byte, 1) == 1;
}

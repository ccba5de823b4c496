/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the memory of the stopped process, as a walk in the kernel would
 * see it
 *
 * Pages are copied when they are first read after memory_new_position(). With
 * memory->patch, the copy has 0xcc at each function's entry, as with uprobes on
 * all functions. The process itself is not changed.
 */
#ifndef _STEPS_MEMORY_H
#define _STEPS_MEMORY_H

#include <sys/types.h>

#include "kunwind_deps.h"

#define MEMORY_PAGE	4096
#define MEMORY_SIGNALS	64
#define MEMORY_PAGES	1024		/* copies, by page number: a power of two */

struct memory {
	pid_t pid;
	u64 position;
	/* Writes 0xcc into the copy of the page at @addr; may be NULL. */
	void (*patch)(void *data, u64 addr, u8 *page);
	void *patch_data;
	bool known;			/* the walk knows the bytes that the patch replaces */
	u64 handler[MEMORY_SIGNALS];	/* the process's handlers, by signal minus 1; 0: none */
	struct {
		u64 addr, position;
		bool there;
		u8 bytes[MEMORY_PAGE];
	} page[MEMORY_PAGES];
};

/* The process ran: copies made before are no longer valid. */
void memory_new_position(struct memory *memory);

/*
 * Reads the process's own bytes, without breakpoints or copies. Returns the
 * number of bytes read.
 */
size_t memory_raw(pid_t pid, u64 addr, void *to, size_t len);

#endif /* _STEPS_MEMORY_H */

// SPDX-License-Identifier: MIT
/*
 * arena.c - memory for the unwinder, outside the heap; see arena.h
 *
 * A block has a size of 2^n bytes, and its head before it. Free blocks of each size are in a list.
 * Large blocks have a mapping of their own. Pages without access lie around each mapping, so an
 * overflow of a neighbour's memory does not reach it.
 *
 * Only kunwind_crash_init() and kunwind_crash_refresh() allocate, one at a time: there is no lock.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "arena.h"

#define PAGE		4096UL
#define CHUNK		(256UL << 10)
#define SMALLEST	5		/* 2^5 bytes */
#define LARGE		15		/* from here on, a mapping for each */

struct head {
	size_t size;			/* of the block, with its head; LARGE: of the mapping */
	struct head *next;		/* of those that are free */
};

static struct head *free_blocks[LARGE];
static char *at, *end;			/* the rest of the last chunk */

/* Maps @size bytes between two pages without access. */
static void *map(size_t size)
{
	char *memory = mmap(NULL, size + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (mprotect(memory + PAGE, size, PROT_READ | PROT_WRITE)) {
		munmap(memory, size + 2 * PAGE);
		return NULL;
	}
	return memory + PAGE;
}

static struct head *from_chunk(size_t size)
{
	struct head *head;

	if ((size_t)(end - at) < size) {
		at = map(CHUNK);
		end = at ? at + CHUNK : NULL;
		if (!at)
			return NULL;
	}
	head = (struct head *)at;
	at += size;
	return head;
}

void *crash_malloc(size_t size)
{
	unsigned int n = SMALLEST;
	struct head *head;

	if (size > SIZE_MAX / 2)
		return NULL;
	size += sizeof(*head);
	while (n < LARGE && size > 1UL << n)
		n++;
	if (n == LARGE) {
		size = (size + PAGE - 1) & -PAGE;
		head = map(size);
	} else if (free_blocks[n]) {
		size = 1UL << n;
		head = free_blocks[n];
		free_blocks[n] = head->next;
	} else {
		size = 1UL << n;
		head = from_chunk(size);
	}
	if (!head)
		return NULL;
	head->size = size;
	return head + 1;
}

void crash_free(void *memory)
{
	struct head *head = memory;

	if (!memory)
		return;
	head--;
	if (head->size > 1UL << (LARGE - 1)) {
		munmap((char *)head - PAGE, head->size + 2 * PAGE);
		return;
	}
	head->next = free_blocks[__builtin_ctzl(head->size)];
	free_blocks[__builtin_ctzl(head->size)] = head;
}

void *crash_calloc(size_t nr, size_t size)
{
	void *memory;
	size_t all;

	if (__builtin_mul_overflow(nr, size, &all))
		return NULL;
	memory = crash_malloc(all);
	return memory ? memset(memory, 0, all) : NULL;
}

void *crash_realloc(void *memory, size_t size)
{
	size_t old = memory ? ((struct head *)memory)[-1].size - sizeof(struct head) : 0;
	void *more = crash_malloc(size);

	if (!more)
		return NULL;
	if (old)
		memcpy(more, memory, old < size ? old : size);
	crash_free(memory);
	return more;
}

char *crash_strdup(const char *text)
{
	const size_t size = strlen(text) + 1;
	char *copy = crash_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

/* @align: at most a page. Only for a block that is never freed alone: it has no head. */
int crash_memalign(void **memory, size_t align, size_t size)
{
	(void)align;
	*memory = map((size + PAGE - 1) & -PAGE);
	return *memory ? 0 : ENOMEM;
}

/* SPDX-License-Identifier: MIT */
/*
 * counted-memory.h - wrappers of the allocation of the program and of a static library in it: how
 * much is not freed, and an allocation that fails
 *
 * What is freed is filled with other bytes, so that nobody can use it unnoticed. Link with
 * --wrap for each function. libc's own allocations are not counted.
 */
#ifndef COUNTED_MEMORY_H
#define COUNTED_MEMORY_H

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static long counted_live;		/* blocks */
static long counted_calls, counted_fail_at;	/* the call that fails; 0: none */

void *__real_calloc(size_t nr, size_t size);
void *__real_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
int __real_posix_memalign(void **p, size_t align, size_t size);

static inline bool counted_fails(void)
{
	return __atomic_add_fetch(&counted_calls, 1, __ATOMIC_SEQ_CST) == counted_fail_at;
}

static inline void *counted(void *p)
{
	if (p)
		__atomic_add_fetch(&counted_live, 1, __ATOMIC_SEQ_CST);
	return p;
}

void *__wrap_malloc(size_t size)
{
	return counted_fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return counted_fails() ? NULL : counted(__real_calloc(nr, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	if (counted_fails())
		return NULL;
	return p ? __real_realloc(p, size) : counted(__real_realloc(p, size));
}

char *__wrap_strdup(const char *text)
{
	const size_t size = strlen(text) + 1;
	char *copy = __wrap_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

int __wrap_posix_memalign(void **p, size_t align, size_t size)
{
	const int error = counted_fails() ? ENOMEM : __real_posix_memalign(p, align, size);

	if (!error)
		counted(*p);
	return error;
}

void __wrap_free(void *p)
{
	if (p) {
		__atomic_sub_fetch(&counted_live, 1, __ATOMIC_SEQ_CST);
		memset(p, 0xee, malloc_usable_size(p));
	}
	__real_free(p);
}

#endif /* COUNTED_MEMORY_H */

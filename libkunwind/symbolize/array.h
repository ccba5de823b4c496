/* SPDX-License-Identifier: MIT */
/*
 * array.h - arrays that grow, for the library and its helper
 */
#ifndef KUNWIND_ARRAY_H
#define KUNWIND_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * Makes room for one more element after the first @nr of *@array. False: out of
 * memory, and nothing has changed.
 */
static inline bool kunwind_reserve(void **array, size_t nr, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 16;
	void *bigger;

	if (nr < *cap)
		return true;
	bigger = realloc(*array, want * size);
	if (!bigger)
		return false;
	*array = bigger;
	*cap = want;
	return true;
}

#endif /* KUNWIND_ARRAY_H */

/* SPDX-License-Identifier: MIT */
/*
 * array.h - arrays that grow, for the library and its helper alike
 */
#ifndef KUNWIND_ARRAY_H
#define KUNWIND_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Room for one more behind the first @nr of *@array. False: no memory, nothing changed. */
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

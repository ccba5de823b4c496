/* SPDX-License-Identifier: MIT */
/*
 * ptrmap.h - a map from pointers to pointers; a zeroed one is empty
 */
#ifndef KUNWIND_PTRMAP_H
#define KUNWIND_PTRMAP_H

#include <stdbool.h>
#include <stddef.h>

struct ptrmap {
	struct ptrmap_entry {
		const void *key;	/* NULL: empty */
		void *value;
	} *entry;
	size_t nr, size;		/* size: 0 or a power of 2 */
};

/* Returns the value of @key; NULL if @key is not in the map. */
void *ptrmap_find(const struct ptrmap *map, const void *key);

/* Adds @key, which must not be in the map yet. False: out of memory. */
bool ptrmap_add(struct ptrmap *map, const void *key, void *value);

/* Removes @key and returns its value; NULL if @key was not in the map. */
void *ptrmap_remove(struct ptrmap *map, const void *key);

/*
 * Calls @done (may be NULL) for each entry and frees the map's memory. The map
 * is empty afterwards and can be used again.
 */
void ptrmap_clear(struct ptrmap *map, void (*done)(const void *key, void *value));

#endif /* KUNWIND_PTRMAP_H */

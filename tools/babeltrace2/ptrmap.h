/* SPDX-License-Identifier: MIT */
/*
 * ptrmap.h - from one pointer to another
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

/* NULL: not there. */
void *ptrmap_find(const struct ptrmap *map, const void *key);

/* @key is not there yet. False: out of memory. */
bool ptrmap_add(struct ptrmap *map, const void *key, void *value);

/* Takes it out. NULL: was not there. */
void *ptrmap_remove(struct ptrmap *map, const void *key);

/* @done is told of every entry; may be NULL. Empty, and usable again, afterwards. */
void ptrmap_clear(struct ptrmap *map, void (*done)(const void *key, void *value));

#endif /* KUNWIND_PTRMAP_H */

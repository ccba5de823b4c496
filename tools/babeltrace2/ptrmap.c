// SPDX-License-Identifier: MIT
/*
 * ptrmap.c - a map from pointers to pointers: a hash table with open addressing
 *
 * At most half of the table is in use. Memory: 32 to 64 bytes for each entry of
 * the fullest state so far, at least 1 KB; ptrmap_clear() frees it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "ptrmap.h"

static size_t home(const struct ptrmap *map, const void *key)
{
	return (size_t)(((uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15) >> 32) & (map->size - 1);
}

/* Returns the entry of @key, or the empty one where @key belongs. */
static struct ptrmap_entry *place(const struct ptrmap *map, const void *key)
{
	size_t i = home(map, key);

	while (map->entry[i].key && map->entry[i].key != key)
		i = (i + 1) & (map->size - 1);
	return &map->entry[i];
}

void *ptrmap_find(const struct ptrmap *map, const void *key)
{
	return map->size ? place(map, key)->value : NULL;
}

static bool grow(struct ptrmap *map)
{
	struct ptrmap_entry *old = map->entry;
	size_t i, size = map->size;
	struct ptrmap_entry *new = calloc(size ? size * 2 : 64, sizeof(*new));

	if (!new)
		return false;
	map->entry = new;
	map->size = size ? size * 2 : 64;
	for (i = 0; i < size; i++) {
		if (old[i].key)
			*place(map, old[i].key) = old[i];
	}
	free(old);
	return true;
}

bool ptrmap_add(struct ptrmap *map, const void *key, void *value)
{
	if (map->nr * 2 >= map->size && !grow(map))
		return false;
	*place(map, key) = (struct ptrmap_entry){ key, value };
	map->nr++;
	return true;
}

/*
 * Inserts again all entries between the hole and the next empty entry: one of
 * them may belong where the hole is.
 */
void *ptrmap_remove(struct ptrmap *map, const void *key)
{
	struct ptrmap_entry *hole = map->size ? place(map, key) : NULL;
	void *value = hole ? hole->value : NULL;
	size_t i;

	if (!hole || !hole->key)
		return NULL;
	hole->key = NULL;
	hole->value = NULL;
	map->nr--;
	i = (size_t)(hole - map->entry);
	for (i = (i + 1) & (map->size - 1); map->entry[i].key; i = (i + 1) & (map->size - 1)) {
		struct ptrmap_entry moved = map->entry[i];

		map->entry[i] = (struct ptrmap_entry){ NULL, NULL };
		*place(map, moved.key) = moved;
	}
	return value;
}

void ptrmap_clear(struct ptrmap *map, void (*done)(const void *key, void *value))
{
	size_t i;

	for (i = 0; done && i < map->size; i++) {
		if (map->entry[i].key)
			done(map->entry[i].key, map->entry[i].value);
	}
	free(map->entry);
	*map = (struct ptrmap){ NULL, 0, 0 };
}

// SPDX-License-Identifier: MIT
/*
 * cache.c - answers by object and address
 *
 * A trace asks about few addresses, often. Answers are kept in blocks that grow
 * at one end, and are found by a hash table with open addressing. When there
 * are too many, all are forgotten. This happens only between two questions of
 * the caller, so the answers to one question stay valid until the next.
 *
 * Memory: some 300 bytes an answer; at most MAX_ANSWERS answers or MAX_BYTES,
 * and what one question may add to that.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MAX_ANSWERS	(1 << 18)
#define MAX_BYTES	(128u << 20)
#define BLOCK		(256 * 1024)
#define ALIGN(size)	(((size) + 15) & ~(size_t)15)

struct block {
	struct block *next;
	size_t size, used;
	char bytes[];
};

struct cache_entry {
	const struct kunwind_frame *frame;	/* NULL: empty */
	bool exact;
};

struct kunwind_answer {
	struct kunwind_cache *cache;
	struct kunwind_function function[WIRE_FUNCTIONS];
	unsigned int nr;
	bool cut;			/* functions were left out */
};

struct kunwind_cache {
	struct cache_entry *entry;
	size_t nr, size;		/* a power of 2 */
	struct block *block;
	size_t bytes;
	struct kunwind_answer answer;
};

struct kunwind_cache *kunwind_cache_new(void)
{
	struct kunwind_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->size = 1024;
	cache->entry = calloc(cache->size, sizeof(*cache->entry));
	if (!cache->entry) {
		free(cache);
		return NULL;
	}
	return cache;
}

static void free_blocks(struct kunwind_cache *cache)
{
	struct block *next;

	for (; cache->block; cache->block = next) {
		next = cache->block->next;
		free(cache->block);
	}
	cache->bytes = 0;
}

void kunwind_cache_free(struct kunwind_cache *cache)
{
	if (!cache)
		return;
	free_blocks(cache);
	free(cache->entry);
	free(cache);
}

void kunwind_cache_clear(struct kunwind_cache *cache)
{
	free_blocks(cache);
	memset(cache->entry, 0, cache->size * sizeof(*cache->entry));
	cache->nr = 0;
}

bool kunwind_cache_full(const struct kunwind_cache *cache)
{
	return cache->nr >= MAX_ANSWERS || cache->bytes >= MAX_BYTES;
}

static void *take(struct kunwind_cache *cache, size_t size)
{
	struct block *block = cache->block;
	size_t need = ALIGN(size);
	void *bytes;

	if (!block || block->size - block->used < need) {
		size_t room = need > BLOCK ? need : BLOCK;

		block = malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
		block->next = cache->block;
		block->size = room;
		block->used = 0;
		cache->block = block;
		cache->bytes += room;
	}
	bytes = block->bytes + block->used;
	block->used += need;
	return bytes;
}

static size_t hash(const struct kunwind_symbolizer_object *object, uint64_t address, bool exact)
{
	uint64_t hash = (address * 2 + exact) * 0x9e3779b97f4a7c15 ^
			((uintptr_t)object >> 4) * 0xc2b2ae3d27d4eb4f;

	return (size_t)(hash >> 24);
}

/* Returns the entry of a key, or the empty entry where it would go. */
static struct cache_entry *place(const struct kunwind_cache *cache,
				 const struct kunwind_symbolizer_object *object,
				 uint64_t address, bool exact)
{
	size_t i = hash(object, address, exact) & (cache->size - 1);

	while (cache->entry[i].frame &&
	       (cache->entry[i].frame->object_address != address ||
		cache->entry[i].frame->object != object || cache->entry[i].exact != exact))
		i = (i + 1) & (cache->size - 1);
	return &cache->entry[i];
}

const struct kunwind_frame *kunwind_cache_find(const struct kunwind_cache *cache,
					       const struct kunwind_symbolizer_object *object,
					       uint64_t address, bool exact)
{
	return place(cache, object, address, exact)->frame;
}

static bool grow(struct kunwind_cache *cache)
{
	struct cache_entry *old = cache->entry;
	size_t i, size = cache->size;

	cache->entry = calloc(size * 2, sizeof(*old));
	if (!cache->entry) {
		cache->entry = old;
		return false;
	}
	cache->size = size * 2;
	for (i = 0; i < size; i++) {
		if (old[i].frame)
			*place(cache, old[i].frame->object, old[i].frame->object_address,
			       old[i].exact) = old[i];
	}
	free(old);
	return true;
}

struct kunwind_answer *kunwind_answer_begin(struct kunwind_cache *cache)
{
	cache->answer.cache = cache;
	cache->answer.nr = 0;
	cache->answer.cut = false;
	return &cache->answer;
}

static bool copy_string(struct kunwind_cache *cache, const char **text)
{
	size_t len;
	char *copy;

	if (!*text)
		return true;
	len = strlen(*text) + 1;
	copy = take(cache, len);
	if (!copy)
		return false;
	*text = memcpy(copy, *text, len);
	return true;
}

bool kunwind_answer_add(struct kunwind_answer *answer, const struct kunwind_function *function)
{
	struct kunwind_function *copy;

	/* the last one is the function itself, so it replaces an inlined one */
	if (answer->nr == WIRE_FUNCTIONS) {
		answer->nr--;
		answer->cut = true;
	}
	copy = &answer->function[answer->nr];
	*copy = *function;
	if (!copy_string(answer->cache, &copy->name) || !copy_string(answer->cache, &copy->file))
		return false;
	answer->nr++;
	return true;
}

const struct kunwind_frame *kunwind_answer_keep(struct kunwind_cache *cache,
						const struct kunwind_frame *frame, bool exact)
{
	size_t size = cache->answer.nr * sizeof(*cache->answer.function);
	struct kunwind_function *function;
	struct kunwind_frame *copy;
	struct cache_entry *entry;

	if (cache->nr * 2 >= cache->size && !grow(cache))
		return NULL;
	copy = take(cache, sizeof(*copy));
	function = take(cache, size);
	if (!copy || !function)
		return NULL;
	*copy = *frame;
	if (cache->answer.cut)
		copy->why = KUNWIND_WHY_CUT;
	memcpy(function, cache->answer.function, size);
	copy->function = function;
	copy->nr_functions = cache->answer.nr;
	entry = place(cache, frame->object, frame->object_address, exact);
	if (!entry->frame)
		cache->nr++;
	*entry = (struct cache_entry){ copy, exact };
	return copy;
}

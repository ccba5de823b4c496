// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * intern.c - store equal byte strings once; see intern.h
 */
#include "intern.h"

#define FIRST_BYTES	1024
#define FIRST_SLOTS	64
#define MAX_PROBES	32
#define FREE_PROBES	4	/* steps of a search that are not paid for */

static size_t slots_size(const struct kunwind_intern *pool)
{
	return (size_t)pool->nr_slots * sizeof(*pool->slots);
}

void kunwind_intern_init(struct kunwind_intern *pool, u32 limit, struct kunwind_budget *budget)
{
	*pool = (struct kunwind_intern){ .limit = min(limit, 1U << 31), .budget = budget };
}

void kunwind_intern_exit(struct kunwind_intern *pool)
{
	kunwind_budget_free(pool->budget, pool->data, pool->capacity);
	kunwind_budget_free(pool->budget, pool->slots, slots_size(pool));
	*pool = (struct kunwind_intern){ 0 };
}

void kunwind_intern_reset(struct kunwind_intern *pool)
{
	if (pool->slots)
		memset(pool->slots, 0, slots_size(pool));
	pool->size = 0;
	pool->nr = 0;
}

static u64 bytes_hash(const u8 *bytes, u32 len)
{
	u64 hash = len;
	u32 i;

	for (i = 0; i + 8 <= len; i += 8) {
		u64 word;

		memcpy(&word, bytes + i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
	}
	for (; i < len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
	return hash ^ hash >> 31;
}

static enum kunwind_build_error data_grow(struct kunwind_intern *pool, u32 len)
{
	u64 capacity = pool->capacity ? pool->capacity : FIRST_BYTES;
	u8 *data;

	if (len > pool->limit - pool->size)
		return KUNWIND_E_LIMIT;
	while (capacity < (u64)pool->size + len)
		capacity *= 2;
	if (capacity == pool->capacity)
		return KUNWIND_OK;
	capacity = min(capacity, (u64)1 << 31);
	data = kunwind_budget_alloc(pool->budget, capacity);
	if (!data)
		return kunwind_budget_error(pool->budget);
	if (pool->size)
		memcpy(data, pool->data, pool->size);
	kunwind_budget_free(pool->budget, pool->data, pool->capacity);
	pool->data = data;
	pool->capacity = capacity;
	return KUNWIND_OK;
}

static enum kunwind_build_error slots_grow(struct kunwind_intern *pool)
{
	u32 nr_slots = pool->nr_slots ? pool->nr_slots * 2 : FIRST_SLOTS;
	struct kunwind_intern_slot *slots;
	u32 i, j, at;

	slots = kunwind_budget_alloc(pool->budget, (size_t)nr_slots * sizeof(*slots));
	if (!slots)
		return kunwind_budget_error(pool->budget);
	for (i = 0; i < pool->nr_slots; i++) {
		if (!pool->slots[i].off1)
			continue;
		at = pool->slots[i].hash;
		/* a string without a free slot is not found any more */
		for (j = 0; j < MAX_PROBES && slots[at & (nr_slots - 1)].off1; j++)
			at++;
		if (j < MAX_PROBES)
			slots[at & (nr_slots - 1)] = pool->slots[i];
	}
	kunwind_budget_free(pool->budget, pool->slots, slots_size(pool));
	pool->slots = slots;
	pool->nr_slots = nr_slots;
	return KUNWIND_OK;
}

enum kunwind_build_error kunwind_intern_add(struct kunwind_intern *pool, const void *bytes, u32 len,
					    u32 *off)
{
	struct kunwind_intern_slot *slot = NULL;
	u32 hash = bytes_hash(bytes, len);
	enum kunwind_build_error err;
	u32 i, extra = 0;

	/* the hash table is at most half full */
	if (pool->nr >= pool->nr_slots / 2) {
		err = slots_grow(pool);
		if (err)
			return err;
	}
	for (i = 0; i < MAX_PROBES; i++) {
		struct kunwind_intern_slot *s = &pool->slots[(hash + i) & (pool->nr_slots - 1)];

		if (!s->off1) {
			slot = s;
			break;
		}
		if (s->hash == hash && len <= pool->size - (s->off1 - 1)) {
			if (!memcmp(pool->data + s->off1 - 1, bytes, len)) {
				*off = s->off1 - 1;
				break;
			}
			extra += len;
		}
	}
	if (unlikely(i > FREE_PROBES || extra) &&
	    !kunwind_budget_work(pool->budget, i / 2 + extra / sizeof(u64)))
		return KUNWIND_E_LIMIT;
	if (i < MAX_PROBES && !slot)
		return KUNWIND_OK;

	err = data_grow(pool, len);
	if (err)
		return err;
	memcpy(pool->data + pool->size, bytes, len);
	*off = pool->size;
	pool->size += len;
	if (slot) {
		*slot = (struct kunwind_intern_slot){ .hash = hash, .off1 = *off + 1 };
		pool->nr++;
	}
	return KUNWIND_OK;
}

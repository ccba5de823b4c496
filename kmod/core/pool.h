/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * pool.h - a growing store of byte strings, each kept once, for the builder
 *
 * A string is found again by a hash table of offsets. Strings must tell their
 * own length in their first bytes: two of different length then differ there.
 * Memory: at most twice what it holds, and 32 bytes a string. A probe gives up
 * after a fixed number of steps and the string is stored once more: whoever
 * makes hashes collide gets a larger table, not a slower builder.
 */
#ifndef _KUNWIND_POOL_H
#define _KUNWIND_POOL_H

#include "kunwind_core.h"

struct kunwind_pool_slot {
	u32 hash;
	u32 off1;			/* offset of the string + 1; 0: free */
};

struct kunwind_pool {
	u8 *data;
	u32 size, capacity, limit;	/* bytes; limit: most that it may hold */
	struct kunwind_pool_slot *slots;
	u32 nr, nr_slots;		/* nr_slots is a power of two, or 0 */
};

/* @limit is at most 2 GB. Allocates nothing yet. */
void kunwind_pool_init(struct kunwind_pool *pool, u32 limit);
void kunwind_pool_exit(struct kunwind_pool *pool);

/* Empties it, keeps the memory. */
void kunwind_pool_reset(struct kunwind_pool *pool);

/**
 * kunwind_pool_add() - the offset of a string in the pool
 * @len: bytes, > 0
 * Return: KUNWIND_OK and *off; KUNWIND_E_NOMEM, KUNWIND_E_LIMIT.
 */
enum kunwind_refusal __must_check
kunwind_pool_add(struct kunwind_pool *pool, const void *bytes, u32 len, u32 *off);

#endif /* _KUNWIND_POOL_H */

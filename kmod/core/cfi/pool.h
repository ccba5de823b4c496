/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * pool.h - a growing store of byte strings, each kept once, for the builder
 *
 * A string is found again by a hash table of offsets. Strings must tell their
 * own length in their first bytes: two of different length then differ there.
 * Memory: at most twice what it holds, and 32 bytes a string; half as much again
 * while it grows.
 *
 * The hash has no secret, so strings can be made whose hashes collide. A search
 * ends after a fixed number of steps, and what it takes beyond the usual one or
 * two is paid for from the build's budget. A string that was not found by then
 * is stored once more.
 */
#ifndef _KUNWIND_POOL_H
#define _KUNWIND_POOL_H

#include "budget.h"

struct kunwind_pool_slot {
	u32 hash;
	u32 off1;			/* offset of the string + 1; 0: free */
};

struct kunwind_pool {
	u8 *data;
	u32 size, capacity, limit;	/* bytes; limit: most that it may hold */
	struct kunwind_pool_slot *slots;
	u32 nr, nr_slots;		/* nr_slots is a power of two, or 0 */
	struct kunwind_budget *budget;
};

/* @limit is at most 2 GB. Allocates nothing yet. */
void kunwind_pool_init(struct kunwind_pool *pool, u32 limit, struct kunwind_budget *budget);
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

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * intern.h - intern byte strings: store equal strings once, for the builder
 *
 * A pool holds the bytes of all strings, and grows. A hash table of offsets
 * finds equal strings. The first bytes of a string must determine its length,
 * so that two strings of different length differ there.
 *
 * Memory: at most twice the stored bytes, and 32 bytes a string; half as much
 * again while the pool grows.
 *
 * The hash has no secret, so an attacker can make strings whose hashes collide.
 * A search therefore ends after 32 steps, and each search that takes more than
 * 4 steps, or compares different strings with the same hash, is paid for from
 * the build's budget. A string that the search has not found is stored once
 * more.
 *
 * Allocation may sleep. There are no locks: a pool belongs to one build.
 */
#ifndef _KUNWIND_INTERN_H
#define _KUNWIND_INTERN_H

#include "budget.h"

struct kunwind_intern_slot {
	u32 hash;
	u32 off1;			/* offset of the string + 1; 0: free */
};

struct kunwind_intern {
	u8 *data;
	u32 size, capacity, limit;	/* bytes; limit: most bytes that it may hold */
	struct kunwind_intern_slot *slots;
	u32 nr, nr_slots;		/* nr_slots is a power of two, or 0 */
	struct kunwind_budget *budget;
};

/*
 * @limit: most bytes that the pool may hold; more than 2 GB counts as 2 GB.
 * Allocates nothing.
 */
void kunwind_intern_init(struct kunwind_intern *pool, u32 limit, struct kunwind_budget *budget);
void kunwind_intern_exit(struct kunwind_intern *pool);

/* Empties the pool, but keeps its memory. */
void kunwind_intern_reset(struct kunwind_intern *pool);

/**
 * kunwind_intern_add() - store a string, unless it is already there
 * @len: bytes, > 0
 *
 * Return: KUNWIND_OK and its offset in *off; KUNWIND_E_NOMEM; KUNWIND_E_LIMIT.
 */
enum kunwind_build_error __must_check
kunwind_intern_add(struct kunwind_intern *pool, const void *bytes, u32 len, u32 *off);

#endif /* _KUNWIND_INTERN_H */

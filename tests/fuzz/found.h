/* SPDX-License-Identifier: MIT */
/*
 * found.h - results of walks, for the fuzzers that walk one stack in several
 * ways and compare the results
 */
#ifndef _TEST_FOUND_H
#define _TEST_FOUND_H

#include "fuzz.h"

#define MOST_FOUND	200

struct found {
	unsigned long addresses[MOST_FOUND];
	u8 trust[MOST_FOUND];		/* filled if walk->trust points here */
	u32 count;
	bool spent;			/* the budget is used up */
	enum kunwind_reason reason;
};

/*
 * Makes the walk @walk, whose addresses point to @found->addresses (capacity at
 * most MOST_FOUND), and stores its result. If @walk->replay has a valid result
 * of the last walk, that result is used.
 */
static inline void found_take(struct kunwind_walk *walk, struct found *found)
{
	memset(found->addresses, 0xee, sizeof(found->addresses));
	memset(found->trust, KUNWIND_TRUST_CFI, sizeof(found->trust));
	if (walk->i386)
		found->reason = kunwind_walk_i386(walk);
	else if (walk->replay && kunwind_replay_walk(walk))
		found->reason = KUNWIND_COMPLETE;
	else
		found->reason = kunwind_walk(walk);
	found->count = walk->count;
	found->spent = found->reason == KUNWIND_BUDGET_SPENT;
	property(!found->spent || !walk->mem.left, "%u units are left of a spent budget",
		 walk->mem.left);
	property(walk->count <= walk->capacity && found->reason < KUNWIND_NR_REASONS,
		 "walk ends with %u addresses, reason %d", walk->count, found->reason);
}

/*
 * @a: the result without a cache. @what: how walk @b was made. A walk without a
 * cache uses more of its budget: if one budget is used up, results may differ.
 */
static inline void found_compare(const struct found *a, const struct found *b, const char *what)
{
	if (a->spent || b->spent)
		return;
	property(a->count == b->count && a->reason == b->reason &&
		 !memcmp(a->addresses, b->addresses, a->count * sizeof(a->addresses[0])) &&
		 !memcmp(a->trust, b->trust, a->count),
		 "walk %s finds %u addresses (%s), without a cache %u (%s)", what, b->count,
		 kunwind_reason_name(b->reason), a->count, kunwind_reason_name(a->reason));
}

#endif /* _TEST_FOUND_H */

/* SPDX-License-Identifier: MIT */
/*
 * found.h - what a walk found, for the fuzzers that walk one stack in several ways
 */
#ifndef _TEST_FOUND_H
#define _TEST_FOUND_H

#include "fuzz.h"

#define MOST_FOUND	200

struct found {
	unsigned long addresses[MOST_FOUND];
	u8 trust[MOST_FOUND];		/* where walk->trust is this */
	u32 count;
	bool spent;			/* the budget, which pays for more without a cache */
	enum kunwind_reason reason;
};

/* @walk: with @found->addresses, MOST_FOUND at most. With a note it is taken from that if it can be. */
static inline void found_take(struct kunwind_walk *walk, struct found *found)
{
	memset(found->addresses, 0xee, sizeof(found->addresses));
	memset(found->trust, KUNWIND_TRUST_CFI, sizeof(found->trust));
	if (walk->i386)
		found->reason = kunwind_walk_i386(walk);
	else if (walk->recent && kunwind_walk_again(walk))
		found->reason = KUNWIND_COMPLETE;
	else
		found->reason = kunwind_walk(walk);
	found->count = walk->count;
	found->spent = found->reason == KUNWIND_DEPTH && !walk->mem.left;
	property(walk->count <= walk->capacity && found->reason < KUNWIND_NR_REASONS,
		 "%u addresses, reason %d", walk->count, found->reason);
}

static inline void found_compare(const struct found *a, const struct found *b, const char *what)
{
	if (a->spent || b->spent)
		return;
	property(a->count == b->count && a->reason == b->reason &&
		 !memcmp(a->addresses, b->addresses, a->count * sizeof(a->addresses[0])) &&
		 !memcmp(a->trust, b->trust, a->count),
		 "%s: %u addresses (%s), without a cache %u (%s)", what, b->count,
		 kunwind_reason_name(b->reason), a->count, kunwind_reason_name(a->reason));
}

#endif /* _TEST_FOUND_H */

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * cache.c - what the walk puts in its cache of rules; see cache.h
 *
 * Any context, NMI included.
 */
#include "cache.h"
#include "mem.h"

/* The sequence is odd: being written. Readers see it by an id of zero. */
#define AFTER_ODD	KUNWIND_AFTER_SEQ_ONE

/*
 * Only what runs on this CPU writes here, and an interrupt ends before what it
 * interrupted goes on: a writer that finds an entry half written (odd) leaves
 * it alone, a reader that was interrupted by a writer sees the sequence changed.
 */
static __always_inline void cache_write(struct kunwind_cache_entry *entry,
					const struct kunwind_cache_entry *from)
{
	u64 seen = READ_ONCE(entry->after);
	u64 seq = seen & KUNWIND_AFTER_SEQ, after = from->after & ~KUNWIND_AFTER_SEQ;

	if (unlikely(seen & AFTER_ODD))
		return;
	WRITE_ONCE(entry->after, seen | AFTER_ODD);
	barrier();
	WRITE_ONCE(entry->id, 0);
	barrier();
	entry->addr = from->addr;
	entry->rule = from->rule;
	WRITE_ONCE(entry->after, seq | AFTER_ODD | after);
	barrier();
	WRITE_ONCE(entry->id, from->id);
	barrier();
	WRITE_ONCE(entry->after, (seq + 2 * KUNWIND_AFTER_SEQ_ONE) | after);
}

void kunwind_walk_attr kunwind_cache_put(struct kunwind_cache *cache,
					 const struct kunwind_cache_entry *new)
{
	struct kunwind_cache_entry *slot = kunwind_cache_slot(cache, new->addr);

	/* No return address, so never looked for before it was found to be one. */
	if (unlikely((new->addr - 1) >> KUNWIND_ADDRESS_BITS))
		return;
	if (unlikely(slot->id == new->id)) {
		u64 seen = READ_ONCE(slot->after);
		struct kunwind_cache_entry old;

		barrier();
		old = *slot;
		barrier();
		if (!(seen & AFTER_ODD) && READ_ONCE(slot->after) == seen)
			cache_write(kunwind_cache_second(cache, slot), &old);
	}
	cache_write(slot, new);
}

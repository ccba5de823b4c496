// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * rule_cache.c - write an entry of the walk's cache of rules; rule_cache.h
 * reads entries
 *
 * Any context, NMI included. No locks: only code on this CPU (in user space:
 * this thread) uses the cache.
 */
#include "rule_cache.h"
#include "mem.h"

/*
 * An odd sequence number: the entry is being written. While its address and its
 * rule change, its id is 0, so that no reader finds it.
 */
#define AFTER_ODD	KUNWIND_AFTER_SEQ_ONE

/*
 * Only code on this CPU writes here, and an interrupt ends before the
 * interrupted code goes on. A writer that finds an entry half written (odd)
 * does not change it. A reader that a writer interrupted finds another sequence
 * number.
 */
static __always_inline void cache_write(struct kunwind_rule_cache_entry *entry,
					const struct kunwind_rule_cache_entry *from)
{
	u64 seen = READ_ONCE(entry->after);
	u64 seq = seen & KUNWIND_AFTER_SEQ, after = from->after & ~KUNWIND_AFTER_SEQ;

	if (unlikely(seen & AFTER_ODD))
		return;
	if (!kunwind_cache_claim(&entry->after, seen, seen | AFTER_ODD))
		return;
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

/* Copies the rule in @slot to the second place of its address, unless it is half written. */
static noinline void kunwind_walk_attr move_rule(struct kunwind_rule_cache *cache,
						 struct kunwind_rule_cache_entry *slot)
{
	u64 seen = READ_ONCE(slot->after);
	struct kunwind_rule_cache_entry old;

	barrier();
	old = data_race(*slot);
	barrier();
	if (!(seen & AFTER_ODD) && READ_ONCE(slot->after) == seen)
		cache_write(kunwind_rule_cache_second(cache, slot), &old);
}

void kunwind_walk_attr kunwind_rule_cache_put(struct kunwind_rule_cache *cache,
					      const struct kunwind_rule_cache_entry *new)
{
	struct kunwind_rule_cache_entry *slot = kunwind_rule_cache_slot(cache, new->addr);

	/*
	 * Such an address is no return address. The walk does not check the
	 * addresses that it finds in the cache, so the cache must not hold this
	 * one.
	 */
	if (unlikely((new->addr - 1) >> KUNWIND_ADDRESS_BITS))
		return;
	if (unlikely(data_race(slot->id) == new->id))
		move_rule(cache, slot);
	cache_write(slot, new);
}

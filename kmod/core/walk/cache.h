/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cache.h - the walk's cache of rules, as one step of it uses the cache
 *
 * docs/unwinding.md describes the cache. An address has two places, next to each
 * other. Here is what reads; what writes is in cache.c. A reader takes the entry's
 * "after" first (after.h), with its sequence, and asks in the end whether it is the
 * same still.
 */
#ifndef _KUNWIND_CACHE_H
#define _KUNWIND_CACHE_H

#include "after.h"

/*
 * Kind and register of a rule, as one half word: to tell the commonest rules at once.
 * In the cache, and in the walk, their kind has KUNWIND_RULE_PLAIN besides: a CFA, nothing
 * that is restored but rbp, the caller did call; and by rsp, the CFA is above it.
 * KUNWIND_RULE_PLACES beside it: by rsp, other registers are restored, and of rbp is said
 * where it is. This is bit 3, inside KUNWIND_RULE_KIND: no kind uses it (the greatest is
 * KUNWIND_RULE_WIDE, 5). So an entry's kind & KUNWIND_RULE_KIND is an enum
 * kunwind_rule_kind only if KUNWIND_RULE_PLACES is clear. walk.c compares the whole form
 * first; what it then asks by kind never has that bit.
 */
#define KUNWIND_RULE_PLAIN	0x80
#define KUNWIND_RULE_PLACES	0x08
#define KUNWIND_FORM(rbp, reg)	(KUNWIND_RULE_CFA | KUNWIND_RULE_PLAIN | \
				 (rbp) << KUNWIND_RULE_RBP_SHIFT | (reg) << 8)

static __always_inline u16 kunwind_rule_form(const struct kunwind_rule *rule)
{
	u16 form;

	memcpy(&form, (const u8 *)rule + offsetof(struct kunwind_rule, kind), sizeof(form));
	return form;
}

/* As the cache and the walk have it: the rule, and "after" (after.h). */
static __always_inline void kunwind_cache_entry_set(struct kunwind_cache_entry *entry,
						    struct kunwind_rule rule, u64 after)
{
	rule.kind &= ~KUNWIND_RULE_PLAIN;
	if ((rule.kind & (KUNWIND_RULE_KIND | KUNWIND_RULE_SIGNAL)) == KUNWIND_RULE_CFA) {
		if (rule.reg == KUNWIND_RSP ? rule.off > 0 : !(after & KUNWIND_AFTER_PLACES))
			rule.kind |= KUNWIND_RULE_PLAIN;
		/* where rbp is undefined the walk goes by the kind, which this would change */
		if (rule.kind & KUNWIND_RULE_PLAIN && after & KUNWIND_AFTER_PLACES &&
		    (rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) != KUNWIND_RBP_UNKNOWN)
			rule.kind |= KUNWIND_RULE_PLACES;
	}
	entry->rule = rule;
	entry->after = after;
}

static __always_inline struct kunwind_cache_entry *
kunwind_cache_slot(struct kunwind_cache *cache, u64 addr)
{
	/* Fibonacci hashing: the high bits of the product are the well mixed ones. */
	return &cache->entry[(addr * 0x9e3779b97f4a7c15ULL) >> (64 - KUNWIND_CACHE_BITS)];
}

/* The other place where an address of this slot may be. */
static __always_inline struct kunwind_cache_entry *
kunwind_cache_second(struct kunwind_cache *cache, struct kunwind_cache_entry *entry)
{
	return &cache->entry[(entry - cache->entry) ^ 1];
}

/* What else is read of the entry counts only if kunwind_cache_is() it still, afterwards. */
static __always_inline bool kunwind_cache_has(const struct kunwind_cache_entry *entry,
					      u64 addr, u64 id, u64 *after)
{
	*after = READ_ONCE(entry->after);
	barrier();
	return likely(entry->addr == addr) && likely(entry->id == id);
}

static __always_inline bool kunwind_cache_is(const struct kunwind_cache_entry *entry, u64 after)
{
	barrier();
	return likely(READ_ONCE(entry->after) == after);
}

/* Puts it in the first place of its address; what was there goes to the second. */
void kunwind_cache_put(struct kunwind_cache *cache, const struct kunwind_cache_entry *new);

#endif /* _KUNWIND_CACHE_H */

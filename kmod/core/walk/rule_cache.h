/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * rule_cache.h - read the walk's cache of rules
 *
 * docs/unwinding.md describes the cache. An address has two places, next to
 * each other. A reader reads the entry's "after" first (regs_after.h), which
 * contains the sequence number, then the rule, and checks at last that "after"
 * has not changed. An interrupt of this CPU may write the entry meanwhile.
 * Therefore data_race() marks the reads of addr, id and rule. rule_cache.c
 * writes entries. Any context, NMI included; also inside a window.
 */
#ifndef _KUNWIND_RULE_CACHE_H
#define _KUNWIND_RULE_CACHE_H

#include "regs_after.h"

/*
 * The form of a rule is its kind and register in one half word, so that one
 * comparison recognizes each of the most common rules. In the cache and in the
 * walk, the kind has two more bits. KUNWIND_RULE_PLAIN: the kind is
 * KUNWIND_RULE_CFA and the caller made a call. A CFA that is computed from rsp
 * is above rsp. With a CFA that is computed from another register, the step
 * reads no callee-saved register except rbp from the stack.
 * KUNWIND_RULE_PLACES, only beside PLAIN and with a CFA that is computed from
 * rsp: the step reads other callee-saved registers from the stack, and rbp is
 * not KUNWIND_RBP_UNKNOWN. KUNWIND_RULE_PLACES is bit 3, inside
 * KUNWIND_RULE_KIND. No kind uses this bit (the greatest is KUNWIND_RULE_FULL,
 * 5). So kind & KUNWIND_RULE_KIND of an entry is an enum kunwind_rule_kind only
 * if KUNWIND_RULE_PLACES is clear. walk.c compares the whole form first; a rule
 * that it then examines by kind never has this bit.
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

/* Sets rule and "after" (regs_after.h) of an entry, with the bits described above. */
static __always_inline void kunwind_rule_cache_entry_set(struct kunwind_rule_cache_entry *entry,
							 struct kunwind_rule rule, u64 after)
{
	rule.kind &= ~KUNWIND_RULE_PLAIN;
	if ((rule.kind & (KUNWIND_RULE_KIND | KUNWIND_RULE_SIGNAL)) == KUNWIND_RULE_CFA) {
		if (rule.reg == KUNWIND_RSP ? rule.off > 0 : !(after & KUNWIND_AFTER_PLACES))
			rule.kind |= KUNWIND_RULE_PLAIN;
		/* If rbp is unknown, the walk examines the kind, which PLACES would change. */
		if (rule.kind & KUNWIND_RULE_PLAIN && after & KUNWIND_AFTER_PLACES &&
		    (rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) != KUNWIND_RBP_UNKNOWN)
			rule.kind |= KUNWIND_RULE_PLACES;
	}
	entry->rule = rule;
	entry->after = after;
}

static __always_inline struct kunwind_rule_cache_entry *
kunwind_rule_cache_slot(struct kunwind_rule_cache *cache, u64 addr)
{
	/* Fibonacci hashing: the high bits of the product are the well mixed ones. */
	return &cache->entry[(addr * 0x9e3779b97f4a7c15ULL) >> (64 - KUNWIND_RULE_CACHE_BITS)];
}

/* The second place of an address whose first place is @entry. */
static __always_inline struct kunwind_rule_cache_entry *
kunwind_rule_cache_second(struct kunwind_rule_cache *cache, struct kunwind_rule_cache_entry *entry)
{
	return &cache->entry[(entry - cache->entry) ^ 1];
}

/*
 * Returns whether the entry is for this address and these ranges. The rule read
 * after this call is valid only if kunwind_rule_cache_is() then returns true
 * for the same *@after.
 */
static __always_inline bool kunwind_rule_cache_has(const struct kunwind_rule_cache_entry *entry,
						   u64 addr, u64 id, u64 *after)
{
	*after = READ_ONCE(entry->after);
	barrier();
	return likely(data_race(entry->addr) == addr) && likely(data_race(entry->id) == id);
}

static __always_inline bool kunwind_rule_cache_is(const struct kunwind_rule_cache_entry *entry,
						  u64 after)
{
	barrier();
	return likely(READ_ONCE(entry->after) == after);
}

/*
 * Puts an entry in the first place of its address. The entry that was there
 * moves to the second place if it is of the same ranges.
 */
void kunwind_rule_cache_put(struct kunwind_rule_cache *cache,
			    const struct kunwind_rule_cache_entry *new);

#endif /* _KUNWIND_RULE_CACHE_H */

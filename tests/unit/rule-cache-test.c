/* SPDX-License-Identifier: MIT */
/*
 * rule-cache-test.c - the cache of rules under interrupts: a lookup finds the
 * right entry or none
 *
 * The processor's trap flag single-steps a put or a lookup. At each of its
 * instructions in turn, an interrupt (the signal handler) puts other entries in
 * the same slots, or looks some up, as a walk in an NMI would. Each rule that a
 * lookup finds, in the interrupt or afterwards, must be the rule of the address
 * and id that it looks up.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>

#include "kunwind_deps.h"
#include "tap.h"

/* The cache, without sanitizers, so that only its own code is stepped. */
#define PLAIN		__attribute__((__no_sanitize__("address", "undefined")))
#undef __always_inline
#define __always_inline	inline __attribute__((__always_inline__)) PLAIN
#undef kunwind_walk_attr
#define kunwind_walk_attr PLAIN
#define kunwind_rule_cache_put put_stepped
#include "../../kmod/core/walk/rule_cache.c"

#define TRAP_FLAG	0x100
#define NR_ADDRESSES	3
#define NR_IDS		2
#define SAME_AFTER	0x40c0ULL

static struct kunwind_rule_cache cache;
static u64 address[NR_ADDRESSES];	/* all use the same slots */
static bool wrong;
static u32 hits;

/* Entries differ in all fields of the rule; all have the same "after". */
PLAIN static struct kunwind_rule_cache_entry entry_of(u32 a, u32 id)
{
	struct kunwind_rule_cache_entry entry = { .addr = address[a], .id = 1 + id };
	struct kunwind_rule rule = {
		.kind = KUNWIND_RULE_CFA, .reg = KUNWIND_RSP,
		.off = 8 + 16 * (a * NR_IDS + id), .rbp = -8 * (s32)(a * NR_IDS + id),
	};

	kunwind_rule_cache_entry_set(&entry, rule, SAME_AFTER);
	return entry;
}

static struct kunwind_rule_cache_entry entries[NR_ADDRESSES][NR_IDS];

PLAIN static void put(u32 a, u32 id)
{
	kunwind_rule_cache_put(&cache, &entries[a][id]);
}

/* Looks up as the walk does. */
PLAIN static void look_up(u32 a, u32 id)
{
	struct kunwind_rule_cache_entry *slot = kunwind_rule_cache_slot(&cache, address[a]);
	const struct kunwind_rule_cache_entry *want = &entries[a][id];
	struct kunwind_rule rule;
	u64 after;

	if (!kunwind_rule_cache_has(slot, address[a], 1 + id, &after)) {
		slot = kunwind_rule_cache_second(&cache, slot);
		if (!kunwind_rule_cache_has(slot, address[a], 1 + id, &after))
			return;
	}
	rule = slot->rule;
	if (!kunwind_rule_cache_is(slot, after))
		return;
	hits++;
	wrong |= rule.off != want->rule.off || rule.rbp != want->rule.rbp ||
		 kunwind_rule_form(&rule) != kunwind_rule_form(&want->rule) ||
		 (u32)after << 1 != (u32)want->after << 1;
}

static void look_up_all(void)
{
	u32 a, id;

	for (a = 0; a < NR_ADDRESSES; a++)
		for (id = 0; id < NR_IDS; id++)
			look_up(a, id);
}

PLAIN static void put_00(void) { put(0, 0); }
PLAIN static void put_01(void) { put(0, 1); }
static void put_two(void) { put(1, 0); put(2, 1); }
static void put_again(void) { put(1, 0); put(0, 0); }
PLAIN static void look_00(void) { look_up(0, 0); }

/* The operations that are interrupted, and what the interrupt does. */
static const struct action {
	const char *name;
	void (*run)(void);
} outers[] = {
	{ "a put", put_00 }, { "a put of another id", put_01 }, { "a lookup", look_00 },
}, inners[] = {
	{ "lookups", look_up_all },
	{ "a put of its address", put_00 },
	{ "a put of its address with another id", put_01 },
	{ "two puts of other addresses", put_two },
	{ "puts of another address and of its address", put_again },
};

static volatile u32 step, at;
static volatile bool stepping;
static void (*volatile interrupt)(void);

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	if (stepping && step++ == at) {
		interrupt();
		look_up_all();
		stepping = false;
	}
	if (!stepping)
		uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

/* Skips the red zone, which the compiler may use. */
#define trap_on()								\
	__asm__ __volatile__("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; " \
			     "lea 128(%%rsp), %%rsp" : : : "memory", "cc")

/* Returns at how many instructions @outer was interrupted. */
PLAIN static u32 interrupted(const struct action *outer, const struct action *inner)
{
	u32 taken = 0;

	interrupt = inner->run;
	for (at = 0;; at++) {
		memset(&cache, 0, sizeof(cache));
		/* entries of both ids: a put may push out either */
		put(2, 1);
		put(1, 1);
		put(0, 0);
		step = 0;
		stepping = true;
		trap_on();
		outer->run();
		if (stepping) {
			stepping = false;
			break;
		}
		taken++;
		look_up_all();
	}
	return taken;
}

static void test_interrupts(void)
{
	u32 outer, inner, steps;

	for (outer = 0; outer < ARRAY_SIZE(outers); outer++)
		for (inner = 0; inner < ARRAY_SIZE(inners); inner++) {
			wrong = false;
			hits = 0;
			steps = interrupted(&outers[outer], &inners[inner]);
			tap_ok(!wrong && steps > 20 && hits > steps,
			       "rule cache: %s, interrupted at each of %u instructions by %s: no wrong rule",
			       outers[outer].name, steps, inners[inner].name);
		}
}

/* Words that no walk looks up must not push out entries that walks look up. */
PLAIN static void test_no_address(void)
{
	struct kunwind_rule_cache_entry entry = entry_of(0, 0);
	u32 pushed = 0;
	u64 high;

	memset(&cache, 0, sizeof(cache));
	put(0, 0);
	for (high = 1ULL << 57; pushed < 4; high += 0x10001) {
		if (kunwind_rule_cache_slot(&cache, high) !=
		    kunwind_rule_cache_slot(&cache, address[0]))
			continue;
		entry.addr = high;
		kunwind_rule_cache_put(&cache, &entry);
		pushed++;
	}
	hits = 0;
	wrong = false;
	look_up(0, 0);
	tap_ok(hits == 1 && !wrong, "rule cache: words that cannot be addresses replace no entry");
}

/* The walk does not check an address that it finds in the cache: only return addresses are kept. */
PLAIN static void test_borders(void)
{
	static const struct { u64 address; bool is_kept; } borders[] = {
		{ 0, false }, { 1, true }, { 1ULL << KUNWIND_ADDRESS_BITS, true },
		{ (1ULL << KUNWIND_ADDRESS_BITS) + 1, false }, { ~0ULL, false },
	};
	struct kunwind_rule_cache_entry entry = entry_of(0, 0);
	u32 i, bad = 0;
	u64 after;

	for (i = 0; i < ARRAY_SIZE(borders); i++) {
		memset(&cache, 0, sizeof(cache));
		entry.addr = borders[i].address;
		kunwind_rule_cache_put(&cache, &entry);
		bad += kunwind_rule_cache_has(kunwind_rule_cache_slot(&cache, entry.addr), entry.addr,
					      entry.id, &after) != borders[i].is_kept;
	}
	tap_ok(!bad,
	       "rule cache: keeps all addresses to which a call can return, neither 0 nor higher ones");
}

PLAIN static bool is_found(u32 a, u32 id)
{
	hits = 0;
	look_up(a, id);
	return hits;
}

/* A put keeps the entry that it replaces, in the other half of the line, if both have one id. */
PLAIN static void test_two_places(void)
{
	struct kunwind_rule_cache_entry *slot = kunwind_rule_cache_slot(&cache, address[0]), *second;
	u32 i, bad = 0;

	for (i = 0; i < KUNWIND_RULE_CACHE_ENTRIES; i++) {
		second = kunwind_rule_cache_second(&cache, &cache.entry[i]);
		bad += second == &cache.entry[i] || (uintptr_t)second / 64 != (uintptr_t)&cache.entry[i] / 64;
	}
	tap_ok(!bad, "rule cache: the two places of an address are in one line of the data cache");
	memset(&cache, 0, sizeof(cache));
	wrong = false;
	put(0, 0);
	put(1, 0);
	tap_ok(is_found(0, 0) && is_found(1, 0) && !is_found(2, 0) && !is_found(0, 1) && !wrong,
	       "rule cache: two addresses of one slot are both found");
	put(2, 0);
	tap_ok(!is_found(0, 0) && is_found(1, 0) && is_found(2, 0) && !wrong,
	       "rule cache: a third address replaces the oldest");
	put(0, 1);
	tap_ok(is_found(0, 1) && is_found(1, 0) && !is_found(2, 0) && !wrong,
	       "rule cache: an entry of other ranges is not moved to the second place");
	tap_ok((slot->after & KUNWIND_AFTER_SEQ) == 4 * 2 * KUNWIND_AFTER_SEQ_ONE &&
	       (slot->after & ~KUNWIND_AFTER_SEQ) == SAME_AFTER,
	       "rule cache: each write adds two to the sequence number, and keeps the registers");
	second = kunwind_rule_cache_second(&cache, slot);
	tap_ok((second->after & KUNWIND_AFTER_SEQ) == 2 * 2 * KUNWIND_AFTER_SEQ_ONE &&
	       (second->after & ~KUNWIND_AFTER_SEQ) == SAME_AFTER,
	       "rule cache: a moved entry has its place's own sequence number");
}

/* What an entry says of the rule's form: rule_cache.h. */
PLAIN static void test_forms(void)
{
	enum { CFA = KUNWIND_RULE_CFA, PLAIN_ = KUNWIND_RULE_PLAIN, PLACES = KUNWIND_RULE_PLACES,
	       SAVED = KUNWIND_RBP_SAVED << KUNWIND_RULE_RBP_SHIFT,
	       UNKNOWN = KUNWIND_RBP_UNKNOWN << KUNWIND_RULE_RBP_SHIFT };
	static const struct {
		u8 kind, reg, want;
		s32 off;
		bool places;
	} forms[] = {
		{ CFA, KUNWIND_RSP, CFA | PLAIN_, 8, false },
		{ CFA, KUNWIND_RSP, CFA, 0, false },
		{ CFA, KUNWIND_RSP, CFA, -8, false },
		{ CFA | PLAIN_, KUNWIND_RSP, CFA, 0, false },
		{ CFA | SAVED, KUNWIND_RSP, CFA | SAVED | PLAIN_, 16, false },
		{ CFA, KUNWIND_RSP, CFA | PLAIN_ | PLACES, 24, true },
		{ CFA | SAVED, KUNWIND_RSP, CFA | SAVED | PLAIN_ | PLACES, 24, true },
		{ CFA | UNKNOWN, KUNWIND_RSP, CFA | UNKNOWN | PLAIN_, 24, true },
		{ CFA, KUNWIND_RSP, CFA, 0, true },
		{ CFA, KUNWIND_RBP, CFA | PLAIN_, -16, false },
		{ CFA | SAVED, KUNWIND_RBP, CFA | SAVED, 16, true },
		{ CFA | KUNWIND_RULE_SIGNAL, KUNWIND_RSP, CFA | KUNWIND_RULE_SIGNAL, 8, true },
		{ KUNWIND_RULE_DEREF, KUNWIND_RSP, KUNWIND_RULE_DEREF, 8, true },
		{ KUNWIND_RULE_PLT, KUNWIND_RSP, KUNWIND_RULE_PLT, 11, false },
		{ KUNWIND_RULE_END | PLAIN_, KUNWIND_RSP, KUNWIND_RULE_END, 1, false },
	};
	u32 i, bad = 0;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		const u64 after = SAME_AFTER | (forms[i].places ? KUNWIND_AFTER_PLACES : 0);
		struct kunwind_rule_cache_entry entry = { .addr = 5, .id = 7 };
		struct kunwind_rule rule = {
			.kind = forms[i].kind, .reg = forms[i].reg, .off = forms[i].off, .rbp = -16,
		};

		kunwind_rule_cache_entry_set(&entry, rule, after);
		bad += entry.rule.kind != forms[i].want || entry.rule.reg != rule.reg ||
		       entry.rule.off != rule.off || entry.rule.rbp != rule.rbp ||
		       entry.after != after || entry.addr != 5 || entry.id != 7;
	}
	tap_ok(!bad, "rule cache: an entry says which rules are plain, and which have places");
}

PLAIN int main(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	u64 at_address = 0x400001;
	u32 i;

	for (i = 0; i < NR_ADDRESSES; at_address += 5)
		if (!i || kunwind_rule_cache_slot(&cache, at_address) ==
			  kunwind_rule_cache_slot(&cache, address[0]))
			address[i++] = at_address;
	for (i = 0; i < NR_ADDRESSES * NR_IDS; i++)
		entries[i / NR_IDS][i % NR_IDS] = entry_of(i / NR_IDS, i % NR_IDS);
	test_forms();
	test_two_places();
	test_no_address();
	test_borders();
	sigaction(SIGTRAP, &action, NULL);
	test_interrupts();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * jit_rule.c - a cache of steps from frames in code of a JIT
 *
 * The methods without CFI (step.c) read much code for a frame of a JIT, and the
 * same frame is on most stacks of the program. Its code says where the return
 * address is: at a distance from rsp, or above rbp. An entry keeps this place for
 * one return address, and a hash of the code that decides it: the words around
 * the return address, and, if the place is counted from rsp, the words before the
 * return instruction, which release the frame. A JIT may free code and put other
 * code in its place. It is not enough then that the call is at the same address
 * and is the same: all these bytes must be equal.
 *
 * The stack must fit, too. The word at the place must be the return address that
 * was found there last, or follow a call, or be where OpenJDK's interpreter goes on
 * after a call. Unless the code itself takes rsp from rbp, the saved rbp must be
 * greater than rbp, or zero. Otherwise the methods decide again.
 *
 * An entry is used only after two walks have found the same place with the same
 * hash. The code may change while one walk reads it; the hash is made after that.
 * The second result shows that the code with this hash gives this place.
 *
 * Entries are valid in one address space, for one list of ranges, as in
 * analysis_cache.c. Not kept: steps whose place depends on more than the code (a
 * realigned stack, a signal). An address has two places.
 *
 * Cost: some 100 instructions a step. Memory: 28 KB for each CPU.
 */
#include "../walk/mem.h"
#include "../walk/ranges.h"
#include "../x86/code_hash.h"
#include "analysis_cache.h"
#include "code_analysis.h"
#include "jit_interpreter.h"
#include "jit_rule.h"

#define COST_OF_RULE	3	/* in units of the budget */

/* Whether the entry is for @ip, in the ranges and the address space of this walk. */
static __always_inline bool is_rule(const struct kunwind_analysis_cache *cache,
				    const struct kunwind_jit_rule *rule, u64 ip)
{
	return rule->ip == ip && rule->id == cache->id && rule->space == cache->space;
}

/* The first of the two places of @ip; the second is beside it. */
static __always_inline struct kunwind_jit_rule *places_of(struct kunwind_analysis_cache *cache, u64 ip)
{
	return &cache->jit->rule[(ip * KUNWIND_HASH_FACTOR) >> (64 - KUNWIND_JIT_RULES_BITS) & ~1ULL];
}

/* The place to keep a rule for @ip: its own, or one whose rule is not used, or the second. */
static struct kunwind_jit_rule *kunwind_walk_attr place_for(struct kunwind_analysis_cache *cache, u64 ip)
{
	struct kunwind_jit_rule *rule = places_of(cache, ip);

	if (is_rule(cache, &rule[0], ip) || is_rule(cache, &rule[1], ip))
		return &rule[!is_rule(cache, &rule[0], ip)];
	return &rule[rule[0].confirmed && rule[0].id == cache->id && rule[0].space == cache->space];
}

/* Adds the words from @at up to @to to *@hash; inside the window. */
static __always_inline bool add_code(struct kunwind_mem *mem, u64 at, u64 to, u64 *hash)
{
	u64 word;

	for (; at < to; at += 8) {
		kunwind_mem_read(mem, word, at, fault);
		*hash = kunwind_hash_add(*hash, word);
	}
	return true;
fault:
	return false;
}

/* The hash of the code that decides the place; inside the window. */
static __always_inline bool hash_code(struct kunwind_mem *mem, u64 ip, s32 end, u64 *hash)
{
	*hash = KUNWIND_HASH_ODD;
	return add_code(mem, ip - 8, ip + 24, hash) &&
	       (!end || add_code(mem, ip + (s64)end - 16, ip + (s64)end, hash));
}

/*
 * Whether @ra, at @slot, follows a call, or is where the interpreter's frame at @bp goes on
 * (kunwind_proof_takes_rsp()).
 */
static bool kunwind_walk_attr returns(struct kunwind_walk *walk, const struct kunwind_range *range,
				      u64 ra, u64 slot, u64 bp)
{
	const struct kunwind_nocfi_frame frame = { .range = range };
	const struct kunwind_candidate c = { .ra = ra, .slot = slot };
	u64 target;
	s8 at;

	return kunwind_proof_call(walk, ra, &target) ||
	       (kunwind_proof_takes_rsp(walk, &frame, &c, &at) && kunwind_proof_noted_rsp(walk, &c, bp, at));
}

bool kunwind_walk_attr kunwind_jit_rule_step(struct kunwind_walk *walk,
					     const struct kunwind_range *range, u8 *method)
{
	const u64 ip = walk->regs.r[KUNWIND_RA], sp = walk->regs.r[KUNWIND_RSP];
	bool bp_known = walk->regs.valid & KUNWIND_REG(KUNWIND_RBP);
	struct kunwind_analysis_cache *cache = walk->mem.answers;
	u64 hash, slot, ra, bp = walk->regs.r[KUNWIND_RBP], from;
	const u64 frame_bp = bp;
	struct kunwind_mem *mem = &walk->mem;
	struct kunwind_jit_rule *rule;

	kunwind_analysis_cache_begin(walk);
	if (!cache || !cache->jit)
		return false;
	rule = places_of(cache, ip);
	rule += !is_rule(cache, rule, ip);
	if (!is_rule(cache, rule, ip) || !rule->confirmed || sp & 7 || READ_ONCE(range->dead) ||
	    ip - 1 - range->start >= range->end - range->start || !kunwind_pay(mem, COST_OF_RULE))
		return false;
	if (!rule->from_rsp && (bp & 7 || !bp_known || bp - sp > KUNWIND_FRAME_MOST))
		return false;
	from = rule->from_rsp ? sp : bp;
	if (!kunwind_mem_begin(mem, from))
		return false;
	if (!hash_code(mem, ip, rule->end, &hash) || hash != rule->hash)
		goto no;
	if (rule->end && bp_known)
		from = kunwind_jit_sender_sp(mem, sp, bp);
	slot = from + (s64)rule->ra_at;
	kunwind_mem_read(mem, ra, slot, no);
	if (rule->rbp_at >= 0)
		kunwind_mem_read(mem, bp, slot - (s64)rule->rbp_at, no);
	kunwind_mem_end(mem);
	if (!rule->from_rsp && !rule->own_rbp && bp && bp <= frame_bp)
		return false;
	if (ra != rule->caller) {
		/* An entry's place may differ by its alignment. */
		if ((rule->from_rsp && !rule->end) || !returns(walk, range, ra, slot, bp))
			return false;
		rule->caller = ra;
	}
	if (rule->rbp_at >= 0)
		bp_known = true;
	else if (rule->rbp_at == KUNWIND_CODE_RBP_LOST)
		bp_known = false;
	walk->regs.r[KUNWIND_RA] = ra;
	walk->regs.r[KUNWIND_RSP] = slot + 8;
	walk->regs.r[KUNWIND_RBP] = bp;
	walk->regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) |
			   (bp_known ? KUNWIND_REG(KUNWIND_RBP) : 0);
	*method = rule->method;
	return true;
no:
	kunwind_mem_end(mem);
	return false;
}

void kunwind_walk_attr kunwind_jit_rule_keep(struct kunwind_walk *walk,
					     const struct kunwind_nocfi_frame *frame,
					     const struct kunwind_candidate *c, u8 method)
{
	const bool made = method == KUNWIND_BY_JIT_ENTRY || method == KUNWIND_BY_JIT_MADE;
	const bool entry = made && !c->by_calls;
	const bool by_rsp = made || (method == KUNWIND_BY_AHEAD && c->by_calls);
	struct kunwind_analysis_cache *cache = walk->mem.answers;
	struct kunwind_jit_rule rule = {
		.ip = frame->ip, .caller = c->ra, .method = method,
		.ra_at = by_rsp && !entry ? (u64)c->depth : c->slot - (by_rsp ? frame->sp : frame->bp),
		.rbp_at = by_rsp ? c->rbp_at : 8, .end = by_rsp && !entry ? c->end : 0,
		.from_rsp = by_rsp,
		.own_rbp = method == KUNWIND_BY_AHEAD || (method == KUNWIND_BY_JIT_FRAME && c->own_rbp),
	};
	struct kunwind_mem *mem = &walk->mem;
	struct kunwind_jit_rule *old;
	bool read;

	if (method != KUNWIND_BY_AHEAD && method != KUNWIND_BY_JIT_FRAME && !made)
		return;
	if (!cache || !cache->jit || !mem->asked || !mem->left ||
	    (!by_rsp && (rule.ra_at != 8 || !frame->bp_known)) ||
	    (method == KUNWIND_BY_AHEAD && (c->resumes || (!by_rsp && c->rbp_at != 8))) ||
	    !kunwind_pay(mem, COST_OF_RULE) || !kunwind_mem_begin(mem, frame->ip))
		return;
	read = hash_code(mem, frame->ip, rule.end, &rule.hash);
	kunwind_mem_end(mem);
	if (!read)
		return;
	rule.id = cache->id;
	rule.space = cache->space;
	old = place_for(cache, frame->ip);
	rule.confirmed = is_rule(cache, old, frame->ip) && old->hash == rule.hash &&
			 old->ra_at == rule.ra_at && old->rbp_at == rule.rbp_at && old->end == rule.end &&
			 old->from_rsp == rule.from_rsp;
	*old = rule;
}

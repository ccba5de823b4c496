// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * walk.c - the walk of 64-bit code: from registers to a call stack
 *
 * Any context, NMI included. The common frame costs a hit in the cache of
 * rules, one read of the stack and a few comparisons, inside one window of
 * access to user memory. Two cases close the window first: an address that is
 * not in the cache (then range, table and row are looked up), and a wide rule
 * (signal frames, expressions).
 *
 * Bounds: at most one step for each address that the caller has room for. A
 * step by a rule from the cache takes some 36 instructions; the budget (mem.h)
 * pays for all others. Stack: below 1,700 bytes.
 *
 * The stack of a frame mostly lies below its caller's. Exceptions: a signal or
 * code (switch.c) has switched stacks, or a frame that did not call (addr ==
 * ip) has nothing on its stack (glibc's vfork keeps its return address in a
 * register). So any step may lower the stack pointer. A walk in circles ends
 * when it finds a frame twice (returns_lower()).
 *
 * Without CFI, bare.c finds the caller by a proof, or by a guess if walk->guess
 * is set; otherwise the walk ends with a reason. docs/unwinding.md describes
 * rules, steps, methods.
 */
#include "../nocfi/bare.h"
#include "../nocfi/proof.h"
#include "../nocfi/start.h"
#include "../table/table.h"
#include "cache.h"
#include "mem.h"
#include "recent.h"
#include "walk.h"
#include "wide.h"

/*
 * Looks up the rule for @addr. A table in parts is replaced in *@table by the
 * part. Returns KUNWIND_COMPLETE, also with KUNWIND_RULE_NONE if no row covers
 * the address; or the reason why the part cannot be used.
 */
static __always_inline enum kunwind_reason
look_up(const struct kunwind_table **table, u64 addr, struct kunwind_rule *rule)
{
	const struct kunwind_table *whole = *table;
	enum kunwind_reason reason;

	*rule = kunwind_table_lookup(whole, addr);
	if (likely((rule->kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_NONE))
		return KUNWIND_COMPLETE;
	reason = kunwind_table_part(table, addr);
	if (reason == KUNWIND_COMPLETE && *table != whole)
		*rule = kunwind_table_lookup(*table, addr);
	return reason;
}

/* Tries the range of the last lookup first: most frames are in the same one. */
static __always_inline const struct kunwind_range *find_range(struct kunwind_walk *walk, u64 addr)
{
	const struct kunwind_range *range = walk->range;

	if (range && addr - range->start < range->end - range->start)
		return range;
	range = kunwind_ranges_find(walk->ranges, addr);
	walk->range = range;
	return range;
}

noinline enum kunwind_reason kunwind_walk_attr
kunwind_walk_rule(struct kunwind_walk *walk, u64 addr, bool exact, u64 sp,
		  struct kunwind_rule *rule, const struct kunwind_table **table, bool *end)
{
	const struct kunwind_range *range = find_range(walk, addr);
	const u64 ip = addr + !exact;
	const struct kunwind_table *found;
	enum kunwind_reason reason;
	u32 kind;

	*end = false;
	if (!range)
		return KUNWIND_NO_OBJECT;
	/* Pairs with the writer, which sets dead first, then a new id. */
	if (READ_ONCE(range->dead))
		return KUNWIND_NOT_READY;
	/* The writer sets bias before table, maybe just now. x86 keeps the order of loads. */
	found = READ_ONCE(range->table);
	barrier();
	if (found) {
		/* 64-bit rules cannot step from 32-bit code, nor 32-bit rules from 64-bit code. */
		if (unlikely(found->i386 != walk->i386))
			return KUNWIND_NO_RULE;
		addr -= range->bias;
		*table = found;
		reason = look_up(table, addr, rule);
	} else {
		reason = READ_ONCE(range->reason);
	}
	if (unlikely(!found || reason != KUNWIND_COMPLETE)) {
		*end = reason == KUNWIND_NO_TABLE && kunwind_at_start(walk, ip, sp);
		return *end ? KUNWIND_COMPLETE : reason;
	}
	kind = rule->kind & KUNWIND_RULE_KIND;
	/*
	 * At the entry of rt_sigreturn, the program counter is after the
	 * trampoline's last instruction. A handler returns to the first one,
	 * and the byte before that may be in no FDE: libc extends the
	 * trampoline's FDE over it, the 32-bit vDSO of Linux 7.2 no longer
	 * does.
	 */
	if (kind == KUNWIND_RULE_NONE && (exact || walk->i386)) {
		struct kunwind_rule beside;

		reason = look_up(&found, exact ? addr - 1 : addr + 1, &beside);
		if (unlikely(reason != KUNWIND_COMPLETE))
			return reason;
		/* All trampolines' rules are wide. A short one would be cached for this address. */
		if ((beside.kind & KUNWIND_RULE_SIGNAL) &&
		    (beside.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_WIDE) {
			*table = found;
			*rule = beside;
			kind = rule->kind & KUNWIND_RULE_KIND;
		}
	}
	if (kind == KUNWIND_RULE_END)
		*end = true;
	if (kind != KUNWIND_RULE_NONE)
		return KUNWIND_COMPLETE;
	*end = kunwind_at_start(walk, ip, sp);
	return *end ? KUNWIND_COMPLETE : KUNWIND_NO_RULE;
}

/* Returns whether a cached KUNWIND_RULE_END (end_rule()) holds for this stack pointer. */
static __always_inline bool ends_here(const struct kunwind_walk *walk, struct kunwind_rule rule,
				      u64 sp)
{
	return !rule.off || walk->ranges->entry_sp - sp == (u64)rule.off - 1;
}

/*
 * Computes the CFA by a rule that has none of the common forms; inside the
 * window. Returns false, and the reason, if there is no CFA.
 */
static __always_inline bool rare_cfa(struct kunwind_walk *walk, struct kunwind_rule rule, u64 ip,
				     u64 sp, u64 bp, u32 valid, u64 *cfap,
				     enum kunwind_reason *reason)
{
	u32 reg = rule.reg;
	u64 cfa;

	if (!(valid & KUNWIND_REG(reg & 31))) {
		*reason = KUNWIND_REG_UNKNOWN;
		return false;
	}
	cfa = reg == KUNWIND_RSP ? sp : reg == KUNWIND_RBP ? bp : walk->regs.r[reg & 15];
	switch (rule.kind & KUNWIND_RULE_KIND) {
	case KUNWIND_RULE_CFA:
		cfa += (s64)rule.off;
		break;
	case KUNWIND_RULE_DEREF:
		cfa += (s64)rule.off;
		kunwind_mem_read(&walk->mem, cfa, cfa, unreadable);
		break;
	case KUNWIND_RULE_PLT:
		/* 8 bytes more after the push of the PLT slot. */
		cfa += 8 + ((ip & 15) >= (u64)(s64)rule.off ? 8 : 0);
		break;
	default:	/* KUNWIND_RULE_END */
		*reason = KUNWIND_COMPLETE;
		return false;
	}
	*cfap = cfa;
	return true;
unreadable:
	*reason = KUNWIND_UNREADABLE;
	return false;
}

/*
 * Returns where the first frame's return address is, if its rule is a
 * KUNWIND_RULE_CFA; otherwise the stack pointer. The page there may be absent
 * if the event is the page fault of the first access to a new frame.
 */
static noinline u64 kunwind_walk_attr first_address(struct kunwind_walk *walk)
{
	const struct kunwind_regs *regs = &walk->regs;
	const struct kunwind_table *table;
	struct kunwind_rule rule;
	bool end;

	if (kunwind_walk_rule(walk, regs->r[KUNWIND_RA], true, regs->r[KUNWIND_RSP], &rule, &table,
			      &end) != KUNWIND_COMPLETE || end ||
	    (rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_CFA || rule.reg >= KUNWIND_RA)
		return regs->r[KUNWIND_RSP];
	return regs->r[kunwind_index(rule.reg, KUNWIND_RA)] + (s64)rule.off - 8;
}

/* How a walk goes on at an address whose rule is not in the cache. */
enum slow_how {
	SLOW_RULE,	/* apply slow.entry */
	SLOW_STEPPED,	/* walk->regs are already the caller's */
	SLOW_RETURN,	/* the address is a return probe's trampoline, which returns to slow.ret */
	SLOW_END,	/* the walk ends with slow.reason */
};

struct slow {
	struct kunwind_cache_entry entry;
	u64 ret;
	u8 reason;		/* enum kunwind_reason */
	struct kunwind_found how;	/* with SLOW_STEPPED */
};

/*
 * Discards the step if it spent the budget: some of its reads were refused, so
 * its result may be wrong.
 */
static __always_inline enum slow_how paid(const struct kunwind_walk *walk, enum slow_how how,
					  struct slow *slow)
{
	if (likely(walk->mem.left))
		return how;
	slow->reason = KUNWIND_DEPTH;
	return SLOW_END;
}

/*
 * Steps from the frame in walk->regs, for which no table has a rule. If a later
 * table may have one (KUNWIND_NOT_READY, KUNWIND_MEMORY_LIMIT), the walk ends.
 */
static noinline enum slow_how kunwind_walk_attr
slow_bare(struct kunwind_walk *walk, bool exact, enum kunwind_reason reason, struct slow *slow)
{
	slow->reason = reason;
	if (reason != KUNWIND_NO_OBJECT && reason != KUNWIND_NO_RULE && reason != KUNWIND_NO_TABLE)
		return SLOW_END;
	if (!exact && reason == KUNWIND_NO_OBJECT) {
		u64 ip = walk->regs.r[KUNWIND_RA];

		slow->ret = kunwind_bare_return(walk, ip, walk->regs.r[KUNWIND_RSP] - 8);
		if (slow->ret != ip)
			return SLOW_RETURN;
	}
	reason = kunwind_bare_step(walk, exact, &slow->how);
	return reason == KUNWIND_COMPLETE ? SLOW_STEPPED : SLOW_END;
}

/* Steps by the wide rule @index, or returns and caches the equivalent short rule. */
static noinline enum slow_how kunwind_walk_attr
slow_wide(struct kunwind_walk *walk, const struct kunwind_table *table, s32 index,
	  struct slow *slow)
{
	struct kunwind_rule compact;
	u64 after;

	if (!kunwind_wide_compact(table, index, &compact, &after)) {
		slow->how = (struct kunwind_found){ .trust = KUNWIND_TRUST_CFI };
		slow->reason = kunwind_wide_step(walk, table, index, &slow->how.signal);
		return slow->reason == KUNWIND_COMPLETE ? SLOW_STEPPED : SLOW_END;
	}
	kunwind_cache_entry_set(&slow->entry, compact, after);
	if (walk->cache)
		kunwind_cache_put(walk->cache, &slow->entry);
	return SLOW_RULE;
}

/*
 * The rule that the cache keeps for an outermost frame. Unless CFI marked the
 * frame, the rule holds only for this stack pointer (ends_here()).
 */
static __always_inline struct kunwind_rule end_rule(const struct kunwind_walk *walk,
						    struct kunwind_rule rule)
{
	const bool told = (rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_END;

	return (struct kunwind_rule){
		.kind = KUNWIND_RULE_END,
		.reg = KUNWIND_RSP,
		.off = told ? 0 : 1 + walk->ranges->entry_sp - walk->regs.r[KUNWIND_RSP],
	};
}

/* The step from the frame in walk->regs, outside any window. */
static noinline enum slow_how kunwind_walk_attr
slow_step(struct kunwind_walk *walk, u64 addr, u64 id, struct slow *slow)
{
	const bool exact = addr == walk->regs.r[KUNWIND_RA];
	const struct kunwind_table *table;
	enum kunwind_reason reason;
	struct kunwind_rule rule;
	bool end, trampoline;

	/* Set here: at SLOW_END it would cost each cached frame two instructions to keep sp. */
	walk->unread[0] = walk->regs.r[KUNWIND_RSP];
	walk->mem.id = id;
	if (!kunwind_pay(&walk->mem, KUNWIND_COST_LOOKUP)) {
		slow->reason = KUNWIND_DEPTH;
		return SLOW_END;
	}
	rule.kind = KUNWIND_RULE_NONE;
	reason = kunwind_walk_rule(walk, addr, exact, walk->regs.r[KUNWIND_RSP], &rule, &table,
				   &end);
	slow->entry.addr = addr;
	slow->entry.id = id;
	/*
	 * A signal trampoline without a rule may lie directly after a function.
	 * Nothing calls a trampoline, so the rule found by the address minus
	 * one belongs to that function. The cache does not keep this rule.
	 */
	trampoline = reason == KUNWIND_COMPLETE && !exact &&
		     kunwind_proof_may_be_trampoline(walk->code) && !(rule.kind & KUNWIND_RULE_SIGNAL);
	if (trampoline) {
		const u32 valid = walk->regs.valid;

		if (kunwind_bare_signal(walk, false)) {
			slow->how = (struct kunwind_found){ .trust = KUNWIND_TRUST_SIGNAL,
							    .signal = true };
			return paid(walk, SLOW_STEPPED, slow);
		}
		/* The address is in a trampoline, but the signal frame could not be read. */
		if (walk->regs.valid != valid) {
			slow->reason = KUNWIND_UNREADABLE;
			return SLOW_END;
		}
	}
	if (unlikely(end)) {
		if (walk->cache && !trampoline) {
			kunwind_cache_entry_set(&slow->entry, end_rule(walk, rule), 0);
			kunwind_cache_put(walk->cache, &slow->entry);
		}
		slow->reason = KUNWIND_COMPLETE;
		return SLOW_END;
	}
	if (unlikely(reason != KUNWIND_COMPLETE))
		return paid(walk, slow_bare(walk, exact, reason, slow), slow);
	if ((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_WIDE)
		return paid(walk, slow_wide(walk, table, rule.off, slow), slow);
	/* No builder makes such a rule. A step by a cached rule does not check again. */
	if (unlikely(rule.reg >= KUNWIND_RA || (rule.kind & KUNWIND_RULE_KIND) > KUNWIND_RULE_WIDE)) {
		slow->reason = KUNWIND_CORRUPT;
		return SLOW_END;
	}
	kunwind_cache_entry_set(&slow->entry, rule, kunwind_after(table->keep));
	if (walk->cache && !trampoline)
		kunwind_cache_put(walk->cache, &slow->entry);
	return SLOW_RULE;
}

/* Reads a register whose place "after" gives; inside the window. */
#define restore_reg(number, reg)						\
do {										\
	u32 place_ = kunwind_after_place(after, number);			\
	u64 value_;								\
										\
	if (place_) {								\
		kunwind_mem_read(&walk->mem, value_, cfa - 8 - 8 * place_, lost); \
		walk->regs.r[reg] = value_;					\
		valid |= KUNWIND_REG(reg);					\
	}									\
} while (0)

/*
 * The element of recent->cfa or recent->address for the address that will be
 * stored at *next. These two arrays and walk->addresses have elements of 8
 * bytes, so one distance ("beside") is enough.
 */
#define note_of(what)								\
	((u64 *)((u64)next + beside + offsetof(struct kunwind_recent, what)))

/*
 * True: not a user address. Zero ends a complete stack (psABI 3.4.1 and every
 * libc). Zero minus one has all bits set.
 */
static __always_inline bool no_address(u64 ra, enum kunwind_reason *reason)
{
	if (likely(!((ra - 1) >> KUNWIND_ADDRESS_BITS)))
		return false;
	*reason = ra ? KUNWIND_BAD_ADDRESS : KUNWIND_COMPLETE;
	return true;
}

/*
 * A saved rbp is read only when a rule needs it; until then, bp_at is its
 * address. NO_SLOT (in the upper half, no user stack): bp holds the value.
 */
#define NO_SLOT		(1ULL << 63)

/* Reads the frame's rbp if bp does not hold it yet; inside the window. */
#define need_rbp()								\
do {										\
	if (bp_at != NO_SLOT) {							\
		walk->unread[1] = bp_at;					\
		kunwind_mem_read(&walk->mem, bp, bp_at, unreadable);		\
		if (noted) {							\
			rbp->at = bp_at;					\
			rbp->value = bp;					\
			rbp++;							\
		}								\
		bp_at = NO_SLOT;						\
	}									\
} while (0)

/* A frame whose CFA counts from rsp, and whose rbp is saved; inside the window. */
#define saved_by_rsp()								\
do {										\
	cfa = sp + (s64)slot->rule.off;						\
	rule.rbp = slot->rule.rbp;						\
	if (!kunwind_cache_is(slot, after))					\
		goto miss;							\
	bp_at = cfa + (s64)rule.rbp;						\
	valid |= KUNWIND_REG(KUNWIND_RBP);					\
} while (0)

/*
 * The caller's stack pointer is not above this frame's: code or a signal has
 * switched stacks. The walk ends if the caller equals this frame or the kept
 * one, because no stack has a frame twice. Each kept frame is kept for twice as
 * many such steps as the one before.
 */
#define returns_lower(stuck)							\
do {										\
	if ((cfa == sp && ra == next[-1] && addr != ra) ||			\
	    (walk->lower_nr && cfa == walk->lower_cfa && ra == walk->lower_ra)) { \
		reason = KUNWIND_CFA_STUCK;					\
		goto stuck;							\
	}									\
	if (!(walk->lower_nr & (walk->lower_nr - 1))) {				\
		walk->lower_cfa = cfa;						\
		walk->lower_ra = ra;						\
	}									\
	walk->lower_nr++;							\
} while (0)

/*
 * Compiled twice, so that a walk without a note does not pay for one. A return
 * address is stored before it is checked: an address that the cache has is
 * valid, others are checked at "miss" or "full".
 */
static __always_inline enum kunwind_reason walk_by(struct kunwind_walk *walk, const bool noted)
{
	u64 addr = walk->regs.r[KUNWIND_RA], sp = walk->regs.r[KUNWIND_RSP];
	u64 bp = walk->regs.r[KUNWIND_RBP], bp_at = NO_SLOT;
	const u64 id = READ_ONCE(walk->ranges->id);
	unsigned long *const addresses = walk->addresses, *const last = addresses + walk->capacity;
	const u64 beside = (u64)walk->recent - (u64)addresses;
	unsigned long *next = addresses;
	struct kunwind_cache *const cache = walk->cache;
	struct kunwind_cache_entry *slot;
	u64 cfa, ra, after;
	struct kunwind_rule rule;
	enum kunwind_reason reason;
	u32 valid = walk->regs.valid;
	bool notable = noted, zero = false;
	u16 form;
	struct kunwind_recent_rbp *rbp = NULL;
	struct slow slow kunwind_unset;
	walk->lower_nr = 0;

	if (noted) {
		kunwind_recent_begin(walk);
		rbp = walk->recent->rbp;
	}
	*next++ = addr;
	/* No user stack is in the upper half. In the lower, sp plus a rule's offset cannot wrap. */
	if (unlikely((s64)sp < 0) ||
	    (unlikely(!kunwind_mem_begin(&walk->mem, sp)) &&
	     !kunwind_mem_begin(&walk->mem, first_address(walk)))) {
		walk->count = 1;
		return KUNWIND_UNREADABLE;
	}

	for (;;) {
		if (!noted && unlikely(!cache))
			goto miss;
		slot = kunwind_cache_slot(cache, addr);
		if (unlikely(!kunwind_cache_has(slot, addr, id, &after))) {
			slot = kunwind_cache_second(cache, slot);
			if (!kunwind_cache_has(slot, addr, id, &after))
				goto miss;
		}

apply:
		/* The most common form first. */
		form = kunwind_rule_form(&slot->rule);
		if (form == KUNWIND_FORM(KUNWIND_RBP_SAME, KUNWIND_RSP)) {
			cfa = sp + (s64)slot->rule.off;
			if (!kunwind_cache_is(slot, after))
				goto miss;
			kunwind_mem_read(&walk->mem, ra, cfa - 8, unreadable);
		} else if (form == KUNWIND_FORM(KUNWIND_RBP_SAVED, KUNWIND_RSP)) {
			saved_by_rsp();
			kunwind_mem_read(&walk->mem, ra, cfa - 8, unreadable);
		} else if (form == KUNWIND_FORM(KUNWIND_RBP_SAVED, KUNWIND_RBP)) {
			rule.off = slot->rule.off;
			rule.rbp = slot->rule.rbp;
			if (!kunwind_cache_is(slot, after))
				goto miss;
			if (unlikely(!(valid & KUNWIND_REG(KUNWIND_RBP)))) {
				reason = KUNWIND_REG_UNKNOWN;
				goto out;
			}
			need_rbp();
			cfa = bp + (s64)rule.off;
			bp_at = cfa + (s64)rule.rbp;
			kunwind_mem_read(&walk->mem, ra, cfa - 8, unreadable);
			if (unlikely(cfa <= sp))
				returns_lower(out);
		} else if (form == (KUNWIND_FORM(KUNWIND_RBP_SAME, KUNWIND_RSP) |
				    KUNWIND_RULE_PLACES)) {
			cfa = sp + (s64)slot->rule.off;
			if (!kunwind_cache_is(slot, after))
				goto miss;
			goto places;
		} else if (form == (KUNWIND_FORM(KUNWIND_RBP_SAVED, KUNWIND_RSP) |
				    KUNWIND_RULE_PLACES)) {
			saved_by_rsp();
			goto places;
		} else {
			rule = slot->rule;
			if (!kunwind_cache_is(slot, after))
				goto miss;
			goto rare;
		}
		valid &= (u32)after;
		/*
		 * A return address follows a call, which may be the last
		 * instruction of its function: the call is what is looked up.
		 */
		addr = ra - 1;
stepped:
		if (noted) {
			*note_of(cfa) = cfa;
			*note_of(address) = ra;
		}
		sp = cfa;
		if (unlikely(next == last))
			goto full;
		*next++ = ra;
		continue;

rare:
		if ((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_END &&
		    !ends_here(walk, rule, sp))
			goto miss;
		if (rule.reg == KUNWIND_RBP)
			need_rbp();
		if (!rare_cfa(walk, rule, next[-1], sp, bp, valid, &cfa, &reason))
			goto out;
		if ((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_DEREF ||
		    (rule.reg != KUNWIND_RSP && rule.reg != KUNWIND_RBP))
			notable = false;
		kunwind_mem_read(&walk->mem, ra, cfa - 8, unreadable);
		if ((rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) == KUNWIND_RBP_SAVED) {
			bp_at = cfa + (s64)rule.rbp;
			valid |= KUNWIND_REG(KUNWIND_RBP);
		} else if ((rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) == KUNWIND_RBP_UNKNOWN) {
			valid &= ~KUNWIND_REG(KUNWIND_RBP);
		}
		valid &= (u32)after;
		if (unlikely(cfa <= sp))
			returns_lower(out);
		addr = ra - !(rule.kind & KUNWIND_RULE_SIGNAL);
		if (likely(!((u32)after & KUNWIND_AFTER_PLACES)))
			goto stepped;
		goto restore;

places:
		kunwind_mem_read(&walk->mem, ra, cfa - 8, unreadable);
		valid &= (u32)after;
		addr = ra - 1;
restore:
		restore_reg(0, KUNWIND_RBX);
		restore_reg(1, KUNWIND_R12);
		restore_reg(2, KUNWIND_R13);
		restore_reg(3, KUNWIND_R14);
		restore_reg(4, KUNWIND_R15);
		goto stepped;
lost:
		/* The return address was read, but not the registers: all count as unknown. */
		valid &= ~KUNWIND_SAVED_REGS;
		goto stepped;

full:
		if (addr == ra || !no_address(ra, &reason))
			reason = KUNWIND_DEPTH;
		zero = !ra;
		goto out;

no_rbp:
		walk->regs.valid &= ~KUNWIND_REG(KUNWIND_RBP);
		goto with_rbp;

miss:
		/* An exact address (first, or interrupted by a signal) may be any number. */
		if (unlikely(no_address(next[-1], &reason)) && addr != next[-1]) {
			next--;
			zero = !*next;
			goto out;
		}
		walk->regs.valid = valid | KUNWIND_REG(KUNWIND_RA);
		walk->regs.r[KUNWIND_RBP] = bp;
		if (bp_at != NO_SLOT) {
			u64 value;

			/* Not noted, because rbp does not decide which short rule applies. */
			kunwind_mem_read(&walk->mem, value, bp_at, no_rbp);
			walk->regs.r[KUNWIND_RBP] = value;
		}
with_rbp:
		walk->code = 0;
		if (addr != next[-1]) {
			u64 word;

			/* Cheap, because the window is open. */
			kunwind_mem_read(&walk->mem, word, next[-1], no_code);
			walk->code = word;
		}
no_code:
		kunwind_mem_end(&walk->mem);
		walk->regs.r[KUNWIND_RA] = next[-1];
		walk->regs.r[KUNWIND_RSP] = sp;
		switch (slow_step(walk, addr, id, &slow)) {
		default:	/* SLOW_RULE */
			slot = &slow.entry;
			after = slot->after;
			if (kunwind_mem_begin(&walk->mem, sp))
				goto apply;
			goto closed;
		case SLOW_STEPPED:
			notable = false;
			ra = walk->regs.r[KUNWIND_RA];
			bp = walk->regs.r[KUNWIND_RBP];
			bp_at = NO_SLOT;
			cfa = walk->regs.r[KUNWIND_RSP];
			valid = walk->regs.valid;
			if (cfa <= sp)
				returns_lower(out_closed);
			addr = ra - !slow.how.signal;
			if (next != last) {
				kunwind_count_found(walk, slow.how.trust);
				if (walk->trust)
					walk->trust[next - walk->addresses] = slow.how.trust;
			}
			if (likely((s64)cfa >= 0) && kunwind_mem_begin(&walk->mem, sp))
				goto stepped;
			goto closed;
		case SLOW_RETURN:
			notable = false;
			addr = slow.ret - 1;
			next[-1] = slow.ret;
			kunwind_count_found(walk, KUNWIND_TRUST_URETPROBE);
			if (walk->trust)
				walk->trust[next - 1 - walk->addresses] = KUNWIND_TRUST_URETPROBE;
			if (kunwind_mem_begin(&walk->mem, sp))
				continue;
			goto closed;
		case SLOW_END:
			reason = slow.reason;
			goto out_closed;
		}
	}

closed:
	reason = KUNWIND_UNREADABLE;
	goto out_closed;
unreadable:
	reason = KUNWIND_UNREADABLE;
	walk->unread[0] = sp;
out:
	kunwind_mem_end(&walk->mem);
out_closed:
	walk->count = next - walk->addresses;
	if (noted && notable && reason == KUNWIND_COMPLETE)
		kunwind_recent_end(walk, rbp, id, zero);
	return reason;
}

static noinline enum kunwind_reason kunwind_walk_attr walk_noted(struct kunwind_walk *walk)
{
	return walk_by(walk, true);
}

static noinline enum kunwind_reason kunwind_walk_attr walk_plain(struct kunwind_walk *walk)
{
	return walk_by(walk, false);
}

enum kunwind_reason kunwind_walk_attr kunwind_walk(struct kunwind_walk *walk)
{
	const u32 missing = ~walk->regs.valid;

	walk->count = 0;
	walk->range = NULL;
	walk->mem.left = kunwind_budget(walk);
	if (!walk->capacity)
		return KUNWIND_DEPTH;
	if (missing & (KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA)))
		return KUNWIND_REG_UNKNOWN;
	if (!walk->recent || !walk->cache || missing & KUNWIND_RECENT_NEEDS ||
	    walk->capacity > KUNWIND_RECENT_FRAMES)
		return walk_plain(walk);
	return walk_noted(walk);
}

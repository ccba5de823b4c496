// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * walk.c - the walk of 64-bit code: from registers to a call stack
 *
 * Any context, NMI included. The common frame costs a hit in the cache of
 * rules, one read of the stack and a few comparisons, inside one window of
 * access to user memory. Two cases close the window first: an address that is
 * not in the cache (then range, table and row are looked up), and a full rule
 * (signal frames, expressions).
 *
 * Bounds: at most one step for each address that the caller has room for. A
 * step by a rule from the cache takes some 36 instructions; the budget (mem.h)
 * pays for all others. Stack: at most 2,560 bytes (tests/build/check-stack).
 *
 * The stack of a frame mostly lies below its caller's. Exceptions: a signal or
 * code has switched stacks, or a frame that did not call (addr
 * == ip) has nothing on its stack (glibc's vfork keeps its return address in a
 * register). So any step may lower the stack pointer. A walk in circles ends
 * when it finds a frame twice (goes_round()).
 *
 * Without CFI, nocfi/step.c finds the caller by a proof, or by a guess if
 * walk->guess is set; otherwise the walk ends with a reason. docs/unwinding.md
 * describes rules, steps, methods.
 */
#include "../x86/call_bytes.h"
#include "rule_cache.h"
#include "mem.h"
#include "replay.h"
#include "slow_step.h"
#include "walk.h"

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
		cfa += (s64)kunwind_deref_off(rule);
		kunwind_mem_read(&walk->mem, cfa, cfa, unreadable);
		cfa += kunwind_deref_add(rule);
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

	walk->mem.id = READ_ONCE(walk->ranges->id);
	if (kunwind_walk_rule(walk, regs->r[KUNWIND_RA], true, regs->r[KUNWIND_RSP], &rule, &table,
			      &end) != KUNWIND_COMPLETE || end ||
	    (rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_CFA ||
	    (rule.reg & ~KUNWIND_RULE_FLAGS) >= KUNWIND_RA)
		return regs->r[KUNWIND_RSP];
	return regs->r[kunwind_index(rule.reg & ~KUNWIND_RULE_FLAGS, KUNWIND_RA)] + (s64)rule.off - 8;
}

/* rbp is in state->bp, and not still on the stack: no user stack is in the upper half. */
#define NO_SLOT		KUNWIND_STRETCH_NO_SLOT

/*
 * No entry of the cache has this id, because ids are counted from 1. 0 cannot
 * be used: it is the id of an entry that is being written, maybe by the task
 * that this walk has interrupted.
 */
#define NO_KEY		(~0ULL)

/*
 * The frame that the walk has reached. All functions that get a pointer to it
 * are inlined, so that its members are registers.
 */
struct walk_state {
	unsigned long *next;	/* where the next address is stored; this frame's is before it */
	unsigned long *last;	/* there is no room for an address from here on */
	u64 addr;		/* address to look up: next[-1], or one less after a call */
	u64 sp, bp;
	/* Where rbp is saved: it is read only when a rule needs it. Or NO_SLOT. */
	u64 bp_at;
	u64 id;			/* of the ranges */
	u64 key;		/* what a rule in the cache must be for: id, or NO_KEY for none */
	u64 cfa, ra;		/* stack pointer and address of the caller, after a step */
	u32 valid;		/* KUNWIND_REG() bits of the registers that are known */
	enum kunwind_reason reason;	/* why the walk has ended */
	bool notable;		/* replay.c can repeat the walk */
	bool zero;		/* a return address of zero ended it */
	struct kunwind_replay_rbp *rbp;	/* where the next rbp is noted */
};

/* How walk_by() goes on. */
enum step {
	STEP_DONE,	/* state->cfa, ra and addr are the caller's; the window is open */
	STEP_RULE,	/* the rule for the address was found; the window is open */
	STEP_AGAIN,	/* look for a rule again; the window is open */
	STEP_END,	/* the walk ends with state->reason; the window is closed */
};

static __always_inline enum step end_walk(struct kunwind_walk *walk, struct walk_state *state,
					  enum kunwind_reason reason)
{
	kunwind_mem_end(&walk->mem);
	state->reason = reason;
	return STEP_END;
}

/* The cached rule does not hold: the next search finds none. */
static __always_inline enum step forget_rule(struct walk_state *state)
{
	state->key = NO_KEY;
	return STEP_AGAIN;
}

static __always_inline enum step end_unreadable(struct kunwind_walk *walk, struct walk_state *state)
{
	walk->unread[0] = state->sp;
	return end_walk(walk, state, KUNWIND_UNREADABLE);
}

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
 * The caller's stack pointer is not above this frame's: code or a signal has
 * switched stacks. Returns true if the caller equals this frame or the kept
 * one, because no stack has a frame twice. Each kept frame is kept for twice as
 * many such steps as the one before.
 */
static __always_inline bool goes_round(struct kunwind_walk *walk, const struct walk_state *state)
{
	if ((state->cfa == state->sp && state->ra == state->next[-1] && state->addr != state->ra) ||
	    (walk->lower_nr && state->cfa == walk->lower_cfa && state->ra == walk->lower_ra))
		return true;
	if (!(walk->lower_nr & (walk->lower_nr - 1))) {
		walk->lower_cfa = state->cfa;
		walk->lower_ra = state->ra;
	}
	walk->lower_nr++;
	return false;
}

/* Reads the frame's rbp if state->bp does not have it yet; inside the window. */
static __always_inline bool read_rbp(struct kunwind_walk *walk, struct walk_state *state, bool noted)
{
	if (state->bp_at == NO_SLOT)
		return true;
	walk->unread[1] = state->bp_at;
	kunwind_mem_read(&walk->mem, state->bp, state->bp_at, unreadable);
	if (noted) {
		state->rbp->at = state->bp_at;
		state->rbp->value = state->bp;
		state->rbp++;
	}
	state->bp_at = NO_SLOT;
	return true;
unreadable:
	return false;
}

/* Reads a register whose place "after" gives; inside the window. False: it cannot be read. */
static __always_inline bool read_place(struct kunwind_walk *walk, struct walk_state *state, u64 after,
				       u32 reg)
{
	const u32 place = kunwind_after_place(after, kunwind_after_number(reg));
	u64 value;

	if (!place)
		return true;
	kunwind_mem_read(&walk->mem, value, state->cfa - 8 - 8 * place, unreadable);
	walk->regs.r[reg] = value;
	state->valid |= KUNWIND_REG(reg);
	return true;
unreadable:
	return false;
}

/* If one register cannot be read, all count as unknown. */
static __always_inline void read_places(struct kunwind_walk *walk, struct walk_state *state, u64 after)
{
	if (!read_place(walk, state, after, KUNWIND_RBX) ||
	    !read_place(walk, state, after, KUNWIND_R12) ||
	    !read_place(walk, state, after, KUNWIND_R13) ||
	    !read_place(walk, state, after, KUNWIND_R14) ||
	    !read_place(walk, state, after, KUNWIND_R15))
		state->valid &= ~KUNWIND_SAVED_REGS;
}

/*
 * Whether the return address that a KUNWIND_RULE_CODE has given follows a call. Then it
 * counts the step, and sets the trust of the address; inside the window.
 */
static __always_inline bool trust_code(struct kunwind_walk *walk, struct walk_state *state)
{
	const u32 index = state->next - walk->addresses;
	u64 word;

	if (unlikely(!state->ra))
		return false;
	kunwind_mem_read(&walk->mem, word, state->ra - sizeof(word), no_call);
	if (unlikely(!kunwind_ends_direct_call(word) && !kunwind_ends_indirect_call(word)))
		return false;
	if (index < walk->capacity) {
		if (walk->trust)
			walk->trust[index] = KUNWIND_TRUST_CODE;
		kunwind_count_found(walk, index, KUNWIND_BY_ROW);
	}
	return true;
no_call:
	return false;
}

/* The caller's rsp may be wrong: kunwind_slow_step() looks at the caller's rule. */
static __always_inline void doubt_rsp(struct walk_state *state)
{
	state->valid |= KUNWIND_RSP_DOUBTED;
	state->key = NO_KEY;
}

/* A step by a rule of a rare form; inside the window. */
static __always_inline enum step rare_step(struct kunwind_walk *walk, struct walk_state *state,
					   struct kunwind_rule rule, u64 after, bool noted)
{
	const u32 kind = rule.kind & KUNWIND_RULE_KIND;
	const bool code = rule.reg & KUNWIND_RULE_CODE, moved = rule.reg & KUNWIND_RULE_MOVED;
	enum kunwind_reason reason;

	rule.reg &= ~KUNWIND_RULE_FLAGS;
	/* If such a rule gives no return address, other methods are tried. */
	walk->distrust = code;
	if (kind == KUNWIND_RULE_END && !ends_here(walk, rule, state->sp))
		return forget_rule(state);
	if (rule.reg == KUNWIND_RBP && !read_rbp(walk, state, noted))
		return code ? forget_rule(state) : end_unreadable(walk, state);
	if (!rare_cfa(walk, rule, state->next[-1], state->sp, state->bp, state->valid,
		      &state->cfa, &reason)) {
		if (code)
			return forget_rule(state);
		walk->unread[0] = state->sp;
		return end_walk(walk, state, reason);
	}
	if (kind == KUNWIND_RULE_DEREF ||
	    (rule.reg != KUNWIND_RSP && rule.reg != KUNWIND_RBP))
		state->notable = false;
	kunwind_mem_read(&walk->mem, state->ra, state->cfa - 8, unreadable);
	if (code) {
		state->notable = false;
		if (!trust_code(walk, state))
			return forget_rule(state);
		walk->distrust = false;
	}
	switch (rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) {
	case KUNWIND_RBP_SAVED:
		state->bp_at = state->cfa + (s64)rule.rbp;
		state->valid |= KUNWIND_REG(KUNWIND_RBP);
		break;
	case KUNWIND_RBP_UNKNOWN:
		state->valid &= ~KUNWIND_REG(KUNWIND_RBP);
		break;
	}
	state->valid &= (u32)after & ~KUNWIND_RSP_DOUBTED;
	if (unlikely(moved))
		doubt_rsp(state);
	if (unlikely(state->cfa <= state->sp) && goes_round(walk, state)) {
		if (code)
			kunwind_discount(walk, state->next - walk->addresses);
		return end_walk(walk, state, KUNWIND_CFA_STUCK);
	}
	state->addr = state->ra - !(rule.kind & KUNWIND_RULE_SIGNAL);
	if (unlikely((u32)after & KUNWIND_AFTER_PLACES))
		read_places(walk, state, after);
	return STEP_DONE;
unreadable:
	return code ? forget_rule(state) : end_unreadable(walk, state);
}

/*
 * Finds the rule for the address in the cache. The rule is valid only if
 * kunwind_rule_cache_is() is true after it was read.
 */
static __always_inline bool find_rule(struct kunwind_rule_cache *cache,
				      const struct walk_state *state,
				      struct kunwind_rule_cache_entry **slot, u64 *after)
{
	if (unlikely(!cache))
		return false;
	*slot = kunwind_rule_cache_slot(cache, state->addr);
	if (likely(kunwind_rule_cache_has(*slot, state->addr, state->key, after)))
		return true;
	*slot = kunwind_rule_cache_second(cache, *slot);
	return kunwind_rule_cache_has(*slot, state->addr, state->key, after);
}

/*
 * The same in a walk in stretches. First it tries the entry that came after the entry of
 * the frame before, when that was used last: then the processor goes on before it has
 * loaded the return address. A wrong entry is for another address, so it costs time only.
 */
static __always_inline bool find_rule_after(struct kunwind_rule_cache *cache,
					    const struct walk_state *state, u16 *after_slot, u32 *at,
					    struct kunwind_rule_cache_entry **slot, u64 *after)
{
	u16 *const hint = &after_slot[*at];
	bool found = true;

	*slot = &cache->entry[READ_ONCE(*hint) % KUNWIND_RULE_CACHE_ENTRIES];
	if (unlikely(!kunwind_rule_cache_has(*slot, state->addr, state->key, after))) {
		found = find_rule(cache, state, slot, after);
		if (found)
			WRITE_ONCE(*hint, *slot - cache->entry);
	}
	*at = found ? *slot - cache->entry : 0;
	return found;
}

/* A step by a rule that is in the cache, the most common forms first; inside the window. */
static __always_inline enum step fast_step(struct kunwind_walk *walk, struct walk_state *state,
					   const struct kunwind_rule_cache_entry *slot, u64 after,
					   bool noted)
{
	struct kunwind_rule rule;
	u16 form;

	form = data_race(kunwind_rule_form(&slot->rule));
	if (form == KUNWIND_FORM(KUNWIND_RBP_SAME, KUNWIND_RSP)) {
		state->cfa = state->sp + (s64)data_race(slot->rule.off);
		if (!kunwind_rule_cache_is(slot, after))
			return forget_rule(state);
		kunwind_mem_read(&walk->mem, state->ra, state->cfa - 8, unreadable);
	} else if (form == KUNWIND_FORM(KUNWIND_RBP_SAVED, KUNWIND_RSP)) {
		state->cfa = state->sp + (s64)data_race(slot->rule.off);
		rule.rbp = data_race(slot->rule.rbp);
		if (!kunwind_rule_cache_is(slot, after))
			return forget_rule(state);
		state->bp_at = state->cfa + (s64)rule.rbp;
		state->valid |= KUNWIND_REG(KUNWIND_RBP);
		kunwind_mem_read(&walk->mem, state->ra, state->cfa - 8, unreadable);
	} else if (form == KUNWIND_FORM(KUNWIND_RBP_SAVED, KUNWIND_RBP)) {
		rule.off = data_race(slot->rule.off);
		rule.rbp = data_race(slot->rule.rbp);
		if (!kunwind_rule_cache_is(slot, after))
			return forget_rule(state);
		if (unlikely(!(state->valid & KUNWIND_REG(KUNWIND_RBP))))
			return end_walk(walk, state, KUNWIND_REG_UNKNOWN);
		if (!read_rbp(walk, state, noted))
			return end_unreadable(walk, state);
		state->cfa = state->bp + (s64)rule.off;
		state->bp_at = state->cfa + (s64)rule.rbp;
		kunwind_mem_read(&walk->mem, state->ra, state->cfa - 8, unreadable);
		if (unlikely(state->cfa <= state->sp) && goes_round(walk, state))
			return end_walk(walk, state, KUNWIND_CFA_STUCK);
	} else {
		rule = data_race(slot->rule);
		if (!kunwind_rule_cache_is(slot, after))
			return forget_rule(state);
		if (!(form & KUNWIND_RULE_PLACES))
			return rare_step(walk, state, rule, after, noted);
		state->cfa = state->sp + (s64)rule.off;
		if ((rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) == KUNWIND_RBP_SAVED) {
			state->bp_at = state->cfa + (s64)rule.rbp;
			state->valid |= KUNWIND_REG(KUNWIND_RBP);
		}
		kunwind_mem_read(&walk->mem, state->ra, state->cfa - 8, unreadable);
		state->valid &= (u32)after;
		state->addr = state->ra - 1;
		read_places(walk, state, after);
		return STEP_DONE;
	}
	state->valid &= (u32)after;
	/*
	 * A return address follows a call, which may be the last instruction of
	 * its function: the call is what is looked up.
	 */
	state->addr = state->ra - 1;
	return STEP_DONE;
unreadable:
	return end_unreadable(walk, state);
}

/*
 * Writes the frame's registers to walk->regs, and a word of its code: the word
 * that its return address points to, or the word before an exact frame's address.
 * The caller has opened the window.
 */
static __always_inline void give_registers(struct kunwind_walk *walk, const struct walk_state *state)
{
	struct kunwind_regs *regs = &walk->regs;
	u64 value;

	regs->valid = state->valid | KUNWIND_REG(KUNWIND_RA);
	regs->r[KUNWIND_RA] = state->next[-1];
	regs->r[KUNWIND_RSP] = state->sp;
	regs->r[KUNWIND_RBP] = state->bp;
	if (state->bp_at != NO_SLOT) {
		/* Not noted, because rbp does not decide which short rule applies. */
		kunwind_mem_read(&walk->mem, value, state->bp_at, no_rbp);
		regs->r[KUNWIND_RBP] = value;
	}
code:
	walk->code = 0;
	kunwind_mem_read(&walk->mem, value,
			 state->next[-1] - (state->addr == state->next[-1] ? sizeof(value) : 0), no_code);
	walk->code = value;
no_code:
	return;
no_rbp:
	regs->valid &= ~KUNWIND_REG(KUNWIND_RBP);
	goto code;
}

/*
 * Counts the address at @at, or about to be stored there, and sets its trust.
 * There may be no room for it. Not inline: the registers of the caller's loop
 * are for the steps by cached rules.
 */
static noinline void kunwind_walk_attr count_step(struct kunwind_walk *walk, const unsigned long *at,
						  enum kunwind_method method)
{
	const u32 index = at - walk->addresses;

	if (index < walk->capacity && walk->trust)
		walk->trust[index] = kunwind_method_trust(method);
	if (index < walk->capacity || method == KUNWIND_BY_BEGIN)
		kunwind_count_found(walk, index, method);
}

/*
 * The step from a frame whose rule is not in the cache. The window is closed
 * meanwhile. STEP_RULE: the rule is slow->entry, and *@after is set.
 */
static __always_inline enum step miss_step(struct kunwind_walk *walk, struct walk_state *state,
					   struct slow_step *slow, u64 *after)
{
	enum kunwind_reason reason;
	enum step step = STEP_DONE;

	state->key = state->id;
	/* An exact address (first, or interrupted by a signal) may be any number. */
	if (unlikely(no_address(state->next[-1], &reason)) && state->addr != state->next[-1]) {
		state->next--;
		state->zero = !*state->next;
		return end_walk(walk, state, reason);
	}
	give_registers(walk, state);
	kunwind_mem_end(&walk->mem);
	switch (kunwind_common_step(walk, state->addr, state->id, slow) ? SLOW_RULE :
		kunwind_slow_step(walk, state->addr, slow)) {
	case SLOW_RULE:
		*after = slow->entry.after;
		state->notable &= slow->keep;
		step = STEP_RULE;
		break;
	case SLOW_STEPPED:
		state->notable = false;
		state->ra = walk->regs.r[KUNWIND_RA];
		state->bp = walk->regs.r[KUNWIND_RBP];
		state->bp_at = NO_SLOT;
		state->cfa = walk->regs.r[KUNWIND_RSP];
		state->valid = walk->regs.valid;
		if (unlikely(state->valid & KUNWIND_RSP_DOUBTED))
			state->key = NO_KEY;
		if (state->cfa <= state->sp && goes_round(walk, state)) {
			state->reason = KUNWIND_CFA_STUCK;
			return STEP_END;
		}
		state->addr = state->ra - !slow->how.signal;
		if (slow->how.method != KUNWIND_BY_CFI)
			count_step(walk, state->next, slow->how.method);
		if (unlikely((s64)state->cfa < 0))
			goto closed;
		break;
	case SLOW_RETURN:
		state->notable = false;
		state->addr = slow->ret - 1;
		state->next[-1] = slow->ret;
		if (unlikely(state->valid & KUNWIND_RSP_DOUBTED))
			state->key = NO_KEY;
		count_step(walk, state->next - 1, KUNWIND_BY_URETPROBE);
		step = STEP_AGAIN;
		break;
	case SLOW_END:
		state->notable &= slow->keep;
		state->reason = slow->reason;
		return STEP_END;
	}
	if (kunwind_mem_begin(&walk->mem, state->sp))
		return step;
closed:
	kunwind_discount(walk, state->next - walk->addresses);
	state->reason = KUNWIND_UNREADABLE;
	return STEP_END;
}

/* Stores the address at state->next, in a walk in stretches with what struct kunwind_stretch has. */
static __always_inline void store(struct walk_state *state, u64 address, const bool stretches)
{
	if (stretches) {
		state->next[KUNWIND_STRETCH_SP] = state->sp;
		state->next[KUNWIND_STRETCH_LOOKED_UP] = state->addr;
	}
	*state->next++ = address;
}

/* Stores the first address and opens the window. False: the stack cannot be read. */
static __always_inline bool start(struct kunwind_walk *walk, struct walk_state *state, bool noted,
				  struct kunwind_stretch *const stretch)
{
	state->key = state->id;
	if (stretch) {
		state->addr = stretch->addr;
		state->bp_at = stretch->bp_at;
		if (state->valid & KUNWIND_RSP_DOUBTED)
			state->key = NO_KEY;
	} else {
		walk->lower_nr = 0;
	}
	if (noted) {
		kunwind_replay_begin(walk);
		state->rbp = walk->replay->rbp;
	}
	store(state, stretch ? walk->regs.r[KUNWIND_RA] : state->addr, stretch);
	/* No user stack is in the upper half. In the lower, sp plus a rule's offset cannot wrap. */
	return likely((s64)state->sp >= 0) &&
	       (likely(kunwind_mem_begin(&walk->mem, state->sp)) ||
		kunwind_mem_begin(&walk->mem, first_address(walk)));
}

/*
 * The element of replay->cfa or replay->address for the address that will be
 * stored at state->next. These two arrays and walk->addresses have elements of
 * 8 bytes, so one distance ("beside") is enough.
 */
#define note_of(what)								\
	((u64 *)((u64)state.next + beside + offsetof(struct kunwind_replay, what)))

/*
 * Compiled twice, so that a walk without a note does not pay for one; in
 * libkunwind-unwind a third time, for walks in stretches (@stretch: walk.h). A return
 * address is stored before it is checked: an address that the cache has is
 * valid, others are checked in miss_step(), or here if there is no more room.
 */
static __always_inline enum kunwind_reason walk_by(struct kunwind_walk *walk, const bool noted,
						   struct kunwind_stretch *const stretch)
{
	const u64 beside = (u64)walk->replay - (u64)walk->addresses;
	struct kunwind_rule_cache *const cache = walk->cache;
	struct slow_step slow kunwind_unset;
	struct walk_state state = {
		.next = walk->addresses,
		.last = walk->addresses + walk->capacity - !!stretch,
		.addr = walk->regs.r[KUNWIND_RA],
		.sp = walk->regs.r[KUNWIND_RSP],
		.bp = walk->regs.r[KUNWIND_RBP],
		.bp_at = NO_SLOT,
		.id = READ_ONCE(walk->ranges->id),
		.valid = walk->regs.valid,
		.notable = noted,
	};
	struct kunwind_rule_cache_entry *slot;
	enum step step;
	u32 at = 0;	/* number of the entry of the frame before */
	u64 after;

	if (!start(walk, &state, noted, stretch)) {
		walk->count = 1;
		return KUNWIND_UNREADABLE;
	}
	for (;;) {
		if (likely(stretch ? find_rule_after(cache, &state, stretch->after_slot, &at, &slot, &after) :
				     find_rule(cache, &state, &slot, &after))) {
			step = STEP_RULE;
		} else {
			slot = &slow.entry;
			step = miss_step(walk, &state, &slow, &after);
		}
		if (likely(step == STEP_RULE))
			step = fast_step(walk, &state, slot, after, noted);
		if (unlikely(step == STEP_END))
			break;
		if (unlikely(step == STEP_AGAIN))
			continue;
		if (noted) {
			*note_of(cfa) = state.cfa;
			*note_of(address) = state.ra;
		}
		state.sp = state.cfa;
		if (unlikely(state.next == state.last)) {
			kunwind_mem_end(&walk->mem);
			if (state.addr == state.ra || !no_address(state.ra, &state.reason))
				state.reason = KUNWIND_BUFFER_FULL;
			state.zero = !state.ra;
			break;
		}
		store(&state, state.ra, stretch);
	}
	walk->count = state.next - walk->addresses;
	if (stretch) {
		stretch->addr = state.addr;
		stretch->bp_at = state.bp_at;
		walk->regs.r[KUNWIND_RA] = state.ra;
		walk->regs.r[KUNWIND_RSP] = state.cfa;
		walk->regs.r[KUNWIND_RBP] = state.bp;
		walk->regs.valid = state.valid | KUNWIND_REG(KUNWIND_RA);
	}
	if (noted && state.notable && state.reason == KUNWIND_COMPLETE)
		kunwind_replay_end(walk, state.rbp, state.id, state.zero);
	return state.reason;
}

static noinline enum kunwind_reason kunwind_walk_attr walk_noted(struct kunwind_walk *walk)
{
	return walk_by(walk, true, NULL);
}

static noinline enum kunwind_reason kunwind_walk_attr walk_plain(struct kunwind_walk *walk)
{
	return walk_by(walk, false, NULL);
}

enum kunwind_reason kunwind_walk_attr kunwind_walk(struct kunwind_walk *walk)
{
	const u32 missing = ~walk->regs.valid;

	walk->count = 0;
	walk->range = NULL;
	walk->distrust = false;
	walk->mem.left = kunwind_budget(walk);
	if (!walk->capacity)
		return KUNWIND_BUFFER_FULL;
	if (missing & (KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA)))
		return KUNWIND_REG_UNKNOWN;
	if (!walk->replay || !walk->cache || missing & KUNWIND_REPLAY_NEEDS ||
	    walk->capacity > KUNWIND_REPLAY_FRAMES)
		return walk_plain(walk);
	return walk_noted(walk);
}

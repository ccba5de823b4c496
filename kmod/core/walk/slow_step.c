// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * slow_step.c - find the rule for an address by range and table, and the step
 * from a frame whose rule is not in the cache
 *
 * A short rule is put in the cache and returned; walk.c applies it. This file
 * makes all other steps itself: by a full rule (signal frames, expressions),
 * and without CFI (nocfi/step.c). Any context, NMI included. No window may be
 * open. Bounds: the walk's budget (mem.h).
 */
#include "../nocfi/exact_frame.h"
#include "../nocfi/jit_rule.h"
#include "../nocfi/return_address.h"
#include "../nocfi/outermost.h"
#include "../nocfi/row_return.h"
#include "../table/table.h"
#include "rule_cache.h"
#include "mem.h"
#include "slow_step.h"
#include "walk.h"
#include "full_rule.h"

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
	if (!kunwind_range_is_usable(walk->ranges, range))
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
		reason = kunwind_mem_find(&walk->mem, table, addr, rule);
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

		reason = kunwind_mem_find(&walk->mem, &found, exact ? addr - 1 : addr + 1, &beside);
		if (unlikely(reason != KUNWIND_COMPLETE))
			return reason;
		/* A trampoline has a full rule. A short one would be cached for this address. */
		if ((beside.kind & KUNWIND_RULE_SIGNAL) &&
		    (beside.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_FULL) {
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

/*
 * Discards the step if it spent the budget: some of its reads were refused, so
 * its result may be wrong.
 */
static __always_inline enum slow_how paid(const struct kunwind_walk *walk, enum slow_how how,
					  struct slow_step *slow)
{
	if (likely(walk->mem.left))
		return how;
	slow->reason = KUNWIND_BUDGET_SPENT;
	return SLOW_END;
}

/*
 * Steps from the frame in walk->regs, for which no table has a rule. If a later
 * table may have one (KUNWIND_NOT_READY, KUNWIND_MEMORY_LIMIT), the walk ends.
 */
static enum slow_how kunwind_walk_attr
slow_nocfi(struct kunwind_walk *walk, bool exact, enum kunwind_reason reason,
	   struct slow_step *slow)
{
	u64 word;

	slow->reason = reason;
	if (reason != KUNWIND_NO_OBJECT && reason != KUNWIND_NO_RULE && reason != KUNWIND_NO_TABLE)
		return SLOW_END;
	if (!exact && reason == KUNWIND_NO_OBJECT) {
		u64 ip = walk->regs.r[KUNWIND_RA];

		slow->ret = kunwind_nocfi_return(walk, ip, walk->regs.r[KUNWIND_RSP] - 8);
		if (slow->ret != ip)
			return SLOW_RETURN;
		slow->how.signal = false;
		if (walk->range && kunwind_jit_rule_step(walk, walk->range, &slow->how.method))
			return SLOW_STEPPED;
	}
	if (kunwind_nocfi_step(walk, exact, &slow->how) == KUNWIND_COMPLETE)
		return SLOW_STEPPED;
	/* All methods look at the stack. Nothing on it helps a called frame whose address has no code. */
	if ((exact || walk->range) && !kunwind_read_word(&walk->mem, walk->regs.r[KUNWIND_RSP], &word))
		slow->reason = KUNWIND_UNREADABLE;
	return SLOW_END;
}

/*
 * Whether the code at @addr, after a system call, compares its result. Then the
 * call returns: C functions do not begin with a comparison of rax.
 */
static noinline bool kunwind_walk_attr compares_result(struct kunwind_walk *walk, u64 addr)
{
	u64 word;

	return kunwind_read_word(&walk->mem, addr, &word) &&
	       ((u16)word == 0x3d48 || (u8)word == 0x3d ||		/* cmp n, %rax; %eax */
		(word & 0xffffff) == 0xc08548 || (u16)word == 0xc085);	/* test %rax, %rax; %eax */
}

/*
 * Whether the frame at @addr, after a system call, has made that call. For the
 * first frame, the caller of the walk may know. Otherwise by rcx: SYSCALL stores
 * @addr there (SDM; not with FRED). After an interrupt at the first instruction of
 * the next function, rcx normally has another value.
 */
static bool kunwind_walk_attr made_syscall(const struct kunwind_walk *walk, u64 addr)
{
	if (walk->entry != KUNWIND_ENTRY_UNKNOWN && addr == walk->addresses[0])
		return walk->entry == KUNWIND_ENTRY_SYSCALL;
	return walk->regs.valid & KUNWIND_REG(KUNWIND_RCX) && walk->regs.r[KUNWIND_RCX] == addr;
}

/*
 * The rule for an exact frame whose address @addr follows a system call. The
 * function may end there, if the call does not return (glibc's clone()): then the
 * rule for @addr is the next function's. A system call changes no rule, so the
 * rule for its last byte is right, provided that the frame has made it. Clears
 * *keep if the two rules differ: then the address does not say which is right.
 */
static noinline enum kunwind_reason kunwind_walk_attr
rule_after_syscall(struct kunwind_walk *walk, u64 addr, struct kunwind_rule *rule,
		   const struct kunwind_table **table, bool *end, bool *keep)
{
	const u64 sp = walk->regs.r[KUNWIND_RSP];
	enum kunwind_reason reason, call_reason;
	const struct kunwind_table *call_table = NULL;
	struct kunwind_rule call = { };
	bool call_end;

	*table = NULL;
	*end = false;
	if (!kunwind_pay(&walk->mem, KUNWIND_COST_LOOKUP))
		return KUNWIND_BUDGET_SPENT;
	reason = kunwind_walk_rule(walk, addr, true, sp, rule, table, end);
	call_reason = kunwind_walk_rule(walk, addr - 1, false, sp, &call, &call_table, &call_end);
	if (call_reason == reason && call_end == *end && call_table == *table &&
	    call.kind == rule->kind && call.reg == rule->reg && call.off == rule->off &&
	    call.rbp == rule->rbp)
		return reason;
	*keep = false;
	if (!made_syscall(walk, addr))
		return reason;
	*rule = call;
	*table = call_table;
	*end = call_end;
	return call_reason;
}

/* Sets slow->entry to the rule for @addr, and with @keep puts it in the cache. */
static __always_inline void set_entry(struct kunwind_walk *walk, u64 addr, bool keep,
				      struct kunwind_rule rule, u64 after, struct slow_step *slow)
{
	slow->entry.addr = addr;
	slow->entry.id = walk->mem.id;
	kunwind_rule_cache_entry_set(&slow->entry, rule, after);
	if (walk->cache && keep)
		kunwind_rule_cache_put(walk->cache, &slow->entry);
}

/* Steps by the full rule @index, or returns and caches the equivalent short rule. */
static enum slow_how kunwind_walk_attr
slow_full_rule(struct kunwind_walk *walk, const struct kunwind_table *table, s32 index, u64 addr,
	       bool keep, struct slow_step *slow)
{
	struct kunwind_rule compact;
	u64 after;

	if (!kunwind_full_rule_compact(table, index, &compact, &after)) {
		slow->how = (struct kunwind_found){ .method = KUNWIND_BY_CFI };
		slow->reason = kunwind_full_rule_step(walk, table, index,
						      addr == walk->regs.r[KUNWIND_RA],
						      &slow->how.signal);
		return slow->reason == KUNWIND_COMPLETE ? SLOW_STEPPED : SLOW_END;
	}
	set_entry(walk, addr, keep, compact, after, slow);
	return SLOW_RULE;
}

/*
 * The rule that the cache keeps for an outermost frame. Unless CFI marked the
 * frame, the rule holds only for this stack pointer (ends_here()).
 */
static __always_inline struct kunwind_rule end_rule(const struct kunwind_walk *walk,
						    struct kunwind_rule rule)
{
	const bool by_cfi = (rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_END;

	return (struct kunwind_rule){
		.kind = KUNWIND_RULE_END,
		.reg = KUNWIND_RSP,
		.off = by_cfi ? 0 : 1 + walk->ranges->entry_sp - walk->regs.r[KUNWIND_RSP],
	};
}

/*
 * Most misses of the cache: a frame that has called, with a short rule of CFI whose CFA is
 * counted from a register. kunwind_slow_step() would find the same rule, in twice the time.
 */
static __always_inline bool find_common(struct kunwind_walk *walk, u64 addr, struct slow_step *slow)
{
	const struct kunwind_range *range;
	const struct kunwind_table *table;
	struct kunwind_rule rule;

	if (addr == walk->regs.r[KUNWIND_RA] || kunwind_proof_may_be_trampoline(walk->code) ||
	    walk->regs.valid & KUNWIND_RSP_DOUBTED)
		return false;
	range = find_range(walk, addr);
	if (!range || !kunwind_range_is_usable(walk->ranges, range))
		return false;
	table = READ_ONCE(range->table);
	barrier();	/* load the table before the bias, as in kunwind_walk_rule() */
	if (!table || unlikely(table->i386))
		return false;
	if (kunwind_mem_find(&walk->mem, &table, addr - range->bias, &rule) != KUNWIND_COMPLETE ||
	    (rule.kind & (KUNWIND_RULE_KIND | KUNWIND_RULE_SIGNAL)) != KUNWIND_RULE_CFA ||
	    unlikely(rule.reg >= KUNWIND_RA))
		return false;
	set_entry(walk, addr, true, rule, kunwind_after(table->keep), slow);
	return true;
}

enum slow_how kunwind_walk_attr
kunwind_slow_step(struct kunwind_walk *walk, u64 addr, struct slow_step *slow)
{
	const bool exact = addr == walk->regs.r[KUNWIND_RA];
	const bool doubted = walk->regs.valid & KUNWIND_RSP_DOUBTED;
	const struct kunwind_table *table;
	enum kunwind_reason reason;
	struct kunwind_rule rule;
	bool end, trampoline, keep = true;

	if (unlikely(!walk->mem.left)) {
		slow->reason = KUNWIND_BUDGET_SPENT;
		return SLOW_END;
	}
	rule = (struct kunwind_rule){ .kind = KUNWIND_RULE_NONE };
	if (exact && kunwind_proof_after_syscall(walk->code) && !compares_result(walk, addr))
		reason = rule_after_syscall(walk, addr, &rule, &table, &end, &keep);
	else
		reason = kunwind_walk_rule(walk, addr, exact, walk->regs.r[KUNWIND_RSP], &rule,
					   &table, &end);
	if (exact && reason == KUNWIND_COMPLETE && kunwind_exact_thunk_returns(walk, addr, rule)) {
		rule.off = sizeof(u64);
		keep = false;
	}
	/*
	 * A signal trampoline without a rule may lie directly after a function,
	 * or inside one (Breakpad's). Nothing calls a trampoline, so the rule
	 * found by the address minus one, or for the trampoline itself, belongs
	 * to that function. The cache does not keep this rule.
	 */
	if (unlikely(walk->distrust)) {
		walk->distrust = false;
		if (rule.reg & KUNWIND_RULE_CODE) {
			if (kunwind_row_return(walk, rule, &slow->how))
				return paid(walk, SLOW_STEPPED, slow);
			end = kunwind_at_start(walk, addr + !exact, walk->regs.r[KUNWIND_RSP]);
			reason = end ? KUNWIND_COMPLETE : KUNWIND_NO_RULE;
			rule = (struct kunwind_rule){ .kind = KUNWIND_RULE_NONE };
		}
	}
	trampoline = reason == KUNWIND_COMPLETE && !(rule.kind & KUNWIND_RULE_SIGNAL) &&
		     (exact ? kunwind_proof_may_run_trampoline(walk->code) :
			      kunwind_proof_may_be_trampoline(walk->code));
	if (trampoline) {
		const u32 valid = walk->regs.valid;

		trampoline = !exact || kunwind_proof_in_trampoline(walk, true);
		if (trampoline && kunwind_nocfi_signal(walk, exact)) {
			slow->how = (struct kunwind_found){ .method = KUNWIND_BY_SIGNAL,
							    .signal = true };
			return paid(walk, SLOW_STEPPED, slow);
		}
		/* The address is in a trampoline, but the signal frame could not be read. */
		if (walk->regs.valid != valid) {
			slow->reason = KUNWIND_UNREADABLE;
			return SLOW_END;
		}
		/* If a read was refused, it may still be a trampoline. */
		if (unlikely(!walk->mem.left)) {
			slow->reason = KUNWIND_BUDGET_SPENT;
			return SLOW_END;
		}
	}
	keep &= !trampoline;
	slow->keep = keep;
	/* Only rbp shows where this frame is. */
	if (unlikely(doubted) && reason == KUNWIND_COMPLETE && !end &&
	    (rule.reg & ~KUNWIND_RULE_FLAGS) != KUNWIND_RBP) {
		slow->reason = KUNWIND_NO_RULE;
		return SLOW_END;
	}
	if (unlikely(end)) {
		set_entry(walk, addr, keep, end_rule(walk, rule), 0, slow);
		slow->reason = KUNWIND_COMPLETE;
		return SLOW_END;
	}
	if (unlikely(reason != KUNWIND_COMPLETE))
		return paid(walk, slow_nocfi(walk, exact, reason, slow), slow);
	if ((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_FULL)
		return paid(walk, slow_full_rule(walk, table, rule.off, addr, keep, slow), slow);
	/* No builder makes such a rule. A step by a cached rule does not check again. */
	if (unlikely((rule.reg & ~KUNWIND_RULE_FLAGS) >= KUNWIND_RA ||
		     (rule.reg & KUNWIND_RULE_FLAGS) == KUNWIND_RULE_MOVED ||
		     (rule.kind & KUNWIND_RULE_KIND) > KUNWIND_RULE_FULL)) {
		slow->reason = KUNWIND_CORRUPT;
		return SLOW_END;
	}
	set_entry(walk, addr, keep, rule,
		  kunwind_after(rule.reg & KUNWIND_RULE_CODE ? 0 : table->keep), slow);
	return SLOW_RULE;
}

bool kunwind_walk_attr
kunwind_common_step(struct kunwind_walk *walk, u64 addr, u64 id, struct slow_step *slow)
{
	/* Set here: at SLOW_END it would cost each cached frame two instructions to keep sp. */
	walk->unread[0] = walk->regs.r[KUNWIND_RSP];
	walk->mem.id = id;
	slow->keep = true;
	return kunwind_pay(&walk->mem, KUNWIND_COST_LOOKUP) && find_common(walk, addr, slow);
}

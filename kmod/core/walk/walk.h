/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * walk.h - what the files of the walk share: walk.c, cache.c, recent.c, wide.c, bare.c, code.c,
 * ahead.c, start.c, switch.c (and insn.c)
 *
 * Besides its rule, the walk needs of a frame what becomes of the callee-saved
 * registers other than rbp. One word says that, "after":
 *   bits 0-15   KUNWIND_REG() bits of those whose value is known after the step
 *               if it was before, or is on the stack; rbp and rsp always
 *   bits 16-30  three bits each for rbx, r12, r13, r14, r15: n > 0 when the
 *               caller's value is at CFA - 8 - 8 * n
 *   bits 31-63  the sequence of the entry of the cache; not used elsewhere
 */
#ifndef _KUNWIND_WALK_H
#define _KUNWIND_WALK_H

#include "../kunwind_core.h"

/* No user address has bits above: 57-bit addressing. */
#define KUNWIND_ADDRESS_BITS	56

#define KUNWIND_AFTER_PLACE	7U		/* greatest n */
#define KUNWIND_AFTER_PLACES	0x7fff0000U
#define KUNWIND_AFTER_SEQ_ONE	(1ULL << 31)
#define KUNWIND_AFTER_SEQ	(~0ULL << 31)

/*
 * The budget of a walk, in mem.left, pays for all work except steps by rules that
 * the cache has. Work is charged where it is done, never by an estimate. One unit
 * each: an instruction of user code that is decoded, a word or a line of code that
 * is read in a window of its own, an entry or a byte of expression of a wide rule.
 * A word that the walk of 32-bit code reads (kunwind_read_word32()) is not charged:
 * the lookup or the entry that it belongs to is. docs/unwinding.md lists all units.
 * tests/fuzz/fuzz-cost-walk.c looks for units that cost more than they should.
 * When the budget is spent, the step that spent it is discarded: it might have
 * found something else. The walk then ends with KUNWIND_DEPTH.
 */
#define KUNWIND_BUDGET		16384
#define KUNWIND_BUDGET_URGENT	(KUNWIND_BUDGET / 4)	/* interrupts are off, or NMI */
#define KUNWIND_COST_LOOKUP	3	/* of the rule for an address: range, table, row */

static __always_inline u32 kunwind_budget(const struct kunwind_walk *walk)
{
	return walk->budget ?: KUNWIND_BUDGET;
}

/* An address was found otherwise than by CFI. */
static __always_inline void kunwind_count_found(struct kunwind_walk *walk, u8 trust)
{
	if (!walk->others)
		memset(walk->found, 0, sizeof(walk->found));
	walk->others = true;
	walk->found[trust]++;
}

/* False: the budget does not pay for that any more, and is spent. */
static __always_inline bool kunwind_pay(struct kunwind_mem *mem, u32 cost)
{
	if (likely(mem->left > cost)) {
		mem->left -= cost;
		return true;
	}
	mem->left = 0;
	return false;
}

/* The word for a table that follows @keep, no register being on the stack. */
static __always_inline u64 kunwind_after(u32 keep)
{
	return (keep & KUNWIND_SAVED_REGS) | KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP);
}

/* The registers that have places are numbered: rbx is 0, then come r12 to r15. */
static __always_inline u32 kunwind_after_number(u32 reg)
{
	return reg == KUNWIND_RBX ? 0 : reg - KUNWIND_R12 + 1;
}

static __always_inline u32 kunwind_after_place(u64 after, u32 number)
{
	return (u32)after >> (16 + 3 * number) & KUNWIND_AFTER_PLACE;
}

/* The registers that a noted walk was made from. */
#define KUNWIND_RECENT_NEEDS	(KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP) | \
				 KUNWIND_REG(KUNWIND_RBP))

/*
 * The rule for an address that is not in the cache. KUNWIND_COMPLETE: rule and
 * table are there; otherwise the walk ends with what is returned, *end telling
 * whether that was an entry point. @exact: nothing was subtracted from the address.
 */
enum kunwind_reason kunwind_walk_rule(struct kunwind_walk *walk, u64 addr, bool exact, u64 sp,
				      struct kunwind_rule *rule,
				      const struct kunwind_table **table, bool *end);

/* One word of the user's memory, in a window of its own: a unit of the budget. */
bool kunwind_read_word(struct kunwind_mem *mem, u64 addr, u64 *value);
/* One of 32-bit code: four bytes, at an address below 2^32. */
bool kunwind_read_word32(struct kunwind_mem *mem, u64 addr, u64 *value);

/**
 * kunwind_wide_step() - a step by a wide rule
 * @signal: out: the caller was interrupted, it did not call
 *
 * walk->regs become the caller's. A register of which the caller's value cannot
 * be had becomes unknown; only the CFA and the return address must be there.
 */
enum kunwind_reason kunwind_wide_step(struct kunwind_walk *walk, const struct kunwind_table *table,
				      s32 index, bool *signal);

/**
 * kunwind_wide_compact() - a wide rule as a short one, if that says the same
 * @rule: out, @after: out
 * False: it does not; both are then undefined.
 */
bool kunwind_wide_compact(const struct kunwind_table *table, s32 index,
			  struct kunwind_rule *rule, u64 *after);

/* How a caller was found. */
struct kunwind_found {
	u8 trust;		/* enum kunwind_trust */
	bool signal;		/* it was interrupted, it did not call */
};

/**
 * kunwind_bare_step() - a step from a frame that no table has a rule for
 * @exact: regs are those at an instruction that did not run yet, or a system call's
 * @how: out: how the caller was found
 *
 * walk->regs become the caller's. Else KUNWIND_NO_RULE: nothing proves itself;
 * what it returns when the budget is spent means nothing.
 */
enum kunwind_reason kunwind_bare_step(struct kunwind_walk *walk, bool exact,
				      struct kunwind_found *how);

/*
 * The step from a signal trampoline, which is known by its code: walk->regs become those of the
 * signal frame. False: it is none; only rsp and rip are then sure to be known.
 */
bool kunwind_bare_signal(struct kunwind_walk *walk, bool exact);

#define KUNWIND_CODE_RBP_LOST	(-2)	/* as rbp_at: not told */

/**
 * kunwind_code_read() - what is on the stack at an instruction of a function
 * @from: the function's entry, @to: the instruction
 * Reads memory; no window may be open.
 */
void kunwind_code_read(struct kunwind_mem *mem, u64 from, u64 to, struct kunwind_code *code);

/**
 * kunwind_code_ahead() - what the code from @from on takes off the stack before it returns
 * @i386: it is 32-bit code
 * @code: out: depth or frame, the other is -1; and rbp_at
 * Returns false if that is not known. If other code directly follows a call that never returns,
 * the result may be what that code takes off. No window may be open.
 */
bool kunwind_code_ahead(struct kunwind_mem *mem, bool i386, u64 from, struct kunwind_code *code);

/*
 * Whether it takes an rsp from memory first, and then rbp from just below its return address:
 * rbp at @from is its frame pointer, on that other stack. No window may be open.
 */
bool kunwind_code_ahead_by_frame(struct kunwind_mem *mem, u64 from);

/*
 * Whether the code from @from on, at which rsp is @sp, sets rsp to something else that it
 * finds from there, and returns: by the word at *@slot; *@rbp_at as in struct kunwind_code.
 * No window may be open.
 */
bool kunwind_code_switches(struct kunwind_mem *mem, u64 from, u64 sp, u64 *slot, s32 *rbp_at);

/*
 * Whether a frame at the instruction @ip with the stack pointer @sp is where the kernel
 * started the program, or where ld.so did. No window may be open.
 */
bool kunwind_at_start(struct kunwind_walk *walk, u64 ip, u64 sp);

/*
 * Whether the code around the return address @ra is where a thread begins: it clears rbp,
 * calls, and when that returns, exits. Nothing called it. No window may be open.
 */
bool kunwind_code_outermost(struct kunwind_mem *mem, u64 ra);

/*
 * Whether the return address @ra is in Go's runtime.goexit(), where the stack of a goroutine ends:
 * at its second byte, to which the goroutine's first function returns, or after its call of
 * runtime.goexit1(). No window may be open.
 */
bool kunwind_code_begins_goroutine(struct kunwind_mem *mem, u64 ra);

/*
 * Where the function at @from jumps to with nothing on its stack (a tail call): the first place in
 * [@lo, @hi]; or else KUNWIND_CODE_ANYWHERE, if it jumps by a register or a table; or else the
 * first place that it jumps to for good. 0: no such jump is among @left instructions (out: those
 * that were not read). No window may be open.
 */
#define KUNWIND_CODE_ANYWHERE	1
u64 kunwind_code_tail(struct kunwind_mem *mem, u64 from, u64 lo, u64 hi, u32 *left);

/*
 * Where the return address @ra, which lies at @slot, really leads: the kernel
 * may have put the trampoline of a return probe there. @ra if not.
 */
u64 kunwind_bare_return(struct kunwind_walk *walk, u64 ra, u64 slot);

#endif /* _KUNWIND_WALK_H */

// SPDX-License-Identifier: MIT
/*
 * walk.c - walks of the caller: a stretch of the core's walk at a time
 *
 * A walk makes up to KUNWIND_STRETCH steps at once, keeps the frames, and hands them out
 * one by one. Only meanwhile it uses the snapshot, and counts as its user. After the
 * steps, each frame in an object that dlclose() may unmap is looked up again, because the
 * cache of rules is not: if the object is another one, the stretch is walked again.
 *
 * If a walk ends because memory is missing, the next call walks the stretch again from its
 * beginning, and leaves out the frames that it has handed out.
 *
 * Any context.
 */
#include <errno.h>

#include "begin_here.h"
#include "internal.h"
#include "walk/mem.h"
#include "../deps/kunwind_user_regs.h"

/* For a stretch. A frame without CFI can take a thousand units or more. */
#define BUDGET		(64 * KUNWIND_BUDGET)
#define TRIES		4		/* walks of a stretch while objects are loaded and unloaded */
#define USES_MODULES	true

static struct unwind_walk *walk_of(struct kunwind_stack_walk *walk)
{
	return (struct unwind_walk *)walk;
}

/* Begins with the registers in walk->core.regs; @addr: to look up. */
static void begin(struct unwind_walk *walk, struct kunwind_unwinder *unwinder, u64 addr)
{
	walk->unwinder = unwinder;
	walk->stretch.addr = addr;
	walk->stretch.after_slot = unwinder->after_slot;
	walk->stretch.bp_at = KUNWIND_STRETCH_NO_SLOT;
	walk->core.cache = NULL;
	walk->core.replay = NULL;
	walk->core.addresses = walk->stretch.address;
	walk->core.trust = walk->trust;
	walk->core.capacity = KUNWIND_STRETCH + 1;
	walk->core.budget = BUDGET;
	walk->core.guess = unwinder->flags & KUNWIND_UNWINDER_GUESS;
	walk->core.i386 = false;
	walk->core.entry = KUNWIND_ENTRY_UNKNOWN;
	walk->core.lower_nr = 0;
	walk->core.mem = (struct kunwind_mem){ .memory = &walk->memory, .space = (u64)unwinder };
	walk->memory.read = NULL;
	walk->memory.rule_turn = 0;
	walk->memory.turn = 0;
	walk->at = 0;
	walk->count = 0;
	walk->stack_sp = 0;
	walk->reason = KUNWIND_BUFFER_FULL;
	walk->trust[KUNWIND_STRETCH] = KUNWIND_TRUST_REGISTERS;
	walk->missing = false;
}

/* The same, on a stack of this thread. */
static void begin_own(struct unwind_walk *walk, struct kunwind_unwinder *unwinder, u64 addr)
{
	begin(walk, unwinder, addr);
	walk->core.mem.fs = (u64)__builtin_thread_pointer();
	walk->stack_sp = walk->core.regs.r[KUNWIND_RSP];
}

/* The registers of the signal frame, in the order of the kernel's struct sigcontext. */
UNWIND_EXPORT void kunwind_walk_begin_ucontext(struct kunwind_stack_walk *memory,
					       struct kunwind_unwinder *unwinder,
					       const void *ucontext)
{
	struct unwind_walk *walk = walk_of(memory);

	_Static_assert(KUNWIND_USER_REGS == KUNWIND_NR_REGS, "kunwind_user_regs.h is wrong");
	kunwind_regs_of_ucontext(walk->core.regs.r, ucontext);
	walk->core.regs.valid = KUNWIND_ALL_REGS;
	begin_own(walk, unwinder, walk->core.regs.r[KUNWIND_RA]);
}

_Static_assert(offsetof(struct unwind_walk, core.regs.r) == UNWIND_REGS_AT, "begin_here.h is wrong");

/* begin_here.S: it has set rbx, rbp, rsp, r12 to r15 and rip of the calling function. */
void unwind_begin_here(struct kunwind_stack_walk *memory, struct kunwind_unwinder *unwinder);
void unwind_begin_here(struct kunwind_stack_walk *memory, struct kunwind_unwinder *unwinder)
{
	struct unwind_walk *walk = walk_of(memory);

	walk->core.regs.valid = KUNWIND_SAVED_REGS | KUNWIND_REG(KUNWIND_RBP) |
				KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA);
	begin_own(walk, unwinder, walk->core.regs.r[KUNWIND_RA] - 1);
}

UNWIND_EXPORT int kunwind_walk_begin_regs(struct kunwind_stack_walk *memory,
					  struct kunwind_unwinder *unwinder,
					  const struct kunwind_registers *regs,
					  kunwind_read_memory *read, void *data)
{
	const u32 needed = KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA);
	struct unwind_walk *walk = walk_of(memory);
	u32 i;

	if ((regs->valid & needed) != needed ||
	    regs->flags & ~(KUNWIND_REGISTERS_CALLED | KUNWIND_REGISTERS_I386))
		return -EINVAL;
	memcpy(walk->core.regs.r, regs->r, sizeof(regs->r));
	walk->core.regs.valid = regs->valid & KUNWIND_ALL_REGS;
	begin(walk, unwinder, regs->r[KUNWIND_RA] - !!(regs->flags & KUNWIND_REGISTERS_CALLED));
	walk->memory.read = read;
	walk->memory.data = data;
	walk->core.mem.fs = regs->fs_base;
	if (!(regs->flags & KUNWIND_REGISTERS_I386))
		return 0;
	walk->core.i386 = true;
	walk->stretch.addr = (u32)walk->stretch.addr;
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		walk->core.regs.r[i] = (u32)walk->core.regs.r[i];
	return 0;
}

/* Keeps where the stretch begins, to walk it again. */
static void keep_begin(struct unwind_walk *walk)
{
	u32 i;

	walk->begin.trust = walk->trust[KUNWIND_STRETCH];
	/* Word by word: a wider load of words that were just stored would wait for the stores. */
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		walk->begin.regs.r[i] = READ_ONCE(walk->core.regs.r[i]);
	walk->begin.regs.valid = walk->core.regs.valid;
	walk->begin.addr = walk->stretch.addr;
	walk->begin.bp_at = walk->stretch.bp_at;
	walk->begin.lower_cfa = walk->core.lower_cfa;
	walk->begin.lower_ra = walk->core.lower_ra;
	walk->begin.lower_nr = walk->core.lower_nr;
}

static void return_to_begin(struct unwind_walk *walk)
{
	walk->core.regs = walk->begin.regs;
	walk->stretch.addr = walk->begin.addr;
	walk->stretch.bp_at = walk->begin.bp_at;
	walk->core.lower_cfa = walk->begin.lower_cfa;
	walk->core.lower_ra = walk->begin.lower_ra;
	walk->core.lower_nr = walk->begin.lower_nr;
	walk->trust[KUNWIND_STRETCH] = walk->begin.trust;
}

/* Makes the steps of a stretch by one snapshot. */
static enum kunwind_reason steps(struct unwind_walk *walk, struct unwind_snapshot *snapshot)
{
	struct kunwind_walk *core = &walk->core;

	core->ranges = &snapshot->ranges;
	core->cache = &walk->unwinder->cache;
	core->others = false;
	core->mem.asked = false;
	walk->memory.snapshot = snapshot;
	walk->memory.pid = 0;
	walk->memory.missed = 0;
	walk->memory.chunk[0].len = 0;
	walk->memory.chunk[1].len = 0;
	memset(walk->trust + 1, KUNWIND_TRUST_CFI, KUNWIND_STRETCH);
	walk->trust[0] = walk->begin.trust;
	return core->i386 ? unwind_stretch_i386(core, &walk->stretch) :
			    unwind_stretch(core, &walk->stretch);
}

/*
 * Whether each frame that dlclose() may have unmapped is in an object that the snapshot
 * knows. The lookup finds out, and makes the range dead if not.
 */
static bool still_loaded(const struct unwind_walk *walk, const struct unwind_snapshot *snapshot,
			 u64 id)
{
	const u64 late_lo = READ_ONCE(walk->unwinder->late_lo);
	const u64 late_hi = READ_ONCE(walk->unwinder->late_hi);
	const struct kunwind_range *range = NULL;
	u32 i;

	for (i = 0; i < walk->core.count; i++) {
		const u64 addr = walk->stretch.looked_up[i];

		if ((addr - snapshot->loose_lo >= snapshot->loose_span &&
		     addr - late_lo >= late_hi - late_lo) ||
		    (range && addr - range->start < range->end - range->start))
			continue;
		range = kunwind_ranges_find(&snapshot->ranges, addr);
	}
	return READ_ONCE(snapshot->ranges.id) == id;
}

/* Replaces looked_up[] by modules, and sets exact[]. */
static void find_modules(struct unwind_walk *walk, const struct unwind_snapshot *snapshot)
{
	const struct kunwind_module *module = NULL;
	u32 i;

	for (i = 0; i < walk->count; i++) {
		const u64 addr = walk->stretch.looked_up[i];
		const struct kunwind_range *range;

		walk->exact[i] = addr == walk->stretch.address[i];
		if (!module || addr - module->start >= module->end - module->start) {
			range = kunwind_ranges_find(&snapshot->ranges, addr);
			module = range && !READ_ONCE(range->dead) ?
				 unwind_range_module(snapshot, range) : NULL;
		}
		walk->stretch.looked_up[i] = (u64)module;
	}
}

/* Walks the next stretch, or the same again after @again frames of it. */
static void walk_stretch(struct unwind_walk *walk, u32 again, const bool modules)
{
	struct kunwind_unwinder *unwinder = walk->unwinder;
	const struct kunwind_analysis_cache *answers = NULL;
	struct unwind_snapshot *snapshot;
	enum kunwind_reason reason;
	u32 tries = 0, free = 0;
	u64 id, *users;

	users = unwind_users_enter(&unwinder->users);
	snapshot = __atomic_load_n(&unwinder->snapshot, __ATOMIC_SEQ_CST);
	if (!again)
		keep_begin(walk);
	if (walk->stack_sp)
		unwind_stack_trust(walk);
	if (unlikely(READ_ONCE(unwinder->wants_answers)) &&
	    __atomic_compare_exchange_n(&unwinder->answers_taken, &free, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		answers = walk->core.mem.answers = &unwinder->answers;
	do {
		id = READ_ONCE(snapshot->ranges.id);
		reason = steps(walk, snapshot);
		if (likely(!snapshot->loose_span && !READ_ONCE(unwinder->nr_late)) ||
		    still_loaded(walk, snapshot, id))
			break;
		return_to_begin(walk);
		reason = KUNWIND_NOT_READY;
		walk->core.count = again;
	} while (++tries < TRIES);
	walk->core.mem.answers = NULL;
	if (answers)
		__atomic_store_n(&unwinder->answers_taken, 0, __ATOMIC_RELEASE);
	if (unlikely(walk->core.others))
		WRITE_ONCE(unwinder->wants_answers, 1);
	walk->reason = reason;
	walk->missing = reason == KUNWIND_UNREADABLE;
	walk->count = walk->core.count;
	walk->last = walk->count ? walk->stretch.looked_up[walk->count - 1] : walk->stretch.addr;
	walk->at = min(again, walk->count);
	walk->modules = modules;
	if (modules)
		find_modules(walk, snapshot);
	unwind_users_exit(&unwinder->users, users);
}

/*
 * Makes frames available. False: the walk has ended. A stretch that is walked again may end
 * without a new frame, because it is full; then the next one follows.
 */
static bool more(struct unwind_walk *walk, const bool modules)
{
	bool provided = walk->missing && walk->memory.read;

	while (walk->at == walk->count) {
		if (walk->reason == KUNWIND_BUFFER_FULL) {
			walk_stretch(walk, 0, modules);
		} else if (provided || (walk->reason == KUNWIND_NOT_READY &&
					unwind_tables_meet(walk->unwinder, walk->last))) {
			provided = false;
			return_to_begin(walk);
			walk_stretch(walk, walk->count, modules);
		} else {
			return false;
		}
	}
	return true;
}

UNWIND_EXPORT int kunwind_walk_next(struct kunwind_stack_walk *memory, struct kunwind_stack_frame *frame)
{
	struct unwind_walk *walk = walk_of(memory);
	u32 at;

	if (unlikely(walk->at == walk->count) && !more(walk, USES_MODULES))
		return 0;
	at = walk->at++;
	frame->ip = walk->stretch.address[at];
	frame->sp = walk->stretch.sp[at];
	frame->trust = walk->trust[at];
	frame->exact = walk->modules ? walk->exact[at] : frame->ip == walk->stretch.looked_up[at];
	frame->module = walk->modules ? (const struct kunwind_module *)walk->stretch.looked_up[at] : NULL;
	return 1;
}

UNWIND_EXPORT size_t kunwind_walk_addresses(struct kunwind_stack_walk *memory, uint64_t *addresses,
					    size_t most)
{
	struct unwind_walk *walk = walk_of(memory);
	size_t nr = 0, n;

	while (nr < most && (walk->at < walk->count || more(walk, !USES_MODULES))) {
		n = min(most - nr, (size_t)(walk->count - walk->at));
		memcpy(addresses + nr, walk->stretch.address + walk->at, n * sizeof(*addresses));
		walk->at += n;
		nr += n;
	}
	return nr;
}

UNWIND_EXPORT enum kunwind_reason kunwind_walk_reason(const struct kunwind_stack_walk *memory)
{
	const struct unwind_walk *walk = (const struct unwind_walk *)memory;

	return walk->at < walk->count ? KUNWIND_BUFFER_FULL : walk->reason;
}

UNWIND_EXPORT uint64_t kunwind_walk_missing(const struct kunwind_stack_walk *memory)
{
	const struct unwind_walk *walk = (const struct unwind_walk *)memory;

	return walk->at == walk->count && walk->missing ? walk->memory.missed : 0;
}

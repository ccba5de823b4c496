// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code_analysis.c - how deep a function's stack is at one of its instructions
 *
 * For code without unwind information (step.c). A call is known to lead to the function's
 * entry. kunwind_code_read() reads the instructions from there up to the one in question, and
 * adds up how each changes rsp. For each forward jump it keeps the target and the depth at the
 * jump. After a return or a jump, another function may begin, so nothing is known there, except
 * at a kept target.
 *
 * A backward jump ends a loop. If a round of the loop pushes (a run-time system may copy
 * arguments so), no depth is known after it; where rbp became the frame pointer still is.
 *
 * The answer is "not known" for everything else: a realigned stack, an invalid byte, code that
 * is first reached through a jump table. Any other answer is a fact of the code, unless data
 * lies between the instructions.
 *
 * Bounds: MOST_INSNS instructions up to the one in question, MOST_LOOP_INSNS of loops;
 * kunwind_code_tail() reads as many as its caller allows; kunwind_code_skipped()
 * reads MOST_BEHIND_INSNS. Any context, NMI included; kunwind_deps.h reads
 * memory. Stack: 850 bytes.
 *
 * What it does not do: see, from inside a loop, that the loop pushes.
 */
#include "../walk/mem.h"
#include "../x86/insn_effect.h"
#include "code_analysis.h"
#include "insn_kind.h"

#define MOST_INSNS	4096
#define MOST_LOOP_INSNS	512
#define MOST_TARGETS	12
#define MOST_BEHIND	1024	/* bytes before a call */
#define NOT_DECODED	8	/* bytes to skip if decoding fails */
#define MOST_BEHIND_INSNS 512
#define UNKNOWN		(-1)
#define LOOP_DEPTH	0x4000	/* initial depth in round_pushes(), as pops may come first */
#define MOST_DEPTH	(1 << 30) /* bytes, either way; no frame is as big */

/* What is known at an instruction of a function. */
struct way {
	s32 depth;		/* bytes pushed since the entry, or UNKNOWN */
	s32 frame;		/* depth at which rbp became the frame pointer, or UNKNOWN */
	s32 rbp_at;		/* from the return address down to where rbp was saved */
	bool framed;		/* rbp has not changed since */
	struct kunwind_mem *mem;	/* pays for lookups of targets */
	s32 moved;		/* offset after the last instruction that moved rsp */
	s32 stopped;		/* offset after the last jump or return */
	s32 back;		/* target of the instruction's backward jump; or UNKNOWN */
	u32 nr;			/* number of targets */
	u32 next;		/* if nr is not 0: the next target is not before this offset */
	u16 at[MOST_TARGETS];	/* bytes from the entry */
	s16 depth_at[MOST_TARGETS];
	s16 rbp_at_at[MOST_TARGETS];
	bool framed_at[MOST_TARGETS];
};

/* Keep the state for the target @at of a jump that ends @here; or note a backward jump. */
static void kunwind_walk_attr jump_to(struct way *way, s64 here, s64 at)
{
	u32 i;

	if (at < here)
		way->back = at < 0 ? UNKNOWN : at;
	if ((way->depth == UNKNOWN && !way->framed) || way->depth > 0x7fff || at < here ||
	    at > 0xffff)
		return;
	kunwind_pay(way->mem, way->nr / 8);
	for (i = 0; i < way->nr; i++)
		if (way->at[i] < here || way->at[i] == at)
			break;
	if (i == MOST_TARGETS)
		return;
	way->next = way->nr ? min(way->next, (u32)at) : at;
	if (i == way->nr)
		way->nr++;
	i = kunwind_index(i, (u32)MOST_TARGETS);
	way->at[i] = at;
	way->depth_at[i] = way->depth;
	way->rbp_at_at[i] = way->rbp_at;
	way->framed_at[i] = way->framed;
}

/* If a kept jump leads @here, continue with its state. */
static noinline bool kunwind_walk_attr jumped_from(struct way *way, u32 here)
{
	u32 i, found = way->nr, next = ~0U;

	kunwind_pay(way->mem, way->nr / 8);
	for (i = way->nr; i-- > 0;)
		if (way->at[i] == here)
			found = i;
		else if (way->at[i] > here && way->at[i] < next)
			next = way->at[i];
	way->next = next;
	if (found == way->nr)
		return false;
	if (way->depth_at[found] != UNKNOWN)
		way->depth = way->depth_at[found];
	way->rbp_at = way->rbp_at_at[found];
	way->framed = way->framed_at[found];
	return true;
}

static __always_inline bool jumped_to(struct way *way, u32 here)
{
	return way->nr && here >= way->next && jumped_from(way, here);
}

/* One instruction can move rsp by two billion bytes, and so can the next one. */
static __always_inline s32 depth_of(s64 sum)
{
	return sum >= -MOST_DEPTH && sum <= MOST_DEPTH ? sum : UNKNOWN;
}

/* rbp gets another value. If rbp was not saved, the caller's value is lost (longjmp()). */
static void kunwind_walk_attr write_rbp(struct way *way)
{
	way->framed = false;
	if (way->rbp_at == UNKNOWN)
		way->rbp_at = KUNWIND_CODE_RBP_LOST;
}

/* rbp is loaded from @at, in bytes below the return address. */
static void kunwind_walk_attr load_rbp(struct way *way, s64 at)
{
	const bool restored = way->rbp_at >= 0 && at == way->rbp_at;

	write_rbp(way);
	if (restored)
		way->rbp_at = UNKNOWN;
}

/*
 * @before: the depth before the instruction; way->depth is the one after it. A
 * function may save rbp by a push, or by mov %rbp, n(%rsp) just before it first needs
 * the register (gcc's -fshrink-wrap-separate).
 */
static void kunwind_walk_attr move_rbp(struct way *way, const struct kunwind_insn_effect *e, s32 before)
{
	s64 at;

	switch (e->rbp) {
	case KUNWIND_RBP_FROM_RSP:
		write_rbp(way);
		way->frame = before == UNKNOWN ? UNKNOWN : depth_of((s64)before - e->at);
		way->framed = way->frame != UNKNOWN;
		break;
	case KUNWIND_RBP_STORED:
		at = (s64)way->depth - e->at;
		if (way->depth != UNKNOWN && way->rbp_at == UNKNOWN && at >= 8 && at <= way->depth)
			way->rbp_at = at;
		break;
	case KUNWIND_RBP_LOADED:
		load_rbp(way, before == UNKNOWN ? UNKNOWN : (s64)before - e->at);
		break;
	case KUNWIND_RBP_LEFT:
		load_rbp(way, way->framed ? way->frame : UNKNOWN);
		break;
	case KUNWIND_RBP_WRITTEN:
		write_rbp(way);
		break;
	}
}

/* The next instruction may belong to another function, unless a jump leads there. */
static void kunwind_walk_attr stop(struct way *way, u32 end)
{
	way->stopped = end;
	way->depth = UNKNOWN;
	way->framed = false;
}

static noinline void kunwind_walk_attr apply(struct way *way, const struct kunwind_insn_effect *e,
					     u32 end)
{
	const s32 before = way->depth;

	if (e->rsp || e->off)
		way->moved = end;
	if (e->rsp == KUNWIND_RSP_FROM_RBP)
		way->depth = way->framed ? depth_of((s64)way->frame - e->off) : UNKNOWN;
	else if (e->rsp != KUNWIND_RSP_ADD)
		way->depth = UNKNOWN;
	else if (way->depth != UNKNOWN)
		way->depth = depth_of((s64)way->depth - e->off);
	if (e->rbp)
		move_rbp(way, e, before);
	if (e->flow == KUNWIND_FLOW_BRANCH || e->flow == KUNWIND_FLOW_JUMP)
		jump_to(way, end, (s64)end + e->distance);
	if (e->flow >= KUNWIND_FLOW_JUMP)
		stop(way, end);
}

/* Apply an instruction. @end: offset of the next one. */
static __always_inline void move(struct way *way, const struct kunwind_insn_effect *e, u32 end)
{
	way->back = UNKNOWN;
	if (!e->plain)
		apply(way, e, end);
}

/*
 * How many bytes a round of a loop pushes. @from: head of the loop, @to: its
 * backward jump. Also 0 if this is not known, because few loops push.
 */
static noinline s32 kunwind_walk_attr round_pushes(struct kunwind_mem *mem, u64 from, u64 to,
						   u32 *left)
{
	struct way way = { .mem = mem, .depth = LOOP_DEPTH, .frame = UNKNOWN, .rbp_at = UNKNOWN };
	struct kunwind_text text = { .mem = mem, .left = *left };
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	u64 at = from;

	/* The set-up takes as long as decoding an instruction. */
	kunwind_pay(mem, 1);
	while (at < to && kunwind_insn_next_effect(&text, at, &insn, &e)) {
		at += insn.length;
		move(&way, &e, at - from);
		jumped_to(&way, at - from);
	}
	*left = text.left;
	return at == to && way.depth != UNKNOWN ? way.depth - LOOP_DEPTH : 0;
}

/* Whether the instruction at @jump jumps back, and ends a loop that moves rsp. */
static bool kunwind_walk_attr ends_pushing(struct way *way, u64 from, u64 jump, u32 *left_of_loops)
{
	return way->back != UNKNOWN && way->moved > way->back &&
	       round_pushes(way->mem, from + way->back, jump, left_of_loops);
}

/* After an instruction that ends @here, to which kept jumps may lead. */
static __always_inline void settle(struct way *way, u32 here)
{
	if (!jumped_to(way, here) && way->depth < 0)
		way->depth = UNKNOWN;
}

/* Only kept jumps may lead to the instruction at @here. */
static __always_inline void only_by_jump(struct way *way, u32 here)
{
	stop(way, here);
	jumped_to(way, here);
}

/* Read from @from up to @to. False: @to was not reached. */
static bool kunwind_walk_attr read_up_to(struct way *way, struct kunwind_text *text, u64 from,
					 u64 to, u32 *left_of_loops)
{
	struct before before = { };
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	u64 at = from;

	while (at < to && kunwind_insn_next_effect(text, at, &insn, &e)) {
		if (begins_other(&before, &insn, &e, at))
			only_by_jump(way, at - from);
		at += insn.length;
		move(way, &e, at - from);
		if (ends_pushing(way, from, at - insn.length, left_of_loops)) {
			way->depth = UNKNOWN;
			way->nr = 0;
		}
		settle(way, at - from);
	}
	if (before.nops && !(to & 7))
		only_by_jump(way, at - from);
	return at == to;
}

static void kunwind_walk_attr answer(const struct way *way, struct kunwind_code *code)
{
	code->depth = way->depth;
	code->frame = way->framed ? way->frame : UNKNOWN;
	code->rbp_at = way->rbp_at;
}

void kunwind_walk_attr kunwind_code_read(struct kunwind_mem *mem, u64 from, u64 to,
					 struct kunwind_code *code)
{
	struct way way = { .mem = mem, .frame = UNKNOWN, .rbp_at = UNKNOWN };
	struct kunwind_text text = { .mem = mem, .left = MOST_INSNS };
	u32 left_of_loops = MOST_LOOP_INSNS;

	*code = (struct kunwind_code){ .depth = UNKNOWN, .frame = UNKNOWN, .rbp_at = UNKNOWN };
	if (read_up_to(&way, &text, from, to, &left_of_loops))
		answer(&way, code);
}

/* The nearest target after @here; 0: none. */
static u32 kunwind_walk_attr next_target(const struct way *way, u32 here)
{
	u32 i, nearest = 0;

	for (i = 0; i < way->nr; i++)
		if (way->at[i] > here && (!nearest || way->at[i] < nearest))
			nearest = way->at[i];
	return nearest;
}

/* A register that holds a known address, from lea n(%rip), %reg. */
struct constant {
	u64 value;
	u32 reg;
	bool known;
};

static void kunwind_walk_attr note_constant(struct constant *constant,
					    const struct kunwind_insn *insn, u64 end)
{
	const u32 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;

	if (!insn->map && insn->op == 0x8d && insn->wide && (insn->modrm & 0xc7) == 5)
		*constant = (struct constant){ .value = end + (s64)insn->disp, .reg = reg,
					       .known = true };
	else if (constant->known && kunwind_insn_writes(insn, constant->reg))
		constant->known = false;
}

/* Whether it is a jump through the register that holds the constant. */
static bool kunwind_walk_attr jumps_to(const struct constant *constant,
				       const struct kunwind_insn *insn,
				       const struct kunwind_insn_effect *e)
{
	return constant->known && e->flow == KUNWIND_FLOW_ANY && insn->modrm >> 6 == 3 &&
	       ((insn->modrm & 7) | insn->rm_high << 3) == (int)constant->reg;
}

u64 kunwind_walk_attr kunwind_code_tail(struct kunwind_mem *mem, u64 from, u64 lo, u64 hi,
					u32 *left)
{
	struct way way = { .mem = mem, .frame = UNKNOWN, .rbp_at = UNKNOWN };
	struct kunwind_text text = { .mem = mem, .left = *left };
	struct constant constant = { };
	struct before before = { };
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	u64 at = from, to, found = 0, other = 0;

	while (kunwind_insn_next_effect(&text, at, &insn, &e)) {
		if (begins_other(&before, &insn, &e, at) && !next_target(&way, at - from - 1))
			break;
		at += insn.length;
		if (e.flow == KUNWIND_FLOW_BRANCH || e.flow == KUNWIND_FLOW_JUMP)
			to = at + (s64)e.distance;
		else
			to = jumps_to(&constant, &insn, &e) ? constant.value : 0;
		if (to && !way.depth && to >= lo && to <= hi) {
			found = to;
			break;
		}
		if (!to && !way.depth && !insn.map && insn.op == 0xff && e.flow >= KUNWIND_FLOW_ANY)
			other = KUNWIND_CODE_ANYWHERE;
		else if (to && !way.depth && !other && e.flow != KUNWIND_FLOW_BRANCH)
			other = to;
		note_constant(&constant, &insn, at);
		move(&way, &e, at - from);
		if (jumped_to(&way, at - from))
			continue;
		if (e.flow >= KUNWIND_FLOW_JUMP && !next_target(&way, at - from))
			break;
		if (way.depth < 0)
			way.depth = UNKNOWN;
	}
	*left = text.left;
	return found ?: other;
}

/* Code begins that may be another function's: forgets depth and jumps. */
static void kunwind_walk_attr begin_again(struct way *way)
{
	way->depth = LOOP_DEPTH;
	way->frame = UNKNOWN;
	way->framed = false;
	way->nr = 0;
}

/* If decoding begins inside an instruction, it soon gets to the start of one. */
s32 kunwind_walk_attr kunwind_code_skipped(struct kunwind_mem *mem, u64 after)
{
	const u64 from = after - MOST_BEHIND;
	struct way way = { .mem = mem, .frame = UNKNOWN, .rbp_at = UNKNOWN };
	struct kunwind_text text = { .mem = mem, .left = MOST_BEHIND_INSNS };
	struct kunwind_insn_effect e = { };
	struct kunwind_insn insn;
	u64 at = from;
	s32 depth;

	begin_again(&way);
	while (at < after && mem->left && text.left) {
		if (!kunwind_insn_next_effect(&text, at, &insn, &e)) {
			/* Each read that fails is a page fault: one for a page is enough. */
			at = text.read ? at + NOT_DECODED : (at | KUNWIND_PAGE_MASK) + 1;
			text.read = text.used = 0;
			begin_again(&way);
			continue;
		}
		at += insn.length;
		move(&way, &e, at - from);
		if (at < after && !jumped_to(&way, at - from) && way.stopped == (s32)(at - from))
			begin_again(&way);
	}
	depth = way.depth;
	if (at != after || e.flow != KUNWIND_FLOW_CALL || depth == UNKNOWN || !jumped_to(&way, MOST_BEHIND) ||
	    way.depth == UNKNOWN || depth <= way.depth || (depth - way.depth) & 7)
		return 0;
	return depth - way.depth;
}

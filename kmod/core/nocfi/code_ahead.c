// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code_ahead.c - find the return address from the code that is still to run
 *
 * For code without unwind information (step.c). follow() reads instructions from an address
 * up to one that returns, and adds up how each changes rsp and rbp. This gives the distance of
 * the return address from the rsp of the first instruction; or from its rbp, if the path sets
 * rsp from rbp (leave, mov, lea). The place of the caller's rbp is found in the same way.
 *
 * follow() takes the path on which no conditional jump is taken. If this path ends without a
 * return, follow() continues at an address to which a conditional jump led forward
 * (comes_later()). docs/unwinding.md ("Code that is still to run") says why one path is enough,
 * what counts as a return, where a path ends, and what can mislead.
 *
 * A 32-bit function may take its arguments off the stack when it returns. Therefore rsp is not
 * known after a call in 32-bit code.
 *
 * Bounds: MOST_INSNS instructions, and what kunwind_code_skipped() reads for
 * MOST_SKIPS calls. Any context, NMI included; kunwind_deps.h reads memory.
 * Stack: 1,660 bytes, including callees.
 */
#include "../walk/mem.h"
#include "../x86/i386.h"
#include "../x86/insn_effect.h"
#include "ahead_state.h"
#include "code_ahead.h"
#include "code_analysis.h"
#include "insn_kind.h"

#define MOST_INSNS	1024
#define MOST_TARGETS	12
#define MOST_SEEN	16
#define MOST_SKIPS	4
#define MOST_DISTANCE	(1 << 16)	/* bytes; longer jumps are not noted as targets */
#define MOST_AWAY	(1 << 30)	/* from the first instruction, either way */
#define OP_JMP_REL32	0xe9		/* jmp with a 32-bit displacement */

/* System calls that do not return. */
#define NR_RT_SIGRETURN	15
#define NR_EXIT		60
#define NR_EXIT_GROUP	231

/* Addresses of instructions are distances in bytes from the first one. */
struct ahead {
	struct ahead_state state;
	struct target {
		s32 at;
		struct ahead_state state;
	} target[MOST_TARGETS];
	struct stretch {
		s32 from, to;
	} seen[MOST_SEEN];	/* code that was read */
	u32 nr, nr_seen;
	u32 skips;		/* calls that is_skipped() may still examine */
	bool unsure;		/* the path goes through nops after a call */
	u32 eax;		/* the constant from the last mov to eax; or ~0 */
	s32 word;		/* bytes: 8, or 4 in 32-bit code */
};

/* Where the path continues. */
enum next {
	NEXT_ON,
	NEXT_JUMP,		/* by insn->imm from the next instruction */
	NEXT_RETURN,
	NEXT_TAIL,		/* a jump that counts as a return */
	NEXT_NONE,
};

/* The register that a push or pop names; ~0: none, or it is in memory. */
static u32 kunwind_walk_attr register_of(const struct kunwind_insn *insn)
{
	if (insn->op >> 4 == 5)
		return (insn->op & 7) | insn->rm_high << 3;
	if (insn->has_modrm && insn->modrm >> 6 == 3)
		return (insn->modrm & 7) | insn->rm_high << 3;
	return ~0U;
}

static void kunwind_walk_attr popped(struct ahead_state *state, const struct kunwind_insn *insn,
				     struct place from)
{
	const u32 reg = register_of(insn);

	if (reg == R10)
		read_r10(state, from);
	/* The path may have written a place below the highest rsp. */
	state->popped = from.base == BASE_RSP && from.off < state->highest ? (struct place){ } : from;
	state->popped_to = reg;
	state->flags |= insn->op == 0x9d && !insn->map;
}

static void kunwind_walk_attr pushed(struct ahead *ahead, const struct kunwind_insn *insn)
{
	struct ahead_state *state = &ahead->state;
	const u32 reg = register_of(insn);

	if (reg != RBP)
		store(state, state->rsp, reg);
	state->back = state->popped.base && reg == state->popped_to;
	if (state->rsp.base != BASE_RSP)
		return;
	if (state->rsp.off == state->highest - ahead->word)
		state->replaced = reg != state->from_top;
	if (state->rsp.off == -ahead->word)
		state->first = reg == ~0U ? KUNWIND_CODE_OTHER : reg;
}

/* What the instruction does to rsp. */
static void kunwind_walk_attr move_rsp(struct ahead *ahead, const struct kunwind_insn *insn,
				       const struct kunwind_insn_effect *e)
{
	const s64 off = (s64)e->off - (8 - ahead->word) * e->words;
	struct ahead_state *state = &ahead->state;

	if (e->rsp == KUNWIND_RSP_ADD)
		state->rsp = at_distance(state->rsp, off);
	else if (e->rsp == KUNWIND_RSP_FROM_RBP)
		state->rsp = at_distance(rbp_place(state), off);
	else if (e->rsp == KUNWIND_RSP_SET && state->copied.base && e->base == state->copied_to)
		state->rsp = at_distance(state->copied, off);
	else if (!insn->map && insn->op == 0x8d && insn->wide && !insn->short_address &&
		 (insn->modrm & 7) == 2 && insn->rm_high == 1 && insn->modrm >> 6 && state->r10.base)
		state->rsp = at_distance((struct place){ .base = BASE_R10 }, insn->disp);
	else
		state->rsp = (struct place){ };
}

/* What it does to rbp. @before: rsp before it. */
static void kunwind_walk_attr move_rbp(struct ahead_state *state, const struct kunwind_insn_effect *e,
				       struct place before, struct place frame)
{
	switch (e->rbp) {
	case KUNWIND_RBP_FROM_RSP:
		rbp_becomes(state, RBP_PLACE, at_distance(before, e->at));
		break;
	case KUNWIND_RBP_STORED:
		/* One word is followed: by mov, only the caller's rbp becomes that word. */
		store(state, at_distance(state->rsp, e->at),
		      e->words || state->rbp_is == RBP_SAME ? RBP : ~0U);
		break;
	case KUNWIND_RBP_LOADED:
		read_rbp(state, at_distance(before, e->at));
		break;
	case KUNWIND_RBP_LEFT:
		read_rbp(state, frame);
		break;
	case KUNWIND_RBP_WRITTEN:
		state->rbp_is = RBP_OTHER;
		break;
	}
}

/* A callee-saved register, other than rbp, that keeps a copy of rsp. */
static void kunwind_walk_attr copy_rsp(struct ahead_state *state, const struct kunwind_insn *insn)
{
	s32 at;
	const u8 to = kunwind_insn_copies_rsp(insn, &at);

	if (to == RBX || (to >= 12 && to != KUNWIND_NO_REG)) {
		state->copied = at_distance(state->rsp, at);
		state->copied_to = to;
	} else if (state->copied.base && kunwind_insn_writes(insn, state->copied_to)) {
		state->copied = (struct place){ };
	}
}

/* Words of the stack that mov writes, and that r10 is read from; eax and r10 that are lost. */
static void kunwind_walk_attr move_others(struct ahead *ahead, const struct kunwind_insn *insn,
					  const struct kunwind_insn_effect *e)
{
	const u32 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;
	struct ahead_state *state = &ahead->state;

	copy_rsp(state, insn);
	if (!insn->map && e->words) {
		if (e->words > 0 && register_of(insn) == RAX)
			ahead->eax = ~0U;
		return;
	}
	if (!insn->map && insn->op == 0x89 && insn->wide && insn->on_rsp) {
		state->moved = at_distance(state->rsp, insn->disp);
		if (reg != RBP)
			store(state, state->moved, reg);
	}
	if (e->flow == KUNWIND_FLOW_CALL || kunwind_insn_writes(insn, R10))
		state->r10 = (struct place){ };
	if (!insn->map && insn->op == 0x8b && insn->wide && !insn->short_address && reg == R10 &&
	    insn->modrm >> 6 && insn->modrm >> 6 < 3 && (insn->modrm & 7) == RBP && !insn->rm_high)
		read_r10(state, at_distance(rbp_place(state), insn->disp));
	if (e->flow == KUNWIND_FLOW_CALL || kunwind_insn_writes(insn, RAX))
		ahead->eax = ~0U;
	if (!insn->map && (insn->op == 0xb8 || (insn->op == 0xc7 && insn->modrm == 0xc0)) && !insn->rm_high)
		ahead->eax = insn->imm;
}

/*
 * Whether the instruction is arithmetic, test, mov, lea, push or return, and does
 * not write the register @reg.
 */
static bool kunwind_walk_attr leaves_popped(const struct kunwind_insn *insn, u8 reg)
{
	const u8 op = insn->op;

	if (insn->map || kunwind_insn_writes(insn, reg))
		return false;
	return (op < 0x40 && (op & 7) < 4) || op >> 3 == 10 || op == 0x81 || op == 0x83 ||
	       op == 0x85 || op == 0x89 || op == 0x8b || op == 0x8d || op == 0xc2 || op == 0xc3;
}

/* Whether the path has just released the frame at rbp: leave. Only the return address is left. */
static bool kunwind_walk_attr left_frame(const struct ahead_state *state)
{
	return state->rsp.base == BASE_RBP && state->rsp.off == 8 && state->rbp_is == RBP_READ &&
	       state->rbp.base == BASE_RBP && !state->rbp.off;
}

static enum next kunwind_walk_attr step(struct ahead *ahead, const struct kunwind_insn *insn,
					const struct kunwind_insn_effect *e)
{
	struct ahead_state *state = &ahead->state;
	const struct place before = state->rsp, frame = rbp_place(state);
	const bool returns = e->flow == KUNWIND_FLOW_ANY && insn->modrm >> 6 == 3 &&
			     state->popped.base && register_of(insn) == state->popped_to;

	if (state->flags && !leaves_flags(insn))
		state->flags = false;
	if (state->back && e->flow != KUNWIND_FLOW_RETURN)
		state->back = false;
	if (state->popped.base && !returns && !leaves_popped(insn, state->popped_to))
		state->popped = (struct place){ };
	move_rsp(ahead, insn, e);
	move_rbp(state, e, before, frame);
	move_others(ahead, insn, e);
	if (e->words > 0 && e->rsp == KUNWIND_RSP_ADD)
		popped(state, insn, before);
	if (e->words < 0)
		pushed(ahead, insn);
	switch (e->flow) {
	case KUNWIND_FLOW_JUMP:
		return NEXT_JUMP;
	case KUNWIND_FLOW_RETURN:
		return NEXT_RETURN;
	case KUNWIND_FLOW_ANY:
		state->back = returns;
		if (left_frame(state))
			return NEXT_TAIL;
		return returns ? NEXT_RETURN : NEXT_NONE;
	case KUNWIND_FLOW_STOP:
		return !insn->map && insn->op == 0xff ? NEXT_TAIL : NEXT_NONE;
	}
	if (!insn->map && insn->op == 0xcd)
		return ahead->word == 4 && comes_back(insn, ahead->eax) ? NEXT_ON : NEXT_NONE;
	if (insn->map == 1 && insn->op == 0x05 &&
	    (ahead->eax == NR_RT_SIGRETURN || ahead->eax == NR_EXIT || ahead->eax == NR_EXIT_GROUP))
		return NEXT_NONE;
	return NEXT_ON;
}

/*
 * Whether target @a is taken after @b if a path has ended @here. The code after a loop, or after
 * a path that ends, leads on. The code before @here that was jumped over mostly joins the path.
 */
static bool kunwind_walk_attr comes_later(const struct target *a, const struct target *b, s32 here)
{
	if (a->state.late != b->state.late)
		return a->state.late;
	if ((a->at < here) != (b->at < here))
		return a->at < here;
	return a->at > b->at;
}

/*
 * Note a target: of a conditional jump that ends @here; or, if @late, after nops. If there is
 * no room, the one that would be taken last is dropped.
 */
static void kunwind_walk_attr note(struct ahead *ahead, struct kunwind_mem *mem, s32 here, s64 at,
				   bool late)
{
	struct target target = { .at = at, .state = ahead->state };
	u32 i, last = 0;

	if (at < here || at - here > MOST_DISTANCE)
		return;
	target.state.late = late;
	kunwind_pay(mem, ahead->nr / 8);
	for (i = 0; i < ahead->nr; i++) {
		if (ahead->target[i].at == at && ahead->target[i].state.late <= late)
			return;
		if (comes_later(&ahead->target[i], &ahead->target[last], here))
			last = i;
	}
	if (i < MOST_TARGETS)
		ahead->nr++;
	else if (comes_later(&target, &ahead->target[last], here))
		return;
	else
		i = last;
	ahead->target[kunwind_index(i, (u32)MOST_TARGETS)] = target;
}

/*
 * Whether a jump with another rsp leads to @at, the address after a call. Then
 * that call does not return, and the state becomes that of the jump.
 */
static bool kunwind_walk_attr only_jumped_to(struct ahead *ahead, struct kunwind_mem *mem, s32 at)
{
	u32 i;

	kunwind_pay(mem, ahead->nr / 8);
	for (i = 0; i < ahead->nr; i++)
		if (ahead->target[i].at == at &&
		    !same(ahead->target[i].state.rsp, ahead->state.rsp)) {
			ahead->state = ahead->target[i].state;
			return true;
		}
	return false;
}

/* Continue at a target, *at, after a path that ended there. False: none is left. */
static bool kunwind_walk_attr take_target(struct ahead *ahead, s64 *at)
{
	u32 i, next = 0;

	if (!ahead->nr)
		return false;
	for (i = 1; i < ahead->nr; i++)
		if (comes_later(&ahead->target[next], &ahead->target[i], *at))
			next = i;
	next = kunwind_index(next, (u32)MOST_TARGETS);
	*at = ahead->target[next].at;
	ahead->state = ahead->target[next].state;
	ahead->unsure |= ahead->target[next].state.late;
	ahead->target[next] = ahead->target[--ahead->nr];
	ahead->eax = ~0U;
	return true;
}

/* The first address from @at on that was read before; else MOST_AWAY. */
static s32 kunwind_walk_attr first_seen(const struct ahead *ahead, s32 at)
{
	s32 first = MOST_AWAY;
	u32 i;

	for (i = 0; i < ahead->nr_seen; i++)
		if (ahead->seen[i].to > at)
			first = min(first, max(ahead->seen[i].from, at));
	return first;
}

/* Most paths end where code begins that was read before. */
static void kunwind_walk_attr note_seen(struct ahead *ahead, s32 from, s32 to)
{
	u32 i;

	if (from == to)
		return;
	for (i = 0; i < ahead->nr_seen; i++)
		if (ahead->seen[i].from == to || ahead->seen[i].to == from)
			break;
	if (i == MOST_SEEN)
		return;
	if (i == ahead->nr_seen) {
		ahead->nr_seen++;
		ahead->seen[kunwind_index(i, (u32)MOST_SEEN)] = (struct stretch){ from, to };
	} else if (ahead->seen[i].from == to) {
		ahead->seen[i].from = from;
	} else {
		ahead->seen[i].to = to;
	}
}

/*
 * Continue at *at, if @jumps and if the code there was not read yet, or else at
 * the lowest target that was not read yet. False: there is none. *stop: where
 * code begins that was read before.
 */
static bool kunwind_walk_attr go_on(struct ahead *ahead, struct kunwind_mem *mem, bool jumps,
				    s64 *at, s32 *stop)
{
	while (jumps || take_target(ahead, at)) {
		jumps = false;
		/* A lookup of a target takes about as long as an instruction. */
		kunwind_pay(mem, 1 + ahead->nr_seen / 4);
		if (*at >= MOST_AWAY || *at <= -MOST_AWAY)
			continue;
		*stop = first_seen(ahead, *at);
		if (*stop != *at)
			return true;
	}
	return false;
}

/*
 * The answer at lea -8(%r10), %rsp; ret, where gcc has realigned the stack: the place
 * of the word that r10 was read from, and the distance from there up to the saved rbp.
 */
static bool kunwind_walk_attr answer_realigned(const struct ahead_state *state, struct kunwind_code *code)
{
	const struct place from = state->r10;

	if (state->rsp.off != -8 || state->rbp_is != RBP_READ || state->rbp.base != from.base ||
	    state->rbp.off <= from.off || (from.off & 7))
		return false;
	if (from.base == BASE_RSP)
		code->depth = from.off;
	else
		code->frame = from.off;
	code->rbp_at = state->rbp.off - from.off;
	code->realigned = true;
	return true;
}

/* The answer at an instruction that returns. False: the state gives none. */
static bool kunwind_walk_attr answer(const struct ahead *ahead, s8 pushed, struct kunwind_code *code)
{
	const struct ahead_state *state = &ahead->state;
	s32 distance;

	*code = (struct kunwind_code){ .depth = -1, .frame = -1, .rbp_at = -1,
				       .resumes = state->flags, .unsure = ahead->unsure,
				       .calls = state->calls, .jumps = state->jumps,
				       .jumps_later = state->jumps_later,
				       .pushed = pushed };
	if (state->rsp.off & (ahead->word - 1))
		return false;
	if (state->rsp.base == BASE_R10)
		return ahead->word == 8 && answer_realigned(state, code);
	/*
	 * A function that calls has something on its stack, at least to align
	 * it (psABI 3.2.2). gcc omits the alignment before some calls of local
	 * functions. Such a call looks like one that never returns (Go's
	 * morestack()), and the code after a call that never returns says
	 * nothing about this frame. So neither gives an answer.
	 */
	if (state->rsp.base == BASE_RSP && state->rsp.off <= state->called_at)
		return false;
	if (state->rsp.base == BASE_RSP && state->rsp.off >= 0)
		code->depth = state->rsp.off;
	else if (state->rsp.base == BASE_RBP && state->rsp.off > 0)
		code->frame = state->rsp.off;
	else
		return false;
	distance = state->rsp.off - state->rbp.off;
	if (state->rbp_is == RBP_READ && state->rbp.base == state->rsp.base && distance > 0)
		code->rbp_at = distance;
	else if (state->rbp_is != RBP_SAME)
		code->rbp_at = KUNWIND_CODE_RBP_LOST;
	return true;
}

/*
 * Whether a return jumps to a word that the path pushed on an empty frame, or
 * stored by mov (retpolines).
 */
static bool kunwind_walk_attr jumps_by_return(const struct ahead *ahead)
{
	const struct ahead_state *state = &ahead->state;

	return state->rsp.base == BASE_RSP &&
	       (state->rsp.off == -ahead->word || same(state->rsp, state->moved));
}

/* Whether the return takes a word that the path pushed in place of another one. */
static bool kunwind_walk_attr is_written(const struct ahead *ahead)
{
	const struct ahead_state *state = &ahead->state;

	return state->rsp.base == BASE_RSP && state->rsp.off < state->highest &&
	       (state->replaced || state->rsp.off != state->highest - ahead->word);
}

static void kunwind_walk_attr note_rsp(struct ahead *ahead, bool called)
{
	struct ahead_state *state = &ahead->state;

	state->calls |= called;
	if (state->rsp.base != BASE_RSP)
		return;
	if (state->rsp.off > state->highest) {
		state->highest = state->rsp.off;
		state->from_top = same(at_distance(state->popped, ahead->word), state->rsp) ?
				  state->popped_to : KUNWIND_CODE_OTHER;
	}
	if (called)
		state->called_at = max(state->called_at, (s32)state->rsp.off);
}

/*
 * Whether a jump skips the call that ends at @after. If so, the call does not
 * return, and rsp is set to its value at the jump. Only the first MOST_SKIPS
 * calls are examined.
 */
static bool kunwind_walk_attr is_skipped(struct ahead *ahead, struct kunwind_mem *mem, u64 after)
{
	s32 higher;

	if (!ahead->skips)
		return false;
	ahead->skips--;
	higher = kunwind_code_skipped(mem, after);
	if (higher)
		ahead->state.rsp = at_distance(ahead->state.rsp, higher);
	return higher;
}

/*
 * Follow the code from @from on. @elsewhere: there is an answer only after
 * takes_rsp(), and distances count from the rsp taken there.
 */
static bool kunwind_walk_attr follow(struct kunwind_mem *mem, bool i386, u64 from, u32 how,
				     bool elsewhere, struct kunwind_code *code)
{
	struct ahead ahead kunwind_unset;
	struct kunwind_text text = { .mem = mem, .i386 = i386, .left = MOST_INSNS };
	bool there = !elsewhere, called = false, nops = false, first = how & KUNWIND_AHEAD_CALLED;
	bool moved = false;
	struct kunwind_insn_effect e;
	struct kunwind_insn insn;
	s32 begin = 0, stop = MOST_AWAY;
	enum next next;
	s64 at = 0;
	s8 pushed;

	ahead.state = (struct ahead_state){ .rsp.base = BASE_RSP, .called_at = -MOST_AWAY, .first = -1 };
	ahead.nr = ahead.nr_seen = 0;
	ahead.unsure = false;
	ahead.eax = ~0U;
	ahead.word = kunwind_word(i386);
	*code = (struct kunwind_code){ .depth = -1, .frame = -1, .rbp_at = -1 };
	ahead.skips = how & KUNWIND_AHEAD_SKIPS ? MOST_SKIPS : 0;
	if (how & KUNWIND_AHEAD_CALLED)
		is_skipped(&ahead, mem, from);
	for (;;) {
		next = NEXT_NONE;
		/* step() takes about as long as decoding. */
		if (at < stop && kunwind_pay(mem, 1) &&
		    kunwind_insn_next_effect(&text, from + at, &insn, &e)) {
			at += insn.length;
			if (called && is_nop(&insn)) {
				nops = true;
				continue;
			}
			if (nops) {
				at -= insn.length;
				if (!i386 && !is_aligned(&insn, from + at))
					note(&ahead, mem, at, at, true);
				goto ended;
			}
			if (!(called && marks_target(&insn)) &&
			    !((called || first) && !i386 && is_zeros(&insn)))
				next = step(&ahead, &insn, &e);
			first = false;
			called = e.flow == KUNWIND_FLOW_CALL && !only_jumped_to(&ahead, mem, at) &&
				 !is_skipped(&ahead, mem, from + at);
			note_rsp(&ahead, called);
			if (called && i386)
				ahead.state.rsp = (struct place){ };
			pushed = -1;
			if (next == NEXT_RETURN && ahead.state.back) {
				/* A jump through the popped address leaves rsp above its place. */
				moved = !same(ahead.state.rsp,
					      at_distance(ahead.state.popped,
							  e.flow == KUNWIND_FLOW_RETURN ? 0 : ahead.word));
				ahead.state.rsp = ahead.state.popped;
			} else if (next == NEXT_RETURN && jumps_by_return(&ahead)) {
				if (!same(ahead.state.rsp, ahead.state.moved))
					pushed = ahead.state.first;
				ahead.state.rsp = at_distance(ahead.state.rsp, ahead.word);
			} else if (next == NEXT_RETURN && is_written(&ahead)) {
				next = NEXT_NONE;
			}
			if ((next == NEXT_RETURN || next == NEXT_TAIL) && there &&
			    answer(&ahead, pushed, code)) {
				code->end = at;
				code->removes = insn.op == 0xc2 ? insn.imm : ahead.state.back && moved;
				return true;
			}
			if (elsewhere && takes_rsp(&insn)) {
				ahead.state = (struct ahead_state){ .rsp.base = BASE_RSP,
								    .called_at = -MOST_AWAY, .first = -1 };
				there = true;
			}
			if (e.flow == KUNWIND_FLOW_BRANCH)
				note(&ahead, mem, at, at + e.distance, false);
			if (next == NEXT_ON)
				continue;
		} else if (!text.left || !mem->left) {
			return false;
		}
ended:
		note_seen(&ahead, begin, at);
		if (next == NEXT_JUMP) {
			at += insn.imm;
			if (insn.op == OP_JMP_REL32) {
				ahead.state.jumps = true;
				ahead.state.jumps_later |= ahead.state.calls;
			}
		}
		if (!go_on(&ahead, mem, next == NEXT_JUMP, &at, &stop))
			return false;
		begin = at;
		text.read = text.used = 0;
		called = nops = false;
	}
}

bool kunwind_walk_attr kunwind_code_ahead(struct kunwind_mem *mem, bool i386, u64 from,
					  u32 how, struct kunwind_code *code)
{
	return follow(mem, i386, from, how, false, code);
}

bool kunwind_walk_attr kunwind_code_ahead_by_frame(struct kunwind_mem *mem, u64 from)
{
	struct kunwind_code code;

	/* A realigned stack's rsp comes from r10, so the caller's is not rbp + 16. */
	return follow(mem, false, from, 0, true, &code) && !code.realigned && code.rbp_at == 8;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code.c - how deep a function's stack is at one of its instructions
 *
 * For code without unwind information (bare.c): from the function's entry, to
 * which a call is known to lead, instructions are read up to the one in question,
 * and what each does to rsp is summed up: push, pop, add, sub, lea, leave. Where
 * jumps lead forwards is kept with the depth there, so that behind a return or
 * a jump the sum goes on with what was true where the code there is reached from.
 * A loop that pushes in each round (arguments that a run-time system copies) is
 * read once more, for the sum of a round: behind one whose sum is not zero no depth
 * is known. Where rbp was made the frame pointer is known even then.
 *
 * What is not understood (a realigned stack, an invalid byte, a jump table's target
 * met first) is answered by "not known"; what is answered is a fact of the code,
 * unless data lies in its midst.
 *
 * A jump with nothing on the stack is a tail call, or leads within the function.
 *
 * The other way, from an instruction on, code tells that rbp is its frame pointer
 * by giving its stack back with it: leave, or pop %rbp where rsp was made rbp.
 *
 * Or it tells how deep the stack is, by what it takes off before it returns: on the way that
 * goes on where a jump is not taken, or on another where that one ends otherwise.
 *
 * Where a stack begins is told by code, too: it marks the outermost frame as the
 * psABI asks (3.4.1: rbp is cleared), calls, and exits when that returns.
 *
 * Bounds: MOST_INSNS instructions, and MOST_LOOP_INSNS of loops. Any context;
 * memory is read by the seam's reader. Stack: 750 bytes.
 *
 * What it does not do: see, from inside a loop, that the loop pushes.
 */
#include "insn.h"
#include "walk.h"

#define MOST_INSNS	1024
#define MOST_LOOP_INSNS	512
#define MOST_INSNS_ON	512	/* read forwards, for what gives the frame back */
#define MOST_INSNS_OF_END 8
#define MOST_BYTES_OF_MARK 16
#define MOST_TARGETS	12
#define UNKNOWN		(-1)
#define NR_EXIT		60
#define NR_EXIT_GROUP	231
#define LOOP_DEPTH	0x4000	/* at the head of a loop that is read for itself */
#define MOST_DEPTH	(1 << 30) /* of a sum, either way: no stack has it */

/* What is known on the way through a function. */
struct way {
	s32 depth;		/* bytes pushed since the entry, or UNKNOWN */
	s32 frame;		/* the same where rbp was made the frame pointer */
	s32 rbp_at;		/* from the return address down to where rbp was saved */
	bool framed;		/* rbp still is what it was made there */
	struct kunwind_mem *mem;	/* pays for what is looked up below */
	s32 moved;		/* behind the last instruction that moved rsp, bytes from the entry */
	s32 back;		/* where the instruction jumps backwards to; or UNKNOWN */
	u32 nr;			/* targets */
	u32 next;		/* where there are some: none is from here to before this one */
	u16 at[MOST_TARGETS];	/* bytes from the entry */
	s16 depth_at[MOST_TARGETS];
	s16 rbp_at_at[MOST_TARGETS];
	bool framed_at[MOST_TARGETS];
};

/* A jump to @at comes with what is known now, if it leads forwards. */
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

/* What is known where jumps lead is known @here, if one does. */
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

/* What an instruction of one byte of opcode does to registers and to the way. */
#define TO_REG		0x01	/* writes the register that ModRM names as reg */
#define TO_RM		0x02	/* writes r/m, if it is a register */
#define FORMS		0x0c	/* but only where reg is in forms[] */
#define FORMS_80	0x04
#define FORMS_F7	0x08
#define FORMS_FF	0x0c
#define ACTION		0xf0
#define BRANCH		0x10
#define JUMP		0x20
#define STOP		0x30
#define LEAVE		0x40
#define PUSH		0x50
#define POP		0x60
#define LOSE		0x70	/* rsp is not known any more */
#define TO_LOW		0x80	/* writes the register that the opcode names */
#define GROUP_FF	0x90

#define ARITHMETIC(op)	[(op) ... (op) + 1] = TO_RM, [(op) + 2 ... (op) + 3] = TO_REG

static const u8 effects[256] = {
	ARITHMETIC(0x00), ARITHMETIC(0x08), ARITHMETIC(0x10), ARITHMETIC(0x18),
	ARITHMETIC(0x20), ARITHMETIC(0x28), ARITHMETIC(0x30),
	[0x50 ... 0x57] = PUSH, [0x58 ... 0x5f] = POP, [0x63] = TO_REG,
	[0x68] = PUSH, [0x69] = TO_REG, [0x6a] = PUSH, [0x6b] = TO_REG, [0x70 ... 0x7f] = BRANCH,
	[0x80 ... 0x81] = TO_RM | FORMS_80, [0x83] = TO_RM | FORMS_80, [0x87] = TO_RM | TO_REG,
	[0x89] = TO_RM, [0x8b] = TO_REG, [0x8d] = TO_REG, [0x8f] = POP,
	[0x94] = LOSE, [0x9c] = PUSH, [0x9d] = POP, [0xbd] = TO_LOW,
	[0xc1] = TO_RM, [0xc2 ... 0xc3] = STOP, [0xc7] = TO_RM, [0xc8] = LOSE, [0xc9] = LEAVE,
	[0xd1] = TO_RM, [0xd3] = TO_RM, [0xe0 ... 0xe3] = BRANCH, [0xe9] = JUMP, [0xeb] = JUMP,
	[0xf4] = STOP, [0xf7] = TO_RM | FORMS_F7, [0xff] = GROUP_FF | TO_RM | FORMS_FF,
};

/* Whether the instruction, of one byte of opcode, writes the register, as ModRM names it. */
static __always_inline bool writes_one(const struct kunwind_insn *insn, u8 number)
{
	static const u8 forms[] = { 0xff, 0x7f, 0x0c, 0x03 };
	const u8 form = insn->modrm >> 3 & 7, effect = effects[insn->op];

	if (effect & TO_REG && (form | insn->reg_high << 3) == number)
		return true;
	return effect & TO_RM && insn->modrm >> 6 == 3 &&
	       ((insn->modrm & 7) | insn->rm_high << 3) == number &&
	       forms[(effect & FORMS) >> 2] >> form & 1;
}

/* The same behind 0f: cmov, imul, movzx, movsx, popcnt, bsf, bsr. */
static __always_inline bool writes_two(const struct kunwind_insn *insn, u8 number)
{
	const u8 op = insn->op;

	return insn->map == 1 && !insn->vex &&
	       ((insn->modrm >> 3 & 7) | insn->reg_high << 3) == number &&
	       ((op >= 0x40 && op <= 0x4f) || op == 0xaf ||
		(op >= 0xb6 && op <= 0xbf && op != 0xba && op != 0xbb));
}

static bool kunwind_walk_attr writes(const struct kunwind_insn *insn, u8 number)
{
	return insn->map ? writes_two(insn, number) : writes_one(insn, number);
}

/* One instruction can say two billion bytes, a second one the same. */
static __always_inline s32 depth_of(s64 sum)
{
	return sum >= -MOST_DEPTH && sum <= MOST_DEPTH ? sum : UNKNOWN;
}

/* An instruction that writes rsp, as ModRM names it. */
static void kunwind_walk_attr move_rsp(struct way *way, const struct kunwind_insn *insn)
{
	const u8 op = insn->op, mod = insn->modrm >> 6, form = insn->modrm >> 3 & 7;
	const u8 rm = (insn->modrm & 7) | insn->rm_high << 3;

	if (mod == 3 && ((op == 0x89 && form == 5 && !insn->reg_high) ||
			 (op == 0x8b && rm == 5)))			/* mov %rbp, %rsp */
		way->depth = way->frame;
	else if (op == 0x8d && (mod == 1 || mod == 2) && rm == 5)	/* lea n(%rbp), %rsp */
		way->depth = way->frame == UNKNOWN ? UNKNOWN : depth_of((s64)way->frame - insn->disp);
	else if (way->depth == UNKNOWN)
		return;
	else if ((op == 0x83 || op == 0x81) && form == 5)
		way->depth = depth_of((s64)way->depth + insn->imm);
	else if ((op == 0x83 || op == 0x81) && form == 0)
		way->depth = depth_of((s64)way->depth - insn->imm);
	else if (op == 0x8d && (mod == 1 || mod == 2) && rm == 4)	/* lea n(%rsp), %rsp */
		way->depth = depth_of((s64)way->depth - insn->disp);
	else
		way->depth = UNKNOWN;
}

static bool kunwind_walk_attr writes_rbp(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	if (!insn->map && (op == 0xc9 || ((op == 0x5d || op == 0xbd) && !insn->rm_high)))
		return true;
	return insn->has_modrm && writes(insn, 5);
}

/*
 * rbp saved without a push, where the function needs it first (gcc's
 * -fshrink-wrap-separate): mov %rbp, n(%rsp); and taken back: mov n(%rsp), %rbp.
 */
static void kunwind_walk_attr save_rbp(struct way *way, const struct kunwind_insn *insn)
{
	const s64 at = (s64)way->depth - insn->disp;

	if (insn->map || insn->vex || !insn->wide || !insn->on_rsp || insn->reg_high ||
	    (insn->modrm >> 3 & 7) != 5 || way->depth == UNKNOWN || at < 8 || at > way->depth)
		return;
	if (insn->op == 0x89 && way->rbp_at == UNKNOWN)
		way->rbp_at = at;
	else if (insn->op == 0x8b && way->rbp_at == at)
		way->rbp_at = UNKNOWN;
}

/* An instruction whose ModRM names rsp or rbp, and that may write it, or save it. */
static noinline void kunwind_walk_attr move_named(struct way *way, const struct kunwind_insn *insn,
						  u32 end)
{
	const u8 op = insn->op;

	/* Few instructions do, and it takes as long as another's decoding. */
	kunwind_pay(way->mem, 1);
	if (op == 0x89 || op == 0x8b)
		save_rbp(way, insn);
	if (!insn->reg_high && !insn->rm_high &&
	    ((op == 0x89 && insn->modrm == 0xe5) || (op == 0x8b && insn->modrm == 0xec))) {
		way->frame = way->depth;				/* mov %rsp, %rbp */
		way->framed = way->depth != UNKNOWN;
	} else if (writes_one(insn, 5)) {
		way->framed = false;
	}
	if (writes_one(insn, 4)) {
		way->moved = end;
		move_rsp(way, insn);
	}
}

static void kunwind_walk_attr push(struct way *way, s32 pushed, u32 end)
{
	way->moved = end;
	if (way->depth != UNKNOWN)
		way->depth += pushed;
}

static noinline void kunwind_walk_attr act(struct way *way, const struct kunwind_insn *insn,
					   u32 end, u8 action)
{
	const u8 op = insn->op, form = insn->modrm >> 3 & 7;

	switch (action) {
	case BRANCH:
		jump_to(way, end, (s64)end + insn->imm);
		return;
	case JUMP:
		jump_to(way, end, (s64)end + insn->imm);
		fallthrough;
	case STOP:
		way->depth = UNKNOWN;
		return;
	case LEAVE:
		way->framed = false;
		way->depth = way->frame == UNKNOWN ? UNKNOWN : way->frame - 8;
		way->moved = end;
		return;
	case PUSH:
		push(way, 8, end);
		if (op == 0x55 && !insn->rm_high && way->rbp_at == UNKNOWN)
			way->rbp_at = way->depth;
		return;
	case POP:
		if (op == 0x5d && !insn->rm_high)
			way->framed = false;
		if (op != 0x5c || insn->rm_high) {
			push(way, -8, end);
			return;
		}
		fallthrough;						/* pop %rsp */
	case LOSE:						/* xchg %rsp, %rax; enter */
		if (op == 0x94 && insn->rm_high)			/* xchg %r12, %rax */
			return;
		way->depth = UNKNOWN;
		way->moved = end;
		return;
	case TO_LOW:
		if (!insn->rm_high)					/* mov imm, %ebp */
			way->framed = false;
		return;
	case GROUP_FF:
		if (form == 6)
			push(way, 8, end);
		else if (form == 4)					/* jmp *x */
			way->depth = UNKNOWN;
		return;
	}
}

/* Behind 0f. */
static noinline void kunwind_walk_attr move_more(struct way *way, const struct kunwind_insn *insn,
						 u32 end)
{
	if (insn->map != 1)
		return;
	if (insn->op == 0x0b)						/* ud2 */
		way->depth = UNKNOWN;
	else if (insn->op >> 4 == 8 && !insn->vex)
		jump_to(way, end, (s64)end + insn->imm);
	else if (writes_two(insn, 5))
		way->framed = false;
}

/* @end: offset of the instruction behind this one. Most change nothing. */
static __always_inline void move(struct way *way, const struct kunwind_insn *insn, u32 end)
{
	const u8 effect = effects[insn->op];

	way->back = UNKNOWN;
	if (insn->map) {
		move_more(way, insn, end);
		return;
	}
	if (effect & (TO_REG | TO_RM)) {
		const u8 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;
		const u8 rm = (insn->modrm & 7) | insn->rm_high << 3;

		if ((reg | 1) == 5 || ((rm | 1) == 5 && insn->modrm >> 6 == 3))
			move_named(way, insn, end);
	}
	if (effect & ACTION)
		act(way, insn, end, effect & ACTION);
}

/*
 * Bytes that a round of the loop pushes whose head is at @from and whose jump
 * back is at @to. 0, too, if that is not known: few loops do.
 */
static noinline s32 kunwind_walk_attr round_pushes(struct kunwind_mem *mem, u64 from, u64 to,
						   u32 *left)
{
	struct way way = { .mem = mem, .depth = LOOP_DEPTH, .frame = UNKNOWN, .rbp_at = UNKNOWN };
	struct kunwind_text text = { .mem = mem, .left = *left };
	struct kunwind_insn insn;
	u64 at = from;

	/* To begin takes as long as decoding an instruction. */
	kunwind_pay(mem, 1);
	while (at < to && kunwind_insn_next(&text, at, &insn)) {
		at += insn.length;
		move(&way, &insn, at - from);
		jumped_to(&way, at - from);
	}
	*left = text.left;
	return at == to && way.depth != UNKNOWN ? way.depth - LOOP_DEPTH : 0;
}

void kunwind_walk_attr kunwind_code_read(struct kunwind_mem *mem, u64 from, u64 to,
					 struct kunwind_code *code)
{
	struct way way = { .mem = mem, .frame = UNKNOWN, .rbp_at = UNKNOWN };
	struct kunwind_text text = { .mem = mem, .left = MOST_INSNS };
	u32 left_of_loops = MOST_LOOP_INSNS;
	struct kunwind_insn insn;
	u64 at = from;

	*code = (struct kunwind_code){ UNKNOWN, UNKNOWN, UNKNOWN };
	while (at < to && kunwind_insn_next(&text, at, &insn)) {
		at += insn.length;
		move(&way, &insn, at - from);
		if (way.back != UNKNOWN && way.moved > way.back &&
		    round_pushes(mem, from + way.back, at - insn.length, &left_of_loops)) {
			way.depth = UNKNOWN;
			way.nr = 0;
		}
		if (!jumped_to(&way, at - from) && way.depth < 0)
			way.depth = UNKNOWN;
	}
	if (at == to) {
		code->depth = way.depth;
		code->frame = way.framed ? way.frame : UNKNOWN;
		code->rbp_at = way.rbp_at;
	}
}

/* No instruction follows that is not jumped to. */
static bool kunwind_walk_attr goes_elsewhere(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	if (insn->map)
		return insn->map == 1 && op == 0x0b;			/* ud2 */
	return op == 0xe9 || op == 0xeb || op == 0xc2 || op == 0xc3 || op == 0xcc || op == 0xf4 ||
	       (op == 0xff && (insn->modrm >> 3 & 7) == 4);
}

/* The nearest place behind @here that was jumped to; 0: none. */
static u32 kunwind_walk_attr next_target(const struct way *way, u32 here)
{
	u32 i, nearest = 0;

	for (i = 0; i < way->nr; i++)
		if (way->at[i] > here && (!nearest || way->at[i] < nearest))
			nearest = way->at[i];
	return nearest;
}

bool kunwind_walk_attr kunwind_code_leaves(struct kunwind_mem *mem, u64 from)
{
	struct way way = { .mem = mem, .depth = UNKNOWN, .frame = 8, .rbp_at = UNKNOWN, .framed = true };
	struct kunwind_text text = { .mem = mem, .left = MOST_INSNS_ON };
	struct kunwind_insn insn;
	u64 at = from;

	while (kunwind_insn_next(&text, at, &insn)) {
		const bool framed = way.framed && way.frame == 8;
		const bool back = way.depth == 8;
		u32 target;

		at += insn.length;
		move(&way, &insn, at - from);
		if (!insn.map && framed &&
		    (insn.op == 0xc9 || (insn.op == 0x5d && !insn.rm_high && back)))
			return true;
		if (goes_elsewhere(&insn))
			way.framed = false;
		if (jumped_to(&way, at - from) || way.framed)
			continue;
		target = next_target(&way, at - from);
		text.read = text.used = 0;
		if (target) {
			at = from + target;
			jumped_to(&way, target);
			continue;
		}
		/* Only there does it go on. */
		if (!framed || insn.map || (insn.op != 0xe9 && insn.op != 0xeb))
			return false;
		at += (s64)insn.imm;
		from = at;
		way.nr = 0;
		way.framed = true;
	}
	return false;
}

/*
 * Where the caller's rbp is after the instruction, as depth there: popped, or read from
 * the stack; as @before where it is left alone.
 */
static s32 kunwind_walk_attr rbp_back(const struct kunwind_insn *insn, s32 depth, s32 before)
{
	s64 at = depth;

	if (insn->op == 0x8b && !insn->map && insn->wide && insn->on_rsp && !insn->reg_high &&
	    (insn->modrm >> 3 & 7) == 5)				/* mov n(%rsp), %rbp */
		at -= insn->disp;
	else if (insn->map || insn->op != 0x5d || insn->rm_high)	/* pop %rbp */
		return writes_rbp(insn) ? KUNWIND_CODE_RBP_LOST : before;
	return at >= 0 && at <= LOOP_DEPTH ? at : KUNWIND_CODE_RBP_LOST;
}

/* mov n(%reg), %rsp */
static bool kunwind_walk_attr takes_rsp(const struct kunwind_insn *insn)
{
	return !insn->map && !insn->vex && insn->op == 0x8b && insn->wide && !insn->reg_high &&
	       insn->modrm >> 6 != 3 && (insn->modrm >> 3 & 7) == 4;
}

/*
 * What is taken off the stack up to a return. @elsewhere: off another stack, whose rsp is taken
 * from memory on the way; else such a way is none.
 */
static bool kunwind_walk_attr taken_off(struct kunwind_mem *mem, u64 from, bool elsewhere,
					struct kunwind_code *code)
{
	struct way way = { .mem = mem, .depth = LOOP_DEPTH, .frame = UNKNOWN, .rbp_at = UNKNOWN };
	struct kunwind_text text = { .mem = mem, .left = MOST_INSNS_ON };
	struct kunwind_insn insn;
	bool there = !elsewhere;
	u64 at = from;

	while (kunwind_insn_next(&text, at, &insn)) {
		const s32 depth = way.depth, saved = way.rbp_at;
		u32 target;

		at += insn.length;
		if (!insn.map && (insn.op == 0xc2 || insn.op == 0xc3)) {
			code->depth = LOOP_DEPTH - depth;
			code->frame = UNKNOWN;
			code->rbp_at = saved < 0 ? saved : saved - depth;
			return there && code->depth > 0 && !(code->depth & 7);
		}
		if (!insn.map && (insn.op == 0xe9 || insn.op == 0xeb)) {
			at += (s64)insn.imm;
			from = at;
			way.nr = 0;
			text.read = text.used = 0;
			continue;
		}
		move(&way, &insn, at - from);
		way.rbp_at = rbp_back(&insn, depth, saved);
		if (elsewhere && takes_rsp(&insn)) {
			way = (struct way){ .mem = mem, .depth = LOOP_DEPTH, .frame = UNKNOWN,
					    .rbp_at = UNKNOWN };
			there = true;
		}
		if (!goes_elsewhere(&insn) && way.depth >= 0 && way.depth <= 2 * LOOP_DEPTH)
			continue;
		if (jumped_to(&way, at - from))
			continue;
		target = next_target(&way, at - from);
		if (!target)
			return false;
		at = from + target;
		text.read = text.used = 0;
		jumped_to(&way, target);
	}
	return false;
}

bool kunwind_walk_attr kunwind_code_returns(struct kunwind_mem *mem, u64 from,
					    struct kunwind_code *code)
{
	return taken_off(mem, from, false, code);
}

bool kunwind_walk_attr kunwind_code_returns_by_frame(struct kunwind_mem *mem, u64 from)
{
	struct kunwind_code code;

	return taken_off(mem, from, true, &code) && code.rbp_at == 8;
}

static bool kunwind_walk_attr jumps(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	if (insn->map)
		return insn->map == 1 && !insn->vex && op >= 0x80 && op <= 0x8f;
	return op == 0xe9 || op == 0xeb || (op >= 0x70 && op <= 0x7f);
}

u64 kunwind_walk_attr kunwind_code_tail(struct kunwind_mem *mem, u64 from, u64 lo, u64 hi,
					u32 *left)
{
	struct way way = { .mem = mem, .frame = UNKNOWN, .rbp_at = UNKNOWN };
	struct kunwind_text text = { .mem = mem, .left = *left };
	struct kunwind_insn insn;
	u64 at = from, to, found = 0;

	while (kunwind_insn_next(&text, at, &insn)) {
		at += insn.length;
		to = at + (s64)insn.imm;
		if (!way.depth && jumps(&insn) && to >= lo && to <= hi) {
			found = to;
			break;
		}
		move(&way, &insn, at - from);
		if (jumped_to(&way, at - from))
			continue;
		if (goes_elsewhere(&insn) && !next_target(&way, at - from))
			break;
		if (way.depth < 0)
			way.depth = UNKNOWN;
	}
	*left = text.left;
	return found;
}

/* Whether there is, at @at, xor %ebp, %ebp and then nothing but what ends with a call at @ra. */
static bool kunwind_walk_attr marks_end(struct kunwind_mem *mem, u64 at, u64 ra)
{
	struct kunwind_text text = { .mem = mem, .left = MOST_INSNS_OF_END };
	struct kunwind_insn insn;
	bool first = true;

	while (at < ra && kunwind_insn_next(&text, at, &insn)) {
		at += insn.length;
		if (first && (insn.map || (insn.op != 0x31 && insn.op != 0x33) ||
			      insn.modrm != 0xed || insn.reg_high || insn.rm_high))
			return false;
		if (at == ra)
			return !insn.map && (insn.op == 0xe8 ||
					     (insn.op == 0xff && (insn.modrm >> 3 & 7) == 2));
		if (!first && (goes_elsewhere(&insn) || writes_rbp(&insn)))
			return false;
		first = false;
	}
	return false;
}

/* What is in eax after the instruction; -1: not known. */
static s32 kunwind_walk_attr eax_after(const struct kunwind_insn *insn, s32 eax)
{
	if (insn->map || insn->vex || insn->rm_high)
		return UNKNOWN;
	switch (insn->op) {
	case 0xb8:
		return insn->imm;
	case 0xb0:
		return eax == UNKNOWN ? UNKNOWN : (eax & ~0xff) | (u8)insn->imm;
	case 0x31: case 0x33:
		return insn->modrm == 0xc0 && !insn->reg_high ? 0 : eax;
	case 0x89: case 0x8b:
		return writes(insn, 0) ? UNKNOWN : eax;
	}
	return UNKNOWN;
}

bool kunwind_walk_attr kunwind_code_outermost(struct kunwind_mem *mem, u64 ra)
{
	struct kunwind_text text = { .mem = mem, .left = MOST_INSNS_OF_END };
	struct kunwind_insn insn;
	s32 eax = UNKNOWN;
	u64 at = ra;
	u32 i;

	for (;;) {
		if (!kunwind_insn_next(&text, at, &insn))
			return false;
		at += insn.length;
		if (insn.map == 1 && insn.op == 0x05)			/* syscall */
			break;
		eax = eax_after(&insn, eax);
		if (!insn.map && insn.op != 0x31 && insn.op != 0x33 && insn.op != 0x89 &&
		    insn.op != 0x8b && (insn.op & 0xf0) != 0xb0)
			return false;
	}
	if (eax != NR_EXIT && eax != NR_EXIT_GROUP)
		return false;
	/* What is behind that does not run: it says so. */
	if (!kunwind_insn_next(&text, at, &insn) || !goes_elsewhere(&insn) ||
	    (!insn.map && insn.op != 0xf4 && insn.op != 0xcc))
		return false;
	for (i = 4; i <= MOST_BYTES_OF_MARK; i++)
		if (marks_end(mem, ra - i, ra))
			return true;
	return false;
}

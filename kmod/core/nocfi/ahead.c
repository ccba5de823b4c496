// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ahead.c - find the return address from the code that is still to run
 *
 * For code without unwind information (bare.c). From an instruction on, code is followed
 * up to an instruction that returns. What each instruction does to rsp and rbp is summed
 * up. The return address is then at a distance from what rsp was at the first
 * instruction; or from what rbp was, if rsp is set from rbp on the path (leave, mov,
 * lea). The place of the caller's rbp is found in the same way.
 *
 * docs/unwinding.md says why one path is enough: the one on which no conditional jump
 * is taken. If that ends without a return, another one is followed, from the nearest
 * place that a jump leads to.
 *
 * A jump to another function at the end (a tail call) is followed. One through a GOT slot
 * (jmp *n(%rip)) counts as a return: what it leads to returns from the same place. A
 * return that takes a word pushed or stored on the path is also such a jump. If that word
 * was first popped into a register, its old place holds the return address: between the
 * two, a function may take its arguments off the stack (V8).
 *
 * A call does not preserve the flags (psABI 3.2.3). A function that pops them just before it
 * returns was not called. It resumes what was interrupted, and its return address need not
 * follow a call (Go's asyncPreempt(), OpenJDK's safepoint handler).
 *
 * A function of 32-bit code may take its arguments off the stack when it returns. Therefore
 * rsp is not known after a call in 32-bit code.
 *
 * Not followed: an indirect jump by register or table; a call followed by endbr64, a trap, or
 * nops that align what follows, because it does not return; the end of a thread or a signal
 * handler (a system call). A call followed by other nops may return (Go marks places with them), or
 * not (gcc's code for exceptions). That path is followed last, and its answer is unsure. If a
 * call that never returns has other code directly after it, the answer is wrong. Therefore bare.c
 * also requires a call before the address.
 *
 * Bounds: MOST_INSNS instructions. Any context; memory is read by the seam's reader.
 * Stack: 750 bytes.
 */
#include "../walk/mem.h"
#include "../x86/i386.h"
#include "../x86/insn.h"
#include "ahead.h"
#include "code.h"

#define MOST_INSNS	1024
#define MOST_TARGETS	12
#define MOST_SEEN	16
#define MOST_OFFSET	(1 << 28)	/* of a sum, either way: no frame has it */
#define MOST_DISTANCE	(1 << 16)	/* of a jump that is one within the function */
#define MOST_AWAY	(1 << 30)	/* from the first instruction, either way */

#define RAX		0		/* as ModRM numbers them */
#define RBX		3
#define RSP		4
#define RBP		5

/* System calls that do not return. */
#define NR_RT_SIGRETURN	15
#define NR_EXIT		60
#define NR_EXIT_GROUP	231
#define NR_I386_EXIT		1
#define NR_I386_SIGRETURN	119
#define NR_I386_RT_SIGRETURN	173
#define NR_I386_EXIT_GROUP	252

enum base {
	BASE_NONE,		/* not known */
	BASE_RSP,		/* what rsp was at the first instruction */
	BASE_RBP,
};

/* An address: so many bytes above a base. */
struct place {
	s32 off : 30;
	u32 base : 2;		/* enum base */
};

enum rbp {
	RBP_SAME,		/* as it was at the first instruction */
	RBP_PLACE,		/* the address of a place: a frame pointer */
	RBP_READ,		/* what the stack has at a place */
	RBP_OTHER,
};

/* What is known at an instruction. */
struct state {
	struct place rsp, rbp;
	struct place pushed, pushed_rbp; /* where rbp was written last, and what it was then */
	struct place moved;	/* to where a mov wrote last */
	struct place popped;	/* what a register still holds that was popped */
	u8 popped_to;		/* which; it was on the stack at popped */
	bool back;		/* and the last instruction pushed it */
	bool flags;		/* popped, and not changed since */
	s32 called_at;		/* the highest rsp at a call, from BASE_RSP */
	s32 highest;		/* the highest rsp so far, from BASE_RSP: the path may have
				 * written below it */
	u8 rbp_is, pushed_is;	/* enum rbp */
};

/* Instructions are told by their distance from the first one. */
struct ahead {
	struct state state;
	struct target {
		s32 at;
		bool late;		/* behind a call and nops: only if nothing else is left */
		struct state state;
	} target[MOST_TARGETS];
	struct stretch {
		s32 from, to;
	} seen[MOST_SEEN];	/* code that was read */
	u32 nr, nr_seen;
	bool unsure;		/* the path goes through nops behind a call */
	u32 eax;		/* the constant that the last mov put there; or ~0 */
	s32 word;		/* bytes: 8, or 4 of 32-bit code */
};

/* What comes next. */
enum next {
	NEXT_ON,
	NEXT_JUMP,		/* by insn->imm from the next instruction */
	NEXT_RETURN,
	NEXT_TAIL,		/* a jump that counts as a return */
	NEXT_NONE,
};

static __always_inline bool same(struct place a, struct place b)
{
	return a.base == b.base && a.off == b.off;
}

static struct place kunwind_walk_attr at_distance(struct place place, s64 bytes)
{
	const s64 sum = place.off + bytes;

	if (!place.base || sum > MOST_OFFSET || sum < -MOST_OFFSET)
		return (struct place){ };
	return (struct place){ .off = sum, .base = place.base };
}

/* The address that rbp is. */
static struct place kunwind_walk_attr rbp_place(const struct state *state)
{
	if (state->rbp_is == RBP_SAME)
		return (struct place){ .base = BASE_RBP };
	return state->rbp_is == RBP_PLACE ? state->rbp : (struct place){ };
}

static void kunwind_walk_attr rbp_becomes(struct state *state, enum rbp is, struct place place)
{
	state->rbp_is = place.base ? is : RBP_OTHER;
	state->rbp = place;
}

/* rbp is read from the stack. */
static void kunwind_walk_attr read_rbp(struct state *state, struct place from)
{
	if (from.base && same(from, state->pushed)) {
		state->rbp_is = state->pushed_is;
		state->rbp = state->pushed_rbp;
	} else if (from.base == BASE_RSP && from.off < state->highest) {
		state->rbp_is = RBP_OTHER;	/* that place may be written on the path */
	} else {
		rbp_becomes(state, RBP_READ, from);
	}
}

static void kunwind_walk_attr pop(struct ahead *ahead, u32 reg)
{
	struct state *state = &ahead->state;
	const struct place from = state->rsp;

	if (reg == RSP) {
		state->rsp = (struct place){ };
		return;
	}
	if (reg == RBP)
		read_rbp(state, from);
	state->popped = from;
	state->popped_to = reg;
	state->rsp = at_distance(from, ahead->word);
}

/* The register, or whatever else, is written to the stack. */
static void kunwind_walk_attr store(struct state *state, struct place at, u32 reg)
{
	if (reg == RBP) {
		state->pushed = at;
		state->pushed_rbp = state->rbp;
		state->pushed_is = state->rbp_is;
	} else if (same(at, state->pushed)) {
		state->pushed = (struct place){ };
	}
}

static void kunwind_walk_attr push(struct ahead *ahead, u32 reg)
{
	struct state *state = &ahead->state;

	state->rsp = at_distance(state->rsp, -ahead->word);
	store(state, state->rsp, reg);
	state->back = state->popped.base && reg == state->popped_to;
}

/* mov and lea between rsp, rbp and the stack. False: it is none of those. */
static bool kunwind_walk_attr copy(struct state *state, const struct kunwind_insn *insn)
{
	const u32 mod = insn->modrm >> 6;
	const u32 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;
	const u32 rm = (insn->modrm & 7) | insn->rm_high << 3;
	const u32 to = insn->op == 0x89 ? rm : reg, from = insn->op == 0x89 ? reg : rm;
	struct place place;

	if (insn->wide && insn->op == 0x89 && insn->on_rsp) {
		state->moved = at_distance(state->rsp, insn->disp);
		if (reg != RBP || state->rbp_is == RBP_SAME)
			store(state, state->moved, reg);
		return true;
	}
	if (!insn->wide || (to != RSP && to != RBP))
		return false;
	if (insn->op == 0x8d) {
		if (mod == 3 || (!mod && rm == RBP))
			return false;
		if (insn->on_rsp)
			place = state->rsp;
		else if (rm == RBP)
			place = rbp_place(state);
		else
			return false;
		place = at_distance(place, insn->disp);
	} else if (mod == 3 && (from == RSP || from == RBP)) {
		place = from == RSP ? state->rsp : rbp_place(state);
	} else if (mod != 3 && insn->op == 0x8b && to == RBP && insn->on_rsp) {
		read_rbp(state, at_distance(state->rsp, insn->disp));
		return true;
	} else {
		return false;
	}
	if (to == RSP)
		state->rsp = place;
	else
		rbp_becomes(state, RBP_PLACE, place);
	return true;
}

static bool kunwind_walk_attr is_call(const struct kunwind_insn *insn)
{
	return !insn->map && ((insn->op == 0xe8 && insn->imm) ||
			      (insn->op == 0xff && (insn->modrm >> 3 & 7) == 2));
}

static void kunwind_walk_attr lose_reg(struct ahead *ahead, u32 reg)
{
	if (reg == RAX)
		ahead->eax = ~0U;
	else if (reg == RSP)
		ahead->state.rsp = (struct place){ };
	else if (reg == RBP)
		ahead->state.rbp_is = RBP_OTHER;
}

/* Whatever else writes the two, and rax. */
static void kunwind_walk_attr lose(struct ahead *ahead, const struct kunwind_insn *insn)
{
	if (kunwind_insn_writes(insn, RAX) || is_call(insn))
		lose_reg(ahead, RAX);
	if (kunwind_insn_writes(insn, RSP))
		lose_reg(ahead, RSP);
	if (kunwind_insn_writes(insn, RBP))
		lose_reg(ahead, RBP);
}

/* Whether the interrupt instruction is a system call of 32-bit code (int $0x80) that returns. */
static bool kunwind_walk_attr comes_back(const struct ahead *ahead, const struct kunwind_insn *insn)
{
	return ahead->word == 4 && (u8)insn->imm == 0x80 && ahead->eax != NR_I386_EXIT &&
	       ahead->eax != NR_I386_EXIT_GROUP && ahead->eax != NR_I386_SIGRETURN &&
	       ahead->eax != NR_I386_RT_SIGRETURN;
}

/* An instruction with one byte of opcode, or three: ff /n. */
static enum next kunwind_walk_attr step_one(struct ahead *ahead, const struct kunwind_insn *insn)
{
	const u32 form = insn->modrm >> 3 & 7, low = (insn->op & 7) | insn->rm_high << 3;
	const u32 rm = (insn->modrm & 7) | insn->rm_high << 3;
	const bool of_rsp = insn->modrm >> 6 == 3 && rm == RSP;
	struct state *state = &ahead->state;

	switch (insn->op) {
	case 0x40 ... 0x4f:					/* inc, dec of 32-bit code */
		lose_reg(ahead, low);
		return NEXT_ON;
	case 0x50 ... 0x57:
		push(ahead, low);
		return NEXT_ON;
	case 0x58 ... 0x5f:
		pop(ahead, low);
		return NEXT_ON;
	case 0x68: case 0x6a: case 0x9c:
		push(ahead, ~0U);
		return NEXT_ON;
	case 0x8f: case 0x9d:
		pop(ahead, insn->op == 0x8f && insn->modrm >> 6 == 3 ? rm : ~0U);
		state->flags = insn->op == 0x9d;
		return NEXT_ON;
	case 0x81: case 0x83:
		if (!of_rsp || !insn->wide || (form != 0 && form != 5))
			break;
		state->rsp = at_distance(state->rsp, form ? -(s64)insn->imm : insn->imm);
		return NEXT_ON;
	case 0x89: case 0x8b: case 0x8d:
		if (copy(state, insn))
			return NEXT_ON;
		break;
	case 0xb8 ... 0xbf:
		lose_reg(ahead, low);
		if (low == RAX)
			ahead->eax = insn->imm;
		return NEXT_ON;
	case 0x94:						/* xchg %rsp, %rax */
		if (!insn->rm_high)
			state->rsp = (struct place){ };
		return NEXT_ON;
	case 0x95:
		if (!insn->rm_high)
			state->rbp_is = RBP_OTHER;
		return NEXT_ON;
	case 0xc9:
		state->rsp = rbp_place(state);
		pop(ahead, RBP);
		return NEXT_ON;
	case 0xc2: case 0xc3:
		return NEXT_RETURN;
	case 0xe8:
		if (!insn->imm)					/* of what follows: it pushes rip */
			push(ahead, ~0U);
		break;
	case 0xe9: case 0xeb:
		return NEXT_JUMP;
	case 0xcd:
		if (!comes_back(ahead, insn))
			return NEXT_NONE;
		break;
	case 0xc8: case 0xca ... 0xcc: case 0xce ... 0xcf: case 0xf4:
		return NEXT_NONE;			/* enter, far returns, traps */
	case 0xc7:						/* mov imm, %rax */
		lose(ahead, insn);
		if (insn->modrm == 0xc0 && !insn->rm_high)
			ahead->eax = insn->imm;
		return NEXT_ON;
	case 0xff:
		if (form == 6)
			push(ahead, ~0U);
		if (form == 4 && insn->modrm == 0x25)
			return NEXT_TAIL;
		if (form == 3 || form == 4 || form == 5)
			return NEXT_NONE;
		break;
	}
	lose(ahead, insn);
	return NEXT_ON;
}

/* Arithmetic, mov, lea and push, but not to the register: all else may change it. */
static bool kunwind_walk_attr leaves_popped(const struct state *state,
					    const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	if (insn->map || kunwind_insn_writes(insn, state->popped_to))
		return false;
	return (op < 0x40 && (op & 7) < 4) || op >> 3 == 10 || op == 0x81 || op == 0x83 ||
	       op == 0x85 || op == 0x89 || op == 0x8b || op == 0x8d || op == 0xc2 || op == 0xc3;
}

/* pop, mov, lea, leave, jmp and return: the flags stay as they are. */
static bool kunwind_walk_attr leaves_flags(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	return !insn->map && (op >> 3 == 11 || op == 0x89 || op == 0x8b || op == 0x8d ||
			      op == 0xc9 || op == 0xe9 || op == 0xeb || op == 0xc2 || op == 0xc3);
}

static enum next kunwind_walk_attr step(struct ahead *ahead, const struct kunwind_insn *insn)
{
	struct state *state = &ahead->state;

	if (state->flags && !leaves_flags(insn))
		state->flags = false;

	if (state->back && (insn->map || (insn->op != 0xc2 && insn->op != 0xc3)))
		state->back = false;
	if (state->popped.base && !leaves_popped(state, insn))
		state->popped = (struct place){ };
	if (!insn->map)
		return step_one(ahead, insn);
	if (insn->map == 1 && !insn->vex) {
		if (insn->op == 0x0b || insn->op == 0xb9)		/* ud2, ud1 */
			return NEXT_NONE;
		if (insn->op == 0x05 && (ahead->eax == NR_RT_SIGRETURN || ahead->eax == NR_EXIT ||
					 ahead->eax == NR_EXIT_GROUP))
			return NEXT_NONE;
	}
	lose(ahead, insn);
	return NEXT_ON;
}

static bool kunwind_walk_attr is_branch(const struct kunwind_insn *insn)
{
	if (insn->map)
		return insn->map == 1 && !insn->vex && insn->op >> 4 == 8;
	return insn->op >> 4 == 7 || (insn->op >= 0xe0 && insn->op <= 0xe3);
}

static bool kunwind_walk_attr is_nop(const struct kunwind_insn *insn)
{
	if (insn->map)
		return insn->map == 1 && !insn->vex && insn->op == 0x1f;
	return insn->op == 0x90 && !insn->rm_high;
}

static bool kunwind_walk_attr marks_target(const struct kunwind_insn *insn)
{
	return insn->map == 1 && !insn->vex && insn->op == 0x1e;
}

/*
 * What stands @at, behind a call and nops, may belong to something else that the nops align. But
 * Go aligns calls, jumps and returns in this way, too, so that they do not cross 32 bytes, and
 * marks places with nops that align nothing.
 */
static bool kunwind_walk_attr is_aligned(const struct kunwind_insn *insn, u64 at)
{
	if (at & 7)
		return false;
	if (insn->map)
		return insn->map != 1 || insn->vex || insn->op >> 4 != 8;
	return insn->op >> 4 != 7 && insn->op != 0xe8 && insn->op != 0xe9 && insn->op != 0xeb &&
	       insn->op != 0xc3;
}

/* A conditional jump @here leads to @at; or what follows nops, if @late. */
static void kunwind_walk_attr note(struct ahead *ahead, struct kunwind_mem *mem, s32 here, s64 at,
				   bool late)
{
	u32 i;

	if (at < here || at - here > MOST_DISTANCE || ahead->nr >= MOST_TARGETS)
		return;
	kunwind_pay(mem, ahead->nr / 8);
	for (i = 0; i < ahead->nr; i++)
		if (ahead->target[i].at == at && ahead->target[i].late <= late)
			return;
	i = kunwind_index(ahead->nr, (u32)MOST_TARGETS);
	ahead->target[i] = (struct target){ .at = at, .late = late, .state = ahead->state };
	ahead->nr++;
}

/*
 * Behind a call at @at, where a jump leads, too, and rsp would be another: that call does not
 * return. False: it does.
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

/*
 * The lowest place that was jumped to, *@at, or else the lowest behind nops: to go on there. False:
 * none is left.
 */
static bool kunwind_walk_attr take_target(struct ahead *ahead, s64 *at)
{
	u32 i, lowest = 0;

	if (!ahead->nr)
		return false;
	for (i = 1; i < ahead->nr; i++)
		if (ahead->target[lowest].late > ahead->target[i].late ||
		    (ahead->target[lowest].late == ahead->target[i].late &&
		     ahead->target[i].at < ahead->target[lowest].at))
			lowest = i;
	lowest = kunwind_index(lowest, (u32)MOST_TARGETS);
	*at = ahead->target[lowest].at;
	ahead->state = ahead->target[lowest].state;
	ahead->unsure |= ahead->target[lowest].late;
	ahead->target[lowest] = ahead->target[--ahead->nr];
	ahead->eax = ~0U;
	return true;
}

/* From where on, at @at or behind, code was read before. */
static s32 kunwind_walk_attr first_seen(const struct ahead *ahead, s32 at)
{
	s32 first = MOST_AWAY;
	u32 i;

	for (i = 0; i < ahead->nr_seen; i++)
		if (ahead->seen[i].to > at)
			first = min(first, max(ahead->seen[i].from, at));
	return first;
}

static void kunwind_walk_attr note_seen(struct ahead *ahead, s32 from, s32 to)
{
	const u32 i = kunwind_index(ahead->nr_seen, (u32)MOST_SEEN);

	if (from == to || ahead->nr_seen >= MOST_SEEN)
		return;
	ahead->seen[i] = (struct stretch){ from, to };
	ahead->nr_seen++;
}

/*
 * To go on at *@at, if @jumps, or else at the lowest place that was jumped to and not read yet.
 * False: there is none. *@stop: from there on code was read before.
 */
static bool kunwind_walk_attr go_on(struct ahead *ahead, struct kunwind_mem *mem, bool jumps,
				    s64 *at, s32 *stop)
{
	while (jumps || take_target(ahead, at)) {
		jumps = false;
		/* A place that is looked up costs about what an instruction does. */
		kunwind_pay(mem, 1 + ahead->nr_seen / 4);
		if (*at >= MOST_AWAY || *at <= -MOST_AWAY)
			continue;
		*stop = first_seen(ahead, *at);
		if (*stop != *at)
			return true;
	}
	return false;
}

/* mov n(%reg), %rsp; or mov %reg, %rsp with a register that a call leaves as it is, except rbp */
static bool kunwind_walk_attr takes_rsp(const struct kunwind_insn *insn)
{
	const bool stores = insn->op == 0x89, memory = insn->modrm >> 6 != 3;
	const u8 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;
	const u8 rm = (insn->modrm & 7) | insn->rm_high << 3;
	const u8 to = stores ? rm : reg, from = stores ? reg : rm;

	if (insn->map || !insn->wide || (!stores && insn->op != 0x8b) || to != RSP)
		return false;
	return memory ? !stores : from == RBX || from >= 12;
}

/* At an instruction that returns. False: what it does there is not known. */
static bool kunwind_walk_attr answer(const struct ahead *ahead, struct kunwind_code *code)
{
	const struct state *state = &ahead->state;
	s32 distance;

	*code = (struct kunwind_code){ -1, -1, -1, state->flags, ahead->unsure };
	if (state->rsp.off & (ahead->word - 1))
		return false;
	/*
	 * A function that calls has something on its stack, if only to align it (psABI 3.2.2).
	 * gcc omits the alignment before some calls of local functions. They cannot be told
	 * apart from a call that never returns (Go's morestack()). The code after such a call
	 * says nothing about this frame, so there is no answer for either.
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
 * Whether a return jumps, from an empty frame, to a word that the path pushed, or stored by mov
 * (retpolines).
 */
static bool kunwind_walk_attr jumps_by_return(const struct ahead *ahead)
{
	const struct state *state = &ahead->state;

	return state->rsp.base == BASE_RSP &&
	       (state->rsp.off == -ahead->word || same(state->rsp, state->moved));
}

static void kunwind_walk_attr note_rsp(struct state *state, bool called)
{
	if (state->rsp.base != BASE_RSP)
		return;
	state->highest = max(state->highest, (s32)state->rsp.off);
	if (called)
		state->called_at = max(state->called_at, (s32)state->rsp.off);
}

/* @elsewhere: rsp is taken from memory on the way, and counts from there. */
static bool kunwind_walk_attr follow(struct kunwind_mem *mem, bool i386, u64 from,
				     bool elsewhere, struct kunwind_code *code)
{
	struct ahead ahead kunwind_unset;
	struct kunwind_text text = { .mem = mem, .i386 = i386, .left = MOST_INSNS };
	bool there = !elsewhere, called = false, nops = false;
	struct kunwind_insn insn;
	s32 begin = 0, stop = MOST_AWAY;
	enum next next;
	s64 at = 0;

	ahead.state = (struct state){ .rsp.base = BASE_RSP, .called_at = -MOST_AWAY };
	ahead.nr = ahead.nr_seen = 0;
	ahead.unsure = false;
	ahead.eax = ~0U;
	ahead.word = kunwind_word(i386);
	*code = (struct kunwind_code){ -1, -1, -1, false, false };
	for (;;) {
		next = NEXT_NONE;
		/* What an instruction does to the state costs about what its decoding does. */
		if (at < stop && kunwind_pay(mem, 1) && kunwind_insn_next(&text, from + at, &insn)) {
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
			if (!called || !marks_target(&insn))
				next = step(&ahead, &insn);
			called = is_call(&insn) && !only_jumped_to(&ahead, mem, at);
			note_rsp(&ahead.state, called);
			if (called && i386)
				ahead.state.rsp = (struct place){ };
			if (next == NEXT_RETURN && ahead.state.back)
				ahead.state.rsp = ahead.state.popped;
			else if (next == NEXT_RETURN && jumps_by_return(&ahead))
				ahead.state.rsp = at_distance(ahead.state.rsp, ahead.word);
			if ((next == NEXT_RETURN || next == NEXT_TAIL) && there &&
			    answer(&ahead, code))
				return true;
			if (elsewhere && takes_rsp(&insn)) {
				ahead.state = (struct state){ .rsp.base = BASE_RSP, .called_at = -MOST_AWAY };
				there = true;
			}
			if (is_branch(&insn))
				note(&ahead, mem, at, at + insn.imm, false);
			if (next == NEXT_ON)
				continue;
		} else if (!text.left || !mem->left) {
			return false;
		}
ended:
		note_seen(&ahead, begin, at);
		if (next == NEXT_JUMP)
			at += insn.imm;
		if (!go_on(&ahead, mem, next == NEXT_JUMP, &at, &stop))
			return false;
		begin = at;
		text.read = text.used = 0;
		called = nops = false;
	}
}

bool kunwind_walk_attr kunwind_code_ahead(struct kunwind_mem *mem, bool i386, u64 from,
					  struct kunwind_code *code)
{
	return follow(mem, i386, from, false, code);
}

bool kunwind_walk_attr kunwind_code_ahead_by_frame(struct kunwind_mem *mem, u64 from)
{
	struct kunwind_code code;

	return follow(mem, false, from, true, &code) && code.rbp_at == 8;
}

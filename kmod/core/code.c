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
 * x86-64 (Intel SDM volume 2, appendix A): lengths of all instructions that
 * compilers emit, VEX and EVEX included. What is not understood (a realigned
 * stack, an invalid byte, a jump table's target met first) is answered by "not
 * known"; what is answered is a fact of the code, unless data lies in its midst.
 *
 * The other way, from an instruction on, code tells that rbp is its frame pointer
 * by giving its stack back with it: leave, or pop %rbp where rsp was made rbp.
 *
 * Bounds: MOST_INSNS instructions, and MOST_LOOP_INSNS of loops. Any context;
 * memory is read by the seam's reader. Stack: 500 bytes.
 *
 * What it does not do: see, from inside a loop, that the loop pushes.
 */
#include "walk.h"

#define MOST_INSNS	1024
#define MOST_LOOP_INSNS	512
#define MOST_INSNS_ON	256	/* read forwards, for what gives the frame back */
#define MOST_TARGETS	12
#define WINDOW		4	/* words of code at a time */
#define BEHIND		4	/* words of zeros that the decoder may look at behind them */
#define LONGEST		15
#define UNKNOWN		(-1)
#define LOOP_DEPTH	0x4000	/* at the head of a loop that is read for itself */

struct insn {
	u32 length;
	u8 map;			/* 0: one byte; 1: 0f; 2: 0f 38; 3: 0f 3a; 4 and up: EVEX's own */
	u8 op;
	u8 modrm;		/* 0 when there is none */
	bool wide;		/* REX.W */
	bool reg_high, rm_high;	/* REX.R, REX.B */
	bool vex;
	s32 imm;		/* of 1, 2 or 4 bytes; distance of a branch */
	s32 disp;
};

/* One bit for each opcode of a map, as bytes of eight from 00 up. */
static const u8 one_byte_modrm[32] = {
	0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x00, 0x00, 0x00, 0x00, 0x08, 0x0a, 0x00,
	0x00, 0xfb, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc3, 0x00, 0x0f, 0xff, 0x00, 0x00,
	0xc0, 0xc0,
};
static const u8 one_byte_invalid[32] = {
	0xc0, 0x40, 0xc0, 0xc0, 0x80, 0x80, 0x80, 0x80, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00,
	0x00, 0x04, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x70, 0x00, 0x00, 0x04,
	0x00, 0x00,
};
static const u8 two_byte_none[32] = {
	0xe0, 0x4b, 0x00, 0x00, 0x00, 0x00, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80,
	0x00, 0xff, 0xff, 0x00, 0x00, 0x07, 0x07, 0x00, 0x00, 0x00, 0xff, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00,
};

static __always_inline bool bit_of(const u8 *map, u8 op)
{
	return map[op >> 3] >> (op & 7) & 1;
}

static s32 kunwind_walk_attr number(const u8 *p, u32 size)
{
	u32 val = 0, i;

	for (i = 0; i < size; i++)
		val |= (u32)p[i] << 8 * i;
	return size == 1 ? (s8)val : size == 2 ? (s16)val : (s32)val;
}

/* Bytes of immediate operand. */
static u32 kunwind_walk_attr immediate_size(const struct insn *insn, bool short_operand)
{
	u32 full = short_operand && !insn->wide ? 2 : 4;
	u8 op = insn->op, reg = insn->modrm >> 3 & 7;

	if (insn->map == 3)
		return 1;
	if (insn->map == 1) {
		if (op >= 0x80 && op <= 0x8f && !insn->vex)
			return 4;
		return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba ||
		       op == 0xc2 || (op >= 0xc4 && op <= 0xc6) || op == 0x0f;
	}
	if (insn->map)
		return 0;
	if (op < 0x40)
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? full : 0;
	if ((op >= 0x70 && op <= 0x7f) || (op >= 0xb0 && op <= 0xb7) || (op >= 0xe0 && op <= 0xe7))
		return 1;
	if (op >= 0xb8 && op <= 0xbf)
		return insn->wide ? 8 : full;
	switch (op) {
	case 0x6a: case 0x6b: case 0x80: case 0x83: case 0xa8: case 0xc0: case 0xc1: case 0xc6:
	case 0xcd: case 0xeb:
		return 1;
	case 0xc2: case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0x68: case 0x69: case 0x81: case 0xa9: case 0xc7:
		return full;
	case 0xe8: case 0xe9:
		return 4;
	case 0xa0: case 0xa1: case 0xa2: case 0xa3:
		return 8;
	case 0xf6:
		return reg < 2 ? 1 : 0;
	case 0xf7:
		return reg < 2 ? full : 0;
	}
	return 0;
}

/* Prefix bytes and opcode; returns where ModRM or the immediate begins, 0 if it is none. */
static u32 kunwind_walk_attr opcode(const u8 *p, struct insn *insn, bool *short_operand)
{
	u32 n = 0;

	for (; n < LONGEST - 4; n++) {
		if (p[n] == 0x66)
			*short_operand = true;
		else if (p[n] != 0x67 && p[n] != 0x2e && p[n] != 0x36 && p[n] != 0x3e && p[n] != 0x26 &&
			 p[n] != 0x64 && p[n] != 0x65 && p[n] != 0xf0 && p[n] != 0xf2 &&
			 p[n] != 0xf3)
			break;
	}
	if ((p[n] & 0xf0) == 0x40) {
		insn->wide = p[n] & 8;
		insn->reg_high = p[n] & 4;
		insn->rm_high = p[n] & 1;
		n++;
	}
	if (p[n] == 0xc5) {
		insn->vex = true;
		insn->map = 1;
		n += 2;
	} else if (p[n] == 0xc4) {
		insn->vex = true;
		insn->map = p[n + 1] & 0x1f;
		n += 3;
	} else if (p[n] == 0x62) {
		insn->vex = true;
		insn->map = p[n + 1] & 7;
		n += 4;
	} else if (p[n] == 0x0f) {
		insn->map = 1;
		if (p[++n] == 0x38 || p[n] == 0x3a)
			insn->map = p[n++] == 0x38 ? 2 : 3;
	}
	if (insn->vex && !insn->map)
		return 0;
	insn->op = p[n++];
	return n;
}

/* @p: of what is there, and 8 * BEHIND bytes more that may be looked at. */
static bool kunwind_walk_attr decode(const u8 *p, struct insn *insn)
{
	bool short_operand = false, modrm;
	u32 n, size;

	*insn = (struct insn){ };
	n = opcode(p, insn, &short_operand);
	if (!n)
		return false;
	if (!insn->map && bit_of(one_byte_invalid, insn->op))
		return false;
	if (insn->map == 0)
		modrm = bit_of(one_byte_modrm, insn->op);
	else if (insn->map == 1)
		modrm = insn->vex ? insn->op != 0x77 : !bit_of(two_byte_none, insn->op);
	else
		modrm = true;
	if (modrm) {
		u32 mod, rm;

		insn->modrm = p[n++];
		mod = insn->modrm >> 6;
		rm = insn->modrm & 7;
		size = mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0;
		if (mod != 3 && rm == 4) {
			if (mod == 0 && (p[n] & 7) == 5)
				size = 4;
			n++;
		}
		insn->disp = number(p + n, size);
		n += size;
	}
	size = immediate_size(insn, short_operand);
	insn->imm = number(p + n, min(size, 4U));
	insn->length = n + size;
	return insn->length <= LONGEST;
}

/* What is known on the way through a function. */
struct way {
	s32 depth;		/* bytes pushed since the entry, or UNKNOWN */
	s32 frame;		/* the same where rbp was made the frame pointer */
	s32 rbp_at;		/* and behind the push of rbp */
	bool framed;		/* rbp still is what it was made there */
	s32 moved;		/* behind the last instruction that moved rsp, bytes from the entry */
	s32 back;		/* where the instruction jumps backwards to; or UNKNOWN */
	u32 nr;			/* targets */
	u16 at[MOST_TARGETS];	/* bytes from the entry */
	s16 depth_at[MOST_TARGETS];
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
	for (i = 0; i < way->nr; i++)
		if (way->at[i] < here || way->at[i] == at)
			break;
	if (i == MOST_TARGETS)
		return;
	if (i == way->nr)
		way->nr++;
	way->at[i] = at;
	way->depth_at[i] = way->depth;
	way->framed_at[i] = way->framed;
}

static bool kunwind_walk_attr jumped_to(struct way *way, u32 here)
{
	u32 i;

	for (i = 0; i < way->nr; i++)
		if (way->at[i] == here) {
			if (way->depth_at[i] != UNKNOWN)
				way->depth = way->depth_at[i];
			way->framed = way->framed_at[i];
			return true;
		}
	return false;
}

/* Whether the instruction writes the register, as ModRM names it. */
static bool kunwind_walk_attr writes(const struct insn *insn, u8 number)
{
	const u8 op = insn->op, mod = insn->modrm >> 6, form = insn->modrm >> 3 & 7;
	const bool reg = (form | insn->reg_high << 3) == number;
	const bool rm = mod == 3 && ((insn->modrm & 7) | insn->rm_high << 3) == number;

	if (insn->vex || insn->map > 1)
		return false;
	if (insn->map)	/* cmov, imul, movzx, movsx, popcnt, bsf, bsr */
		return reg && ((op >= 0x40 && op <= 0x4f) || op == 0xaf ||
			       (op >= 0xb6 && op <= 0xbf && op != 0xba && op != 0xbb));
	if (op < 0x38)	/* arithmetic: into r/m by its first two forms, into reg by the next */
		return (op & 7) < 2 ? rm : (op & 7) < 4 && reg;
	switch (op) {
	case 0x80: case 0x81: case 0x83:
		return rm && form != 7;
	case 0x87:
		return rm || reg;
	case 0x89: case 0xc1: case 0xc7: case 0xd1: case 0xd3:
		return rm;
	case 0xf7:
		return rm && (form == 2 || form == 3);
	case 0xff:
		return rm && form < 2;
	case 0x63: case 0x69: case 0x6b: case 0x8b: case 0x8d:
		return reg;
	}
	return false;
}

/* An instruction that writes rsp, as ModRM names it. */
static void kunwind_walk_attr move_rsp(struct way *way, const struct insn *insn)
{
	const u8 op = insn->op, mod = insn->modrm >> 6, form = insn->modrm >> 3 & 7;
	const u8 rm = (insn->modrm & 7) | insn->rm_high << 3;

	if (mod == 3 && ((op == 0x89 && form == 5 && !insn->reg_high) ||
			 (op == 0x8b && rm == 5)))			/* mov %rbp, %rsp */
		way->depth = way->frame;
	else if (op == 0x8d && (mod == 1 || mod == 2) && rm == 5)	/* lea n(%rbp), %rsp */
		way->depth = way->frame == UNKNOWN ? UNKNOWN : way->frame - insn->disp;
	else if (way->depth == UNKNOWN)
		return;
	else if ((op == 0x83 || op == 0x81) && form == 5)
		way->depth += insn->imm;
	else if ((op == 0x83 || op == 0x81) && form == 0)
		way->depth -= insn->imm;
	else if (op == 0x8d && (mod == 1 || mod == 2) && rm == 4)	/* lea n(%rsp), %rsp */
		way->depth -= insn->disp;
	else
		way->depth = UNKNOWN;
}

/* Bytes that an instruction without ModRM, or with one of memory, pushes; or pops. */
static s32 kunwind_walk_attr pushes(const struct insn *insn)
{
	switch (insn->op) {
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0x9c:
		return 8;
	case 0x58 ... 0x5f:
	case 0x8f:
	case 0x9d:
		return -8;
	case 0xff:
		return (insn->modrm >> 3 & 7) == 6 ? 8 : 0;
	}
	return 0;
}

/* What becomes of rbp: made the frame pointer by mov %rsp, %rbp, given up by all else. */
static void kunwind_walk_attr move_rbp(struct way *way, const struct insn *insn)
{
	const u8 op = insn->op;

	if (!insn->map && (op == 0xc9 || ((op == 0x5d || op == 0xbd) && !insn->rm_high))) {
		way->framed = false;
	} else if (!insn->map && !insn->reg_high && !insn->rm_high &&
		   ((op == 0x89 && insn->modrm == 0xe5) || (op == 0x8b && insn->modrm == 0xec))) {
		way->frame = way->depth;
		way->framed = way->depth != UNKNOWN;
	} else if ((insn->map || bit_of(one_byte_modrm, op)) && writes(insn, 5)) {
		way->framed = false;
	}
}

/* @end: offset of the instruction behind this one. */
static void kunwind_walk_attr move(struct way *way, const struct insn *insn, u32 end)
{
	s32 pushed;

	way->back = UNKNOWN;
	move_rbp(way, insn);
	if (insn->map == 1 && insn->op >= 0x80 && insn->op <= 0x8f && !insn->vex)
		jump_to(way, end, (s64)end + insn->imm);
	if (insn->map == 1 && insn->op == 0x0b)				/* ud2 */
		way->depth = UNKNOWN;
	if (insn->map)
		return;
	switch (insn->op) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		jump_to(way, end, (s64)end + insn->imm);
		return;
	case 0xe9:
	case 0xeb:
		jump_to(way, end, (s64)end + insn->imm);
		way->depth = UNKNOWN;
		return;
	case 0xc2:
	case 0xc3:
	case 0xf4:
		way->depth = UNKNOWN;
		return;
	case 0xc9:							/* leave */
		way->depth = way->frame == UNKNOWN ? UNKNOWN : way->frame - 8;
		way->moved = end;
		return;
	case 0x5c:							/* pop %rsp, or %r12 */
	case 0x94:							/* xchg %rsp, %rax; or %r12 */
		if (insn->rm_high && insn->op == 0x94)
			return;
		if (insn->rm_high)
			break;
		fallthrough;
	case 0xc8:							/* enter */
		way->depth = UNKNOWN;
		way->moved = end;
		return;
	}
	pushed = pushes(insn);
	if (pushed) {
		way->moved = end;
		if (way->depth != UNKNOWN)
			way->depth += pushed;
		if (insn->op == 0x55 && !insn->rm_high && way->rbp_at == UNKNOWN)
			way->rbp_at = way->depth;
	} else if (bit_of(one_byte_modrm, insn->op) && writes(insn, 4)) {
		way->moved = end;
		move_rsp(way, insn);
	} else if (insn->op == 0xff && (insn->modrm >> 3 & 7) == 4) {	/* jmp *x */
		way->depth = UNKNOWN;
	}
}

/* Up to WINDOW words of code from @at on; returns the bytes read. */
static u32 kunwind_walk_attr read_code(struct kunwind_mem *mem, u64 at, u64 *words)
{
	u64 word;
	u32 n;

	if (!kunwind_mem_begin(mem, at))
		return 0;
	for (n = 0; n < WINDOW; n++) {
		kunwind_mem_read(mem, word, at + 8 * n, fault);
		words[n] = word;
	}
fault:
	kunwind_mem_end(mem);
	return 8 * n;
}

/* Code that is being read, and where the next instruction's bytes are. */
struct text {
	struct kunwind_mem *mem;
	u64 words[WINDOW + BEHIND];
	u32 read, used;
	u32 *left;		/* instructions that may still be read */
};

/* The instruction at @at, which follows the one before; false: it is not understood. */
static bool kunwind_walk_attr next_insn(struct text *text, u64 at, struct insn *insn)
{
	if (!*text->left)
		return false;
	--*text->left;
	if (text->read < text->used + LONGEST) {
		text->read = read_code(text->mem, at, text->words);
		text->used = 0;
	}
	if (!decode((const u8 *)text->words + text->used, insn) ||
	    insn->length > text->read - text->used)
		return false;
	text->used += insn->length;
	return true;
}

/*
 * Bytes that a round of the loop pushes whose head is at @from and whose jump
 * back is at @to. 0, too, if that is not known: few loops do.
 */
static noinline s32 kunwind_walk_attr round_pushes(struct kunwind_mem *mem, u64 from, u64 to,
						   u32 *left)
{
	struct way way = { .depth = LOOP_DEPTH, .frame = UNKNOWN, .rbp_at = UNKNOWN };
	struct text text = { .mem = mem, .left = left };
	struct insn insn;
	u64 at = from;

	while (at < to) {
		if (!next_insn(&text, at, &insn))
			return 0;
		at += insn.length;
		move(&way, &insn, at - from);
		jumped_to(&way, at - from);
	}
	return at == to && way.depth != UNKNOWN ? way.depth - LOOP_DEPTH : 0;
}

void kunwind_walk_attr kunwind_code_read(struct kunwind_mem *mem, u64 from, u64 to,
					 struct kunwind_code *code)
{
	struct way way = { .frame = UNKNOWN, .rbp_at = UNKNOWN };
	u32 left = MOST_INSNS, left_of_loops = MOST_LOOP_INSNS;
	struct text text = { .mem = mem, .left = &left };
	struct insn insn;
	u64 at = from;

	*code = (struct kunwind_code){ UNKNOWN, UNKNOWN, UNKNOWN };
	while (at < to) {
		if (!next_insn(&text, at, &insn))
			return;
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
	if (at != to)
		return;
	code->depth = way.depth;
	code->frame = way.framed ? way.frame : UNKNOWN;
	code->rbp_at = way.rbp_at;
}

/* No instruction follows that is not jumped to. */
static bool kunwind_walk_attr goes_elsewhere(const struct insn *insn)
{
	const u8 op = insn->op;

	if (insn->map)
		return insn->map == 1 && op == 0x0b;			/* ud2 */
	return op == 0xe9 || op == 0xeb || op == 0xc2 || op == 0xc3 || op == 0xcc || op == 0xf4 ||
	       (op == 0xff && (insn->modrm >> 3 & 7) == 4);
}

static bool kunwind_walk_attr jumps_wait(const struct way *way, u32 here)
{
	u32 i;

	for (i = 0; i < way->nr; i++)
		if (way->at[i] > here)
			return true;
	return false;
}

bool kunwind_walk_attr kunwind_code_leaves(struct kunwind_mem *mem, u64 from)
{
	struct way way = { .depth = UNKNOWN, .frame = 8, .rbp_at = UNKNOWN, .framed = true };
	u32 left = MOST_INSNS_ON;
	struct text text = { .mem = mem, .left = &left };
	struct insn insn;
	u64 at = from;

	while (next_insn(&text, at, &insn)) {
		const bool framed = way.framed && way.frame == 8;
		const bool back = way.depth == 8;

		at += insn.length;
		move(&way, &insn, at - from);
		if (!insn.map && framed &&
		    (insn.op == 0xc9 || (insn.op == 0x5d && !insn.rm_high && back)))
			return true;
		if (goes_elsewhere(&insn))
			way.framed = false;
		if (jumped_to(&way, at - from) || way.framed || jumps_wait(&way, at - from))
			continue;
		/* Only there does it go on. */
		if (!framed || insn.map || (insn.op != 0xe9 && insn.op != 0xeb))
			return false;
		at += (s64)insn.imm;
		from = at;
		text.read = text.used = 0;
		way.nr = 0;
		way.framed = true;
	}
	return false;
}

u64 kunwind_walk_attr kunwind_code_tail(struct kunwind_mem *mem, u64 from)
{
	struct way way = { .frame = UNKNOWN, .rbp_at = UNKNOWN };
	u64 words[WINDOW + BEHIND] = { };
	u32 read = read_code(mem, from, words), used;
	struct insn insn;

	for (used = 0; used < read; used += insn.length) {
		if (!decode((const u8 *)words + used, &insn) || insn.length > read - used)
			return 0;
		if (!insn.map && (insn.op == 0xe9 || insn.op == 0xeb))
			return from + used + insn.length + (s64)insn.imm;
		move(&way, &insn, used + insn.length);
		if (way.depth)
			return 0;
	}
	return 0;
}

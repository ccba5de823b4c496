// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * go_stack.c - rows of Go's functions that are written in assembler, from their code
 *
 * Go's assembler follows push, pop and the instructions that it makes itself, and
 * writes the distance from rsp to the return address into a list. In compiled
 * functions, this is all that moves rsp. In functions written in assembler, it may not
 * be: some switch stacks, some align rsp, some are machine code written as data.
 *
 * Therefore the instructions of these functions are read one after the other. While
 * they agree with the list, the rows are those of the list. From the first write of
 * rsp on about which they do not agree, there are no rows, with one exception. A
 * callee-saved register that got rsp before this write, and before any branch, gives the
 * CFA until an instruction writes the register:
 *
 *	mov %rsp, %r12; mov 56(%rdx), %rsp; and $~15, %rsp; call *%rax; mov %r12, %rsp
 *
 * After rsp was restored from that register, the list holds again, up to the next ret or
 * jmp. Task context. Stack: 250 bytes.
 */
#include "../nocfi/code_analysis.h"
#include "../x86/insn_decode.h"
#include "go_stack.h"

/* ModRM's numbers of registers, and DWARF's. */
#define RSP 4
static const u8 dwarf[16] = { KUNWIND_RAX, KUNWIND_RCX, KUNWIND_RDX, KUNWIND_RBX,
			      KUNWIND_RSP, KUNWIND_RBP, KUNWIND_RSI, KUNWIND_RDI,
			      8,	   9,		10,	     11,
			      12,	   13,		14,	     15 };
/*
 * rbp, r12 to r15. Not rbx: runtime.callCgoMmap keeps rsp there and calls libc, whose table does
 * not follow rbx. The code ahead finds the caller of that function.
 */
#define SAVED (1U << 5 | 0xf000)

struct kunwind_written_row kunwind_go_row_by_rsp(s64 distance, u8 rbp)
{
	/* rsp is above the return address: the function has taken it off (vfork) */
	if (distance < 0 || distance & 7)
		return (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_NONE };
	return (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_CFA,
					     .reg = KUNWIND_RSP,
					     .off = distance + 8,
					     .rbp = rbp,
					     .rbp_at = rbp == KUNWIND_RBP_SAVED ? 16 : 0 };
}

static bool by_register(const struct kunwind_insn *insn, u8 op)
{
	return !insn->map && insn->op == op && insn->wide && insn->modrm >> 6 == 3;
}

/* Whether it is mov %from, %to of whole registers; sets both numbers. */
static bool moves(const struct kunwind_insn *insn, u8 *from, u8 *to)
{
	const u8 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;
	const u8 rm = (insn->modrm & 7) | insn->rm_high << 3;

	if (by_register(insn, 0x89)) {
		*from = reg;
		*to = rm;
		return true;
	}
	if (by_register(insn, 0x8b)) {
		*from = rm;
		*to = reg;
		return true;
	}
	return false;
}

/*
 * How far a push, pop, add, sub or lea moves rsp down; 0: the instruction is none
 * of these.
 */
static s64 moved(const struct kunwind_insn *insn)
{
	const u8 form = insn->modrm >> 3 & 7;
	const bool of_rsp = insn->modrm >> 6 == 3 && (insn->modrm & 7) == RSP && !insn->rm_high;

	if (insn->map)
		return 0;
	switch (insn->op) {
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0x9c:
		return 8;
	case 0x58 ... 0x5f:
	case 0x8f:
	case 0x9d:
		return insn->op == 0x5c && !insn->rm_high ? 0 : -8; /* pop %rsp */
	case 0xff:
		return form == 6 ? 8 : 0;
	case 0x81:
	case 0x83:
		if (!of_rsp || !insn->wide)
			return 0;
		return form == 5 ? (s64)insn->imm : form == 0 ? -(s64)insn->imm : 0;
	case 0x8d:
		return insn->on_rsp && insn->wide && form == RSP && !insn->reg_high ?
			       -(s64)insn->disp :
			       0;
	}
	return 0;
}

/* and $-16, %rsp */
static bool aligns(const struct kunwind_insn *insn)
{
	return !insn->map && insn->op == 0x83 && insn->wide && insn->modrm == 0xe4 &&
	       !insn->rm_high && insn->imm == -16;
}

static bool branches(const struct kunwind_insn *insn)
{
	if (insn->map)
		return insn->map == 1 && !insn->vex && insn->op >> 4 == 8;
	return insn->op >> 4 == 7 || (insn->op >= 0xe0 && insn->op <= 0xe3);
}

/* Whether what follows is reached only by a jump from elsewhere. */
static bool ends(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	return !insn->map && (op == 0xc2 || op == 0xc3 || op == 0xe9 || op == 0xeb ||
			      (op == 0xff && (insn->modrm >> 4 & 3) == 2));
}

static bool writes(const struct kunwind_insn *insn, u8 reg)
{
	const u8 low = (insn->op & 7) | insn->rm_high << 3;

	if (!insn->map && low == reg &&
	    ((insn->op >= 0x58 && insn->op <= 0x5f) || /* pop */
	     (insn->op >= 0x90 && insn->op <= 0x97) || /* xchg */
	     (insn->op >= 0xb8 && insn->op <= 0xbf))) /* mov $n */
		return true;
	if (!insn->map && insn->op == 0xc9) /* leave */
		return reg == RSP || reg == 5;
	return kunwind_insn_writes(insn, reg);
}

/* Applies an instruction, at which the list says @distance, and @after after it. */
static void apply(struct kunwind_go_stack *s, const struct kunwind_insn *insn, s64 distance,
		  s64 after, bool to_end)
{
	const s64 down = moved(insn);
	u8 from, to;

	if (moves(insn, &from, &to)) {
		if (from == RSP && s->by_rsp && !s->branched && !s->reg && SAVED >> to & 1) {
			s->reg = to;
			s->reg_distance = distance;
			return;
		}
		if (to == RSP) {
			s->by_rsp = s->reg && from == s->reg && distance == s->reg_distance;
			s->ended |= to_end && !s->by_rsp;
			s->written = true;
			return;
		}
	}
	if (s->reg && writes(insn, s->reg))
		s->reg = 0;
	if (s->aligned && aligns(insn)) {
		s->extra += (8 + distance + s->extra) & 15;
		return;
	}
	if (writes(insn, RSP) && !down) {
		s->by_rsp = false;
		s->ended |= to_end;
		s->written = true;
	}
	/* Two threads come out of clone(2), at the same address, on different stacks. */
	if (to_end && insn->map == 1 && insn->op == 0x05) {
		s->by_rsp = false;
		s->written = true;
	}
	s->branched |= branches(insn) || ends(insn);
	if (ends(insn)) {
		/* What follows may be reached from where rsp had another value. */
		s->by_rsp &= !s->written;
	} else if (s->aligned && s->by_rsp) {
		s->extra += down - (after - distance);
		s->written |= down < after - distance;
	} else if (down != after - distance) {
		/*
		 * Go's assembler follows push, pop and its own instructions. It does not
		 * follow add, sub and lea that a programmer wrote, nor code that was
		 * written as data.
		 */
		s->by_rsp = false;
		s->written = true;
	}
}

struct kunwind_written_row kunwind_go_stack_row(const struct kunwind_go_stack *s, s64 distance)
{
	if (s->ended)
		return (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_END,
						     .reg = KUNWIND_RSP,
						     .off = 8 };
	if (s->by_rsp)
		return kunwind_go_row_by_rsp(distance + s->extra, distance + s->extra ?
									  KUNWIND_RBP_UNKNOWN :
									  KUNWIND_RBP_SAME);
	if (!s->reg || s->reg_distance < 0)
		return (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_NONE };
	return (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_CFA,
					     .reg = dwarf[s->reg],
					     .off = s->reg_distance + 8,
					     .rbp = KUNWIND_RBP_UNKNOWN };
}

bool kunwind_go_decode(const u8 *code, u32 len, struct kunwind_insn *insn)
{
	/* The decoder may read bytes after the end of @code. */
	u8 bytes[8 * (KUNWIND_TEXT_WORDS + KUNWIND_TEXT_BEHIND)] = {};

	if (!len || *code == 0xcc) /* padding */
		return false;
	memcpy(bytes, code, min(len, 8U * KUNWIND_TEXT_WORDS));
	return kunwind_insn_decode(bytes, insn) && insn->length <= len;
}

u32 kunwind_go_stack_step(struct kunwind_go_stack *s, const u8 *code, u32 len, s64 distance,
			  const s64 *next, u32 left, bool to_end)
{
	struct kunwind_insn insn;

	if (!kunwind_go_decode(code, len, &insn))
		return 0;
	apply(s, &insn, distance, insn.length < left ? distance : *next, to_end);
	return insn.length;
}

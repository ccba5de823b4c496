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
#include "../x86/insn_effect.h"
#include "go_stack.h"

/* ModRM's numbers of registers */
#define RSP 4
#define RBP 5
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

/* Applies an instruction, at which the list says @distance, and @after after it. */
static void apply(struct kunwind_go_stack *s, const struct kunwind_insn *insn, s64 distance,
		  s64 after, bool to_end)
{
	struct kunwind_insn_effect e;
	bool ends;
	s64 down;
	u8 from, to;

	kunwind_insn_stack_effect(insn, &e);
	ends = e.flow >= KUNWIND_FLOW_JUMP;
	down = e.rsp == KUNWIND_RSP_ADD ? -(s64)e.off : 0;
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
	if (s->reg && (kunwind_insn_writes(insn, s->reg) || (s->reg == RBP && e.rbp == KUNWIND_RBP_LEFT)))
		s->reg = 0;
	if (s->aligned && e.rsp == KUNWIND_RSP_ALIGNED && e.off == -16) {
		s->extra += (8 + distance + s->extra) & 15;
		return;
	}
	if (e.rsp) {
		s->by_rsp = false;
		s->ended |= to_end;
		s->written = true;
	}
	/* Two threads come out of clone(2), at the same address, on different stacks. */
	if (to_end && insn->map == 1 && insn->op == 0x05) {
		s->by_rsp = false;
		s->written = true;
	}
	s->branched |= ends || e.flow == KUNWIND_FLOW_BRANCH;
	if (ends) {
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
					     .reg = kunwind_insn_dwarf(s->reg),
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

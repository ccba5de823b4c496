// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * go_stack.c - rows of Go's functions that write rsp, from their code
 *
 * Go's list of distances follows push, pop, and add and sub of constants. Some
 * functions of its run-time system also switch stacks. Their instructions are read
 * one after the other, as they are laid out. The rows before such a write are those
 * of the list. If a callee-saved register got rsp before that, before any branch, it
 * still gives the CFA while no instruction writes it:
 *
 *	mov %rsp, %r12; mov 56(%rdx), %rsp; and $~15, %rsp; call *%rax; mov %r12, %rsp
 *
 * After rsp was restored from that register, the list holds again, up to the next
 * ret or jmp: code after it is reached from elsewhere. In all other cases there is no
 * row. Task context. Stack: 250 bytes.
 */
#include "../nocfi/code_analysis.h"
#include "../walk/mem.h"
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
					     .rbp = rbp };
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

/* Whether the list of distances follows this write of rsp. */
static bool followed(const struct kunwind_insn *insn)
{
	const u8 form = insn->modrm >> 3 & 7;

	return !insn->map &&
	       (((insn->op == 0x81 || insn->op == 0x83) && (form == 0 || form == 5)) ||
		(insn->op == 0x8d && insn->on_rsp));
}

static bool branches(const struct kunwind_insn *insn)
{
	if (insn->map)
		return insn->map == 1 && !insn->vex && insn->op >> 4 == 8;
	return insn->op >> 4 == 7 || (insn->op >= 0xe0 && insn->op <= 0xe3) || insn->op == 0xe9 ||
	       insn->op == 0xeb;
}

static bool writes(const struct kunwind_insn *insn, u8 reg)
{
	const u8 low = (insn->op & 7) | insn->rm_high << 3;

	if (!insn->map && insn->op >= 0x58 && insn->op <= 0x5f && low == reg) /* pop */
		return true;
	if (!insn->map && insn->op >= 0xb8 && insn->op <= 0xbf && low == reg) /* mov $n */
		return true;
	if (!insn->map && insn->op == 0xc9) /* leave */
		return reg == RSP || reg == 5;
	return kunwind_insn_writes(insn, reg);
}

/* Applies an instruction, at which the list says @distance. */
static void apply(struct kunwind_go_stack *s, const struct kunwind_insn *insn, s64 distance,
		  bool to_end)
{
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
	if (writes(insn, RSP) && !followed(insn)) {
		s->by_rsp = false;
		s->ended |= to_end;
		s->written = true;
	}
	s->branched |= branches(insn);
	/* What follows is reached by a jump, perhaps from where rsp had another value. */
	if (s->written && !insn->map && (insn->op == 0xc3 || insn->op == 0xe9 || insn->op == 0xeb))
		s->by_rsp = false;
}

struct kunwind_written_row kunwind_go_stack_row(const struct kunwind_go_stack *s, s64 distance)
{
	if (s->ended)
		return (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_END,
						     .reg = KUNWIND_RSP,
						     .off = 8 };
	if (s->reg && s->reg_distance >= 0)
		return (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_CFA,
						     .reg = dwarf[s->reg],
						     .off = s->reg_distance + 8,
						     .rbp = KUNWIND_RBP_UNKNOWN };
	if (!s->by_rsp)
		return (struct kunwind_written_row){ .how = KUNWIND_WRITTEN_NONE };
	return kunwind_go_row_by_rsp(distance, distance ? KUNWIND_RBP_UNKNOWN : KUNWIND_RBP_SAME);
}

static bool decode(const u8 *code, u32 len, struct kunwind_insn *insn)
{
	struct kunwind_mem mem = { .left = KUNWIND_BUDGET };
	struct kunwind_text text = { .mem = &mem,
				     .left = 1,
				     .read = sizeof(u64) * KUNWIND_TEXT_WORDS };

	if (!len || *code == 0xcc) /* padding */
		return false;
	memcpy(text.words, code, min(len, text.read));
	return kunwind_insn_next(&text, 0, insn) && insn->length <= len;
}

u32 kunwind_go_stack_step(struct kunwind_go_stack *s, const u8 *code, u32 len, s64 distance,
			  bool to_end)
{
	struct kunwind_insn insn;

	if (!decode(code, len, &insn))
		return 0;
	apply(s, &insn, distance, to_end);
	return insn.length;
}

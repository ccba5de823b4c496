/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * insn_kind.h - kinds of instructions, for the files that follow code without
 * unwind information
 */
#ifndef _KUNWIND_INSN_KIND_H
#define _KUNWIND_INSN_KIND_H

#include "../x86/insn_effect.h"

#define RAX		0		/* ModRM's register numbers */
#define RBX		3
#define RSP		4
#define RBP		5
#define R10		10

static inline bool kunwind_walk_attr is_nop(const struct kunwind_insn *insn)
{
	if (insn->map)
		return insn->map == 1 && !insn->vex && insn->op == 0x1f;
	return insn->op == 0x90 && !insn->rm_high;
}

/* endbr64, endbr32; others with this opcode are nops, or read the shadow stack */
static inline bool kunwind_walk_attr marks_target(const struct kunwind_insn *insn)
{
	return insn->map == 1 && !insn->vex && insn->op == 0x1e && insn->prefix == 0xf3 &&
	       (insn->modrm & 0xfe) == 0xfa;
}

/*
 * Whether an instruction after a call is padding between two sections: zeros
 * (lld), which decode as add %al, (%rax). If their number is odd, the first byte
 * of the next code is the ModRM byte. Each add with this opcode counts as zeros,
 * except an add of %al to memory at rbx, rsp or rbp: of the eight low registers,
 * only these have the same value after a call.
 */
static inline bool kunwind_walk_attr is_zeros(const struct kunwind_insn *insn)
{
	const u8 rm = insn->modrm & 7;

	return !insn->map && !insn->vex && !insn->op && !insn->reg_high && !insn->rm_high &&
	       (insn->modrm >> 3 & 7 || insn->modrm >> 6 == 3 || rm < RBX || rm > RBP);
}

/*
 * Whether the nops after a call align the instruction @at, which then may
 * belong to other code. Calls, jumps and returns do not count, because Go
 * aligns them so that they do not cross 32 bytes. Go also marks places with
 * nops that align nothing.
 */
static inline bool kunwind_walk_attr is_aligned(const struct kunwind_insn *insn, u64 at)
{
	if (at & 7)
		return false;
	if (insn->map)
		return insn->map != 1 || insn->vex || insn->op >> 4 != 8;
	return insn->op >> 4 != 7 && insn->op != 0xe8 && insn->op != 0xe9 && insn->op != 0xeb &&
	       insn->op != 0xc3;
}

/* pop, mov, lea, leave, jmp and return do not change the flags. */
static inline bool kunwind_walk_attr leaves_flags(const struct kunwind_insn *insn)
{
	const u8 op = insn->op;

	return !insn->map && (op >> 3 == 11 || op == 0x89 || op == 0x8b || op == 0x8d ||
			      op == 0xc9 || op == 0xe9 || op == 0xeb || op == 0xc2 || op == 0xc3);
}

/* What came directly before an instruction. */
struct before {
	bool call;		/* a call, maybe followed by nops */
	bool nops;
};

/*
 * Whether another function may begin with the instruction @at, because the call
 * before it may never return: nops after the call align the instruction, or it
 * is endbr64. To be called for each instruction in turn; keeps @before.
 */
static inline bool kunwind_walk_attr begins_other(struct before *before,
						  const struct kunwind_insn *insn,
						  const struct kunwind_insn_effect *e, u64 at)
{
	const bool begins = (before->nops && is_aligned(insn, at)) || (before->call && marks_target(insn));

	if (before->call && is_nop(insn)) {
		before->nops = true;
		return false;
	}
	*before = (struct before){ .call = e->flow == KUNWIND_FLOW_CALL };
	return begins;
}

#define NR_I386_EXIT		1
#define NR_I386_SIGRETURN	119
#define NR_I386_RT_SIGRETURN	173
#define NR_I386_EXIT_GROUP	252

/* Whether an int instruction is a 32-bit system call (int $0x80) that returns. */
static inline bool kunwind_walk_attr comes_back(const struct kunwind_insn *insn, u32 eax)
{
	return (u8)insn->imm == 0x80 && eax != NR_I386_EXIT && eax != NR_I386_EXIT_GROUP &&
	       eax != NR_I386_SIGRETURN && eax != NR_I386_RT_SIGRETURN;
}

/* mov n(%reg), %rsp; or mov %reg, %rsp from a callee-saved register other than rbp. */
static inline bool kunwind_walk_attr takes_rsp(const struct kunwind_insn *insn)
{
	const bool stores = insn->op == 0x89, memory = insn->modrm >> 6 != 3;
	const u8 reg = (insn->modrm >> 3 & 7) | insn->reg_high << 3;
	const u8 rm = (insn->modrm & 7) | insn->rm_high << 3;
	const u8 to = stores ? rm : reg, from = stores ? reg : rm;

	if (insn->map || !insn->wide || (!stores && insn->op != 0x8b) || to != RSP)
		return false;
	return memory ? !stores : from == RBX || from >= 12;
}

#endif /* _KUNWIND_INSN_KIND_H */

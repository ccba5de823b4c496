/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * insn_effect.h - what an instruction of x86-64 does to rsp, rbp and rip
 *
 * Source: Intel SDM, volume 2. What is not known to keep rsp or rbp counts as a write
 * of a value that is not known.
 */
#ifndef _KUNWIND_INSN_EFFECT_H
#define _KUNWIND_INSN_EFFECT_H

#include "insn_decode.h"

/* Which instruction comes next. */
enum kunwind_flow {
	KUNWIND_FLOW_NEXT, /* the next one in memory */
	KUNWIND_FLOW_CALL, /* the next one, if the called function returns */
	KUNWIND_FLOW_BRANCH, /* the next one, or the one at the distance */
	KUNWIND_FLOW_JUMP, /* the one at the distance */
	KUNWIND_FLOW_ANY, /* jmp through a register or a table */
	KUNWIND_FLOW_RETURN,
	KUNWIND_FLOW_STOP, /* none of this function: hlt, ud2, int3, iret, a PLT stub's jmp */
};

enum kunwind_rsp_effect {
	KUNWIND_RSP_ADD, /* rsp += off */
	KUNWIND_RSP_FROM_RBP, /* rsp = rbp + off */
	KUNWIND_RSP_SET, /* rsp = base + off; or, with base KUNWIND_NO_REG, another value */
	KUNWIND_RSP_ALIGNED, /* and $-n, %rsp: rsp &= off */
	KUNWIND_RSP_MOVED, /* rsp = another value that depends on rsp: sub %rax, %rsp */
};

enum kunwind_rbp_effect {
	KUNWIND_RBP_KEPT,
	KUNWIND_RBP_FROM_RSP, /* rbp = rsp + at */
	KUNWIND_RBP_STORED, /* the word at rsp + at = rbp; for push, rsp after it */
	KUNWIND_RBP_LOADED, /* rbp = the word at rsp + at; for pop, rsp before it */
	KUNWIND_RBP_LEFT, /* leave: rbp = the word at rbp, before rsp is set */
	KUNWIND_RBP_WRITTEN, /* rbp = a value that is not known */
};

/* Whether a general register is loaded from a word of the frame, the whole register. */
enum kunwind_loads {
	KUNWIND_LOADS_NONE,
	KUNWIND_LOADS_BY_RSP, /* from the word at rsp + at, with rsp before the instruction */
	KUNWIND_LOADS_BY_RBP, /* from the word at rbp + at */
};

#define KUNWIND_NO_REG 0xff /* no general register has this number */

struct kunwind_insn_effect {
	u8 flow; /* enum kunwind_flow */
	u8 rsp; /* enum kunwind_rsp_effect */
	u8 rbp; /* enum kunwind_rbp_effect */
	u8 base; /* RSP_SET: ModRM's number of a register, or KUNWIND_NO_REG */
	u8 loads; /* enum kunwind_loads */
	bool direct; /* FLOW_CALL: the distance is known */
	bool plain; /* flow, rsp and rbp are 0; most instructions are so */
	s8 words; /* that it pops; negative: it pushes; counted in off with 8 bytes each */
	s32 off; /* bytes */
	s32 at; /* bytes */
	s32 distance; /* FLOW_BRANCH, _JUMP, direct FLOW_CALL: from the next instruction */
	u16 named; /* bits of the callee-saved registers that it names, by ModRM's numbers */
	u16 read; /* those of them that are the base of an address, or the source of a mov */
};

/* Any context. Also for 32-bit code, except for off (see words). */
void kunwind_insn_effect(const struct kunwind_insn *insn, struct kunwind_insn_effect *effect);

/* The same without loads, named and read, which only the builder of rows needs. */
void kunwind_insn_stack_effect(const struct kunwind_insn *insn, struct kunwind_insn_effect *effect);

/* Another unit of the budget for the effect of one of four instructions. False: it is spent. */
bool kunwind_insn_pay_effect(const struct kunwind_text *text);

/*
 * kunwind_insn_next(), and the effect of the instruction, which is paid for. Inline: a function
 * more would be on the deepest stack of a walk.
 */
static inline bool kunwind_walk_attr kunwind_insn_next_effect(struct kunwind_text *text, u64 at,
							      struct kunwind_insn *insn,
							      struct kunwind_insn_effect *effect)
{
	if (!kunwind_insn_next(text, at, insn))
		return false;
	kunwind_insn_stack_effect(insn, effect);
	return kunwind_insn_pay_effect(text);
}

/*
 * Whether the instruction writes the general register @number by an operand that
 * ModRM or the opcode names. Not reported: implied registers (mul; rsp of a push).
 * A write of ah to bh counts as one of the registers 4 to 7, except rsp.
 */
bool kunwind_insn_writes(const struct kunwind_insn *insn, u8 number);

/*
 * Whether the instruction, which is no call, certainly keeps a general register other than rsp and
 * rbp. @number: ModRM's, below 16.
 */
bool kunwind_insn_keeps(const struct kunwind_insn *insn, u8 number);

/*
 * Whether the instruction copies rsp + *at to a general register other than rbp. Returns the
 * register's number, or KUNWIND_NO_REG.
 */
u8 kunwind_insn_copies_rsp(const struct kunwind_insn *insn, s32 *at);

/* Whether it stores the whole register @number in the word at rsp + *at; for push, rsp after it. */
bool kunwind_insn_stores(const struct kunwind_insn *insn, u8 number, s32 *at);

#endif /* _KUNWIND_INSN_EFFECT_H */

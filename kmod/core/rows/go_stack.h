/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * go_stack.h - rows of Go's functions that are written in assembler, from their code
 */
#ifndef _KUNWIND_GO_STACK_H
#define _KUNWIND_GO_STACK_H

#include "cfi_writer.h"
#include "../x86/insn_decode.h"

/* What is known about the stack at one instruction of a function that writes rsp. */
struct kunwind_go_stack {
	bool by_rsp; /* rsp is as the list of distances says, with extra */
	bool aligned; /* C called the function: rsp + 8 was a multiple of 16 (psABI, 3.2.2) */
	s64 extra; /* if aligned: what the instructions have moved rsp down, but not the list */
	bool ended; /* SWITCHES_TO_END: rsp was written */
	bool branched; /* a branch was seen: what follows may be reached by another way */
	bool written; /* rsp was written */
	u8 reg; /* holds the rsp of an earlier instruction; 0: none does */
	s64 reg_distance; /* the distance there */
};

/**
 * kunwind_go_stack_step() - apply one instruction
 * @code: its bytes, and what follows: @len bytes
 * @distance: what the list of distances says about its address
 * @next, @left: what the list says from @left bytes after that address on
 * @to_end: after an unknown write of rsp, this is the outermost frame
 * Task context. Return: its length, or 0 if it is not known, or padding.
 */
u32 kunwind_go_stack_step(struct kunwind_go_stack *stack, const u8 *code, u32 len, s64 distance,
			  const s64 *next, u32 left, bool to_end);

/* The row for the address of the next instruction, about which the list says @distance. */
struct kunwind_written_row kunwind_go_stack_row(const struct kunwind_go_stack *stack, s64 distance);

/* Decodes the instruction at @code. False: it is not known, or padding, or has more than @len bytes. */
bool kunwind_go_decode(const u8 *code, u32 len, struct kunwind_insn *insn);

/* The row for a distance from rsp up to the return address that Go's assembler has followed. */
struct kunwind_written_row kunwind_go_row_by_rsp(s64 distance, u8 rbp);

#endif /* _KUNWIND_GO_STACK_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * go_switch.h - rows of Go's assembler while it runs on another stack, from the code
 * that returns to the old one
 */
#ifndef _KUNWIND_GO_SWITCH_H
#define _KUNWIND_GO_SWITCH_H

#include "cfi_writer.h"

#define KUNWIND_GO_VALUE_MOST 48 /* bytes of an expression */
#define KUNWIND_GO_STORES     6
#define KUNWIND_GO_STEPS      4

/* A value: the DWARF expression @expr plus @add. */
struct kunwind_go_value {
	u8 len; /* of expr; 0: the value is not known */
	u8 loads; /* how many words of memory it is read from, one after the other */
	s64 add;
	s32 step[KUNWIND_GO_STEPS]; /* the offset of each of these */
	u8 expr[KUNWIND_GO_VALUE_MOST];
};

/* Registers by ModRM's numbers, while the code is followed. */
struct kunwind_go_switch {
	struct kunwind_go_value r[16];
	struct kunwind_go_value store[KUNWIND_GO_STORES]; /* addresses of written words */
	u32 stores;
	bool switched; /* rsp was set by a mov */
	struct kunwind_go_value value; /* for temporary use */
	struct kunwind_written_exprs exprs; /* of the row */
};

/* What only the code says about Go's structures g, m and gobuf. Zero: not known. */
struct kunwind_go_offsets {
	s32 tls; /* from the base of fs to g; in the global offset table: see follow() */
	s32 m; /* in g */
	s32 curg; /* in m */
	s32 sp; /* in g: sched.sp */
	bool known;
};

/**
 * kunwind_go_switch_row() - the row of an instruction, from the code up to the return
 * @code: its bytes, and what follows: @len bytes
 * @ahead: the value of rip in the row's expressions, from the instruction on
 * @row: out; uses s->exprs
 *
 * False: the code between here and the return does not switch stacks, has a
 * branch, or has an instruction that is not followed.
 * Task context; reads at most 24 instructions.
 */
bool kunwind_go_switch_row(struct kunwind_go_switch *s, const u8 *code, u32 len, u32 ahead,
			   struct kunwind_written_row *row);

/*
 * The offsets that the code of the row that kunwind_go_switch_row() has just made
 * uses (runtime.systemstack): the goroutine's stack is that of g->m->curg->sched.sp.
 */
void kunwind_go_switch_offsets(const struct kunwind_go_switch *s,
			       struct kunwind_go_offsets *offsets);

/**
 * kunwind_go_morestack_row() - the row of the call in runtime.morestack that never returns
 * @code: the function's bytes, @len of them; @at: place of the call in it
 * @ahead: the value of rip, from @at on
 *
 * The call runs on the thread's own stack. The goroutine continues by its
 * saved sp, pc and bp. If the thread has left the goroutine, the stack is complete.
 * False: the code is not as expected.
 */
bool kunwind_go_morestack_row(struct kunwind_go_switch *s, const u8 *code, u32 len, u32 at,
			      u32 ahead, const struct kunwind_go_offsets *offsets,
			      struct kunwind_written_row *row);

#endif /* _KUNWIND_GO_SWITCH_H */

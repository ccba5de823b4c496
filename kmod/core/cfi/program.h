/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * program.h - run a CFI program and stop at each row
 *
 * A program is the initial instructions of a CIE followed by those of an FDE.
 * The first part is run once per CIE into an initial row; an FDE starts from a
 * copy of it. kunwind_program_next() runs instructions up to the next one that
 * moves the location: the row then holds for [from, to). Source: DWARF 5,
 * 6.4.2 and 6.4.3; GNU opcodes as in GCC's unwinder.
 *
 * The return address is the value of the CIE's return column. Its rule is that of
 * KUNWIND_RA in each row, whichever column it is.
 *
 * Memory: 160 bytes for the row, 164 for each one that is remembered at the same
 * time, 2.7 KB in the usual case. Expressions are checked and put in the builder's pool when they are met,
 * so that a row is of fixed size.
 *
 * Does not take: opcodes of other architectures and vendors, more remembered states than
 * KUNWIND_MAX_REMEMBERED or than a quarter of the build's memory holds.
 */
#ifndef _KUNWIND_PROGRAM_H
#define _KUNWIND_PROGRAM_H

#include "cfi.h"
#include "expr.h"
#include "pool.h"

#define KUNWIND_MAX_REMEMBERED	1024		/* depth of DW_CFA_remember_state */
#define KUNWIND_FDE_MAX_CODE	(1U << 20)	/* bytes of one FDE's instructions */

/*
 * For a CFA or a return address, beside enum kunwind_how: an expression of
 * operations that we do not have, a register that we do not follow, a distance
 * beyond 32 bits. Rows with it have no rule. Another register's value is then
 * undefined.
 */
#define KUNWIND_HOW_UNKNOWN	0xff

/* What became of a register. */
struct kunwind_saved {
	s32 off;		/* bytes; or offset of an expression in the pool */
	u8 how;			/* enum kunwind_how, or HOW_UNKNOWN */
	u8 source;		/* KUNWIND_HOW_REG */
};

/*
 * A CFA by expression leaves the offset of the one before alone: hand-written
 * code goes back with DW_CFA_def_cfa_register only, against DWARF 5 6.4.2.2,
 * and all unwinders let it.
 */
struct kunwind_row {
	s32 cfa_off;			/* of the last CFA that was register + offset */
	u8 cfa_how;			/* HOW_REG, HOW_EXPR, HOW_UNKNOWN; HOW_UNDEFINED: none yet */
	u8 cfa_reg;			/* HOW_REG */
	u8 shape;			/* HOW_EXPR: enum kunwind_expr_shape, with */
	u8 shape_reg;			/* its register and */
	s32 shape_off;			/* offset or threshold */
	u32 cfa_expr;			/* HOW_EXPR: offset in the pool */
	u32 changed;			/* registers for which saved[] holds a rule */
	u32 same;			/* registers with an explicit DW_CFA_same_value */
	struct kunwind_saved saved[KUNWIND_NR_REGS];
};

/*
 * What DW_CFA_remember_state keeps. A register's rule is copied when it is first
 * changed afterwards, so that neither this instruction nor DW_CFA_restore_state
 * costs more than the changes between them.
 */
struct kunwind_remembered {
	struct kunwind_row row;	/* saved[]: only of the registers in copied */
	u32 copied;
};

struct kunwind_program {
	const struct kunwind_section *section;
	const struct kunwind_cie *cie;
	const struct kunwind_row *initial;	/* NULL: runs a CIE's part */
	struct kunwind_pool *exprs;
	struct kunwind_budget *budget;		/* of remembered[] */
	u32 follow;		/* registers whose rules are kept; others are only checked */
	u32 needed;		/* registers that CFAs and followed rules read; only grows */
	u32 reads[KUNWIND_NR_REGS]; /* registers that its rules read while it is not followed; the same */
	const u8 *code, *code_end;
	u64 from, to, end;	/* the row's addresses; end of the FDE's */
	u32 nr_remembered, max_remembered, most_remembered; /* there are, fit, may ever be */
	u8 ra;			/* register of the CIE's return column; KUNWIND_RA: none of 0 to 15 */
	bool odd_ra;		/* the return column is not the usual one */
	bool odd;		/* that, or 32-bit code: column numbers are translated */
	bool changed;		/* the row may say something else than the one before it */
	bool touched;		/* the same of the row that is being made */
	struct kunwind_row row;
	struct kunwind_remembered *remembered;
};

/* Frees what a program took while it ran. */
void kunwind_program_exit(struct kunwind_program *program);

/* Runs the initial instructions of @cie; the result is in program->row. */
enum kunwind_refusal __must_check
kunwind_program_initial(struct kunwind_program *program, const struct kunwind_cie *cie);

/* Prepares @fde of @cie; @initial must stay until it has run. */
void kunwind_program_begin(struct kunwind_program *program, const struct kunwind_cie *cie,
			   const struct kunwind_row *initial, const struct kunwind_fde *fde);

/**
 * kunwind_program_next() - the next row
 * At most KUNWIND_FDE_MAX_CODE bytes of instructions are run by a call, each in
 * constant time (DW_CFA_remember_state: amortised).
 * Return: KUNWIND_OK with program->row, ->from, ->to (from < to) and ->changed,
 * or with from == to after the last; or the refusal. If that is local
 * (kunwind_refusal_local()), nothing is known from ->from on, and the rows before hold.
 */
enum kunwind_refusal __must_check kunwind_program_next(struct kunwind_program *program);

/**
 * kunwind_program_look() - which registers the CFAs of @fde need, without running it
 * Adds to program->needed and ->reads what running it would add; program->section
 * is set.
 * Return: false when it has other instructions than the common ones, or some that may not
 * be read: it is to be run.
 */
bool __must_check kunwind_program_look(struct kunwind_program *program,
				       const struct kunwind_fde *fde);

#endif /* _KUNWIND_PROGRAM_H */

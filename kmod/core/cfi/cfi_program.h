/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cfi_program.h - run a CFI program and stop at each row
 *
 * A program is the initial instructions of a CIE followed by those of an FDE.
 * The first part runs once for each CIE and makes an initial row. Each FDE
 * starts from a copy of this row. kunwind_cfi_program_next() runs instructions
 * up to the next one that moves the location: the row then holds for [from,
 * to). Source: DWARF 5, 6.4.2 and 6.4.3; GNU opcodes as in GCC's unwinder.
 *
 * The return address is the value of the CIE's return column. In each row, the
 * rule of KUNWIND_RA is the rule of this column, whichever it is.
 *
 * Expressions are checked and stored in the builder's pool of expressions
 * (intern.h) as they are read, so a row has a fixed size. Memory: 160 bytes for
 * the row, and 164 for each remembered state that there is room for; 2.7 KB in
 * the usual case. Allocation may sleep.
 *
 * Not supported: opcodes of other architectures and vendors, except GNU's and
 * DW_CFA_MIPS_advance_loc8; more remembered states than KUNWIND_MAX_REMEMBERED
 * or than fit in a quarter of the build's memory.
 */
#ifndef _KUNWIND_CFI_PROGRAM_H
#define _KUNWIND_CFI_PROGRAM_H

#include "cfi.h"
#include "expr.h"
#include "intern.h"

#define KUNWIND_MAX_REMEMBERED	1024		/* nesting of DW_CFA_remember_state */
#define KUNWIND_FDE_MAX_CODE	(1U << 20)	/* bytes of one FDE's instructions */

/*
 * In addition to enum kunwind_how, for a CFA or a return address that cannot be
 * computed: by an expression that is not acceptable (expr.h), by a register
 * above the return address, or, for a return address, by a distance beyond 32
 * bits. Rows with it have no rule. Any other register with such a rule is
 * undefined.
 */
#define KUNWIND_HOW_UNKNOWN	0xff

/* The rule of a register. */
struct kunwind_saved {
	s32 off;		/* bytes; or offset of an expression in the pool */
	u8 how;			/* enum kunwind_how, or HOW_UNKNOWN */
	u8 source;		/* KUNWIND_HOW_REG */
};

/*
 * A CFA by expression leaves cfa_off unchanged. Hand-written code goes back to
 * a CFA by register with DW_CFA_def_cfa_register alone, against DWARF 5
 * 6.4.2.2, and all unwinders accept this.
 */
struct kunwind_row {
	s32 cfa_off;			/* of the last CFA by register + offset */
	u8 cfa_how;			/* HOW_REG, _EXPR, _UNKNOWN; HOW_UNDEFINED: none yet */
	u8 cfa_reg;			/* HOW_REG */
	u8 shape;			/* HOW_EXPR: enum kunwind_expr_shape */
	u8 shape_reg;			/* HOW_EXPR: register of the shape */
	s32 shape_off;			/* HOW_EXPR: offset or threshold of the shape */
	u32 cfa_expr;			/* HOW_EXPR: offset in the pool */
	u32 changed;			/* registers for which saved[] holds a rule */
	u32 same;			/* registers with an explicit DW_CFA_same_value */
	struct kunwind_saved saved[KUNWIND_NR_REGS];
};

/*
 * A state that DW_CFA_remember_state keeps. A register's rule is copied here
 * when it first changes afterwards, so that neither DW_CFA_remember_state nor
 * DW_CFA_restore_state costs more than the changes between them.
 */
struct kunwind_remembered {
	struct kunwind_row row;	/* saved[]: valid for the registers in @copied */
	u32 copied;
};

struct kunwind_cfi_program {
	const struct kunwind_section *section;
	const struct kunwind_cie *cie;
	const struct kunwind_row *initial;	/* NULL: runs a CIE's initial instructions */
	struct kunwind_intern *exprs;
	struct kunwind_budget *budget;		/* of remembered[] */
	u32 follow;		/* registers whose rules are kept; others are only checked */
	u32 needed;		/* registers that CFAs and followed rules read; only grows */
	u32 reads[KUNWIND_NR_REGS]; /* [r]: read by rules of r while r is not followed; only grows */
	const u8 *code, *code_end;
	u64 from, to, end;	/* [from, to) of the row; end of the FDE */
	u32 nr_remembered, max_remembered, most_remembered; /* number, room, most room */
	u8 ra;			/* register of the return column; KUNWIND_RA: none of 0 to 15 */
	bool odd_ra;		/* the return column is not the usual one */
	bool odd;		/* that, or 32-bit code: column numbers must be translated */
	bool changed;		/* the row may differ from the row before it */
	bool touched;		/* like @changed, of the row that is being made */
	struct kunwind_row row;
	struct kunwind_remembered *remembered;
};

/* Frees the remembered states. */
void kunwind_cfi_program_exit(struct kunwind_cfi_program *program);

/* Runs the initial instructions of @cie. The result is in program->row. */
enum kunwind_build_error __must_check
kunwind_cfi_program_initial(struct kunwind_cfi_program *program, const struct kunwind_cie *cie);

/*
 * Prepares to run @fde of @cie. @initial must stay valid until the FDE has run.
 */
void kunwind_cfi_program_begin(struct kunwind_cfi_program *program, const struct kunwind_cie *cie,
			       const struct kunwind_row *initial, const struct kunwind_fde *fde);

/**
 * kunwind_cfi_program_next() - run to the next row
 *
 * A call runs at most KUNWIND_FDE_MAX_CODE bytes of instructions, each in
 * constant time (DW_CFA_remember_state: amortised).
 *
 * Return: KUNWIND_OK with program->row, ->from, ->to (from < to) and ->changed,
 * or with from == to after the last row; or the build error. After a build
 * error of one record (kunwind_build_error_local()), nothing is known about
 * addresses from ->from on, and the rows before remain valid.
 */
enum kunwind_build_error __must_check kunwind_cfi_program_next(struct kunwind_cfi_program *program);

/**
 * kunwind_cfi_program_look() - find the registers that an FDE needs, without
 * running it
 *
 * Adds the registers that the CFAs of @fde need to program->needed, as a run
 * would do. The caller sets program->section first.
 *
 * Return: false if @fde must be run instead, because it has rare instructions
 * (among them all that would add to ->reads), invalid ones, or deeply nested
 * remembered states.
 */
bool __must_check kunwind_cfi_program_look(struct kunwind_cfi_program *program,
					   const struct kunwind_fde *fde);

#endif /* _KUNWIND_CFI_PROGRAM_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cfi_writer.h - write rows as a section .debug_frame
 *
 * Rows that do not come from CFI are written as CFI, so that the code that checks
 * and compiles CFI serves them, too. A writer without room for the bytes only
 * counts them. Addresses are those of 64-bit code.
 *
 * Source: DWARF 5, 6.4.1 and 7.24.
 */
#ifndef _KUNWIND_CFI_WRITER_H
#define _KUNWIND_CFI_WRITER_H

#include "../kunwind_core.h"

enum kunwind_written_how {
	KUNWIND_WRITTEN_NONE, /* the addresses have no rule */
	KUNWIND_WRITTEN_END, /* the return address is undefined: the outermost frame */
	KUNWIND_WRITTEN_CFA, /* CFA = reg + off; the return address is at CFA - 8 */
	KUNWIND_WRITTEN_DEREF, /* CFA = *(reg + off) + add; the same */
	KUNWIND_WRITTEN_EXPR, /* as exprs says */
};

/* A DWARF expression; len 0: none. */
struct kunwind_written_expr {
	u8 len;
	u8 bytes[127];
};

/* The values in the caller. Without @ra, it is at CFA - 8. Without @rbp, it is as row.rbp says. */
struct kunwind_written_exprs {
	struct kunwind_written_expr cfa, ra, rbp;
};

struct kunwind_written_row {
	u8 how; /* enum kunwind_written_how */
	u8 rbp; /* enum kunwind_rbp_how */
	u8 reg; /* DWARF number */
	s32 off; /* WRITTEN_CFA: not negative */
	u32 add;
	const struct kunwind_written_exprs *exprs;
	u32 rbp_at; /* KUNWIND_RBP_SAVED: it is at CFA - rbp_at, a multiple of 8; otherwise 0 */
};

struct kunwind_cfi_writer {
	u8 *out; /* NULL: only count */
	u64 size, room; /* bytes written, and most of them */
	bool full; /* there was no room: all else does nothing */
	u64 cie; /* place of the CIE of the FDEs that follow */
	/* private */
	u64 fde, fde_start; /* place and first address of the open FDE; place 0: none is open */
	u64 at; /* where its last row begins */
	struct kunwind_written_row row;
};

/*
 * Writes a CIE and returns its place: the CFA is rsp + 8, the return address at
 * CFA - 8, rbp unchanged. @augmentation: letters without data.
 */
u64 kunwind_cfi_write_cie(struct kunwind_cfi_writer *writer, const char *augmentation);

/*
 * Writes that @row holds from @at on. Addresses ascend. A row KUNWIND_WRITTEN_NONE
 * must follow the last one, and come before writer->cie changes.
 */
void kunwind_cfi_write_row(struct kunwind_cfi_writer *writer, u64 at,
			   struct kunwind_written_row row);

#endif /* _KUNWIND_CFI_WRITER_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * build.h - what the builders of tables share: build.c, stages.c; its limits, for tests
 */
#ifndef _KUNWIND_BUILD_H
#define _KUNWIND_BUILD_H

#include "../cfi/fdes.h"
#include "pack.h"

/* How deep FDEs may lie within each other. Compilers and linkers nest none. */
#define KUNWIND_MAX_NESTED	8

/*
 * Bytes of expressions in one row, which a step of the walk evaluates all, with
 * interrupts off perhaps. A signal frame's take some 70.
 */
#define KUNWIND_ROW_MAX_EXPR	512

/* A sweep that ends within so much of the section may just be begun again. */
#define KUNWIND_EARLY		16
#define KUNWIND_FDE_BYTES	24	/* of an FDE, beside its instructions */

/* An FDE whose rows hold from here on, or again behind another. */
#define KUNWIND_NO_PLACE	~0U	/* no rule holds */
struct kunwind_active {
	u32 place;		/* of its record, or KUNWIND_NO_PLACE */
	u64 start, end;
	bool looked;		/* kunwind_build_look() was called for it */
};

struct kunwind_build {
	u64 base;
	struct kunwind_budget budget;
	u64 swept, early;	/* bytes of FDEs that this sweep ran; up to where it is cheap to begin anew */
	u32 nr_active;
	struct kunwind_active active[KUNWIND_MAX_NESTED];
	struct kunwind_pack pack;
	struct kunwind_fdes fdes;
};

/* @build is zeroed memory. It must be exited, also when this fails. */
enum kunwind_refusal __must_check
kunwind_build_init(struct kunwind_build *build, const struct kunwind_section *section, u32 keep,
		   size_t limit, kunwind_abort_fn *abort, void *data);
void kunwind_build_exit(struct kunwind_build *build);

/*
 * Finds out which registers the CFAs and rules of an FDE need, without making
 * rows: adds to fdes.program.needed. @fde is what kunwind_build_activate() gave.
 */
enum kunwind_refusal __must_check
kunwind_build_look(struct kunwind_build *build, u32 place, const struct kunwind_fde *fde);

/*
 * After all FDEs were looked at or run: are registers missing? They are followed
 * from here on, and all that their rules read, so that it is true only once if all
 * FDEs were looked at.
 * All rows are forgotten, and all FDEs are to be gone over again.
 */
bool kunwind_build_again(struct kunwind_build *build);

/*
 * The FDE at @place begins: it is the innermost one from here on. Those that
 * end before it are not active any more. @fde: what of it lies in the code.
 */
enum kunwind_refusal __must_check
kunwind_build_activate(struct kunwind_build *build, u32 place, struct kunwind_fde *fde);

/*
 * Rows of the FDEs from number @first to before @last, upwards, up to *end; or
 * those up to where a register is missing (kunwind_fdes_missing()). No FDE
 * before @first may reach into them.
 */
enum kunwind_refusal __must_check
kunwind_build_sweep(struct kunwind_build *build, u32 first, u32 last, u64 *end);

#endif /* _KUNWIND_BUILD_H */

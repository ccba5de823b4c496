/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * build.h - functions and limits that the builders of tables share: build.c,
 * build_parts.c, tests
 *
 * All functions run in task context and may sleep. A build is used by one
 * thread at a time; there are no locks.
 */
#ifndef _KUNWIND_BUILD_H
#define _KUNWIND_BUILD_H

#include "../cfi/fde_list.h"
#include "pack.h"

/* Most FDEs that may lie within each other. Compilers and linkers nest none. */
#define KUNWIND_MAX_NESTED	8

/*
 * Most bytes of expressions in one row. A step of the walk evaluates all of
 * them, possibly with interrupts off. A signal frame has some 70.
 */
#define KUNWIND_ROW_MAX_EXPR	512

/*
 * If a sweep misses a register within this part (1 / n) of the section, it does
 * not look for more in the rest, because a new sweep is cheap.
 */
#define KUNWIND_EARLY		16
#define KUNWIND_FDE_BYTES	24	/* bytes of an FDE besides its instructions */

/*
 * An FDE that covers the sweep's address, or will do so again after the FDEs
 * inside it.
 */
#define KUNWIND_NO_PLACE	~0U	/* place: the addresses have no rule */
struct kunwind_active {
	u32 place;		/* place of its record, or KUNWIND_NO_PLACE */
	u64 start, end;
	bool looked;		/* kunwind_build_look() was called for it */
};

struct kunwind_build {
	u64 base;
	struct kunwind_budget budget;
	u64 swept, early;	/* bytes of FDEs that this sweep ran; most for a cheap restart */
	bool any_cfi;			/* some row is not from code */
	u32 nr_active;
	struct kunwind_active active[KUNWIND_MAX_NESTED];
	struct kunwind_pack pack;
	struct kunwind_fde_list fdes;
};

/*
 * Prepares a build. @build is zeroed memory. The caller must call
 * kunwind_build_exit(), even after a failure.
 */
enum kunwind_build_error __must_check
kunwind_build_init(struct kunwind_build *build, const struct kunwind_section *section, u32 keep,
		   size_t limit, kunwind_abort_fn *abort, void *data);
void kunwind_build_exit(struct kunwind_build *build);

/*
 * Adds the registers that the CFAs and rules of an FDE need to
 * fdes.program.needed, without making rows. @fde comes from
 * kunwind_fde_list_get() or kunwind_build_activate().
 */
enum kunwind_build_error __must_check
kunwind_build_look(struct kunwind_build *build, u32 place, const struct kunwind_fde *fde);

/*
 * To be called after all FDEs were looked at or run. Returns true if registers
 * are missing. It then follows these, and all registers that their rules read,
 * and forgets all rows: the caller must process all FDEs again. If all FDEs
 * were looked at, the function returns true only once.
 */
bool kunwind_build_again(struct kunwind_build *build);

/*
 * Makes the FDE at @place the innermost active one, and removes the rules of
 * addresses where it contradicts others. The caller has already removed FDEs
 * that end at or before its start. Fills *fde; its end is cut to section->hi.
 */
enum kunwind_build_error __must_check
kunwind_build_activate(struct kunwind_build *build, u32 place, struct kunwind_fde *fde);

/*
 * Makes the rows of the FDEs from number @first to before @last in ascending
 * order, up to *end. Stops early where a register is missing
 * (kunwind_fde_list_missing()). No FDE before @first may reach into them.
 */
enum kunwind_build_error __must_check
kunwind_build_sweep(struct kunwind_build *build, u32 first, u32 last, u64 *end);

#endif /* _KUNWIND_BUILD_H */

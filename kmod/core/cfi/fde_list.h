/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * fde_list.h - list all FDEs of an object in address order, for the builders of
 * tables
 *
 * The list has start address and place of each FDE, 8 bytes, sorted by address
 * (radix sort, linear) unless the FDEs are already in order. FDEs of a
 * .debug_frame beside .eh_frame are added where .eh_frame has no FDE. FDEs that
 * cover nothing, or lie outside the code, are ignored. An FDE that reaches out
 * of the code ends at the code's end.
 *
 * An FDE that cannot be read is left out, and so are all FDEs of a CIE that
 * cannot be read: their addresses have no rule, all others do. The object is
 * refused with the first reason if no FDE is left. It is also refused if the
 * chain of records breaks, because the next record cannot be found. With
 * section->open_end, a break after section->min_fdes FDEs is the section's end.
 *
 * Task context; may sleep. Time is linear in the sections. A CIE's program
 * usually runs once, and a slot keeps its initial row. There is one slot for
 * each 4 to 8 KB of the sections: at least 64, at most 16,384. If there are
 * more CIEs than slots and FDEs refer to them in turn, a CIE's program may run
 * again; each run is paid for from the build's budget with the bytes of the
 * CIE's record.
 *
 * Memory: 8 bytes for each FDE, 16 while sorting or merging; for the slots at
 * most a 16th of the sections, but at least 16 KB; 8 KB while sorting.
 */
#ifndef _KUNWIND_FDE_LIST_H
#define _KUNWIND_FDE_LIST_H

#include "budget.h"
#include "cfi.h"
#include "../x86/i386.h"
#include "cfi_program.h"

#define KUNWIND_CIE_BITS	6	/* log2 of the least number of slots */
#define KUNWIND_CIE_MAX_BITS	14
#define KUNWIND_CIE_BYTES	4096	/* least bytes of the sections for a slot, if more than 64 */
#define KUNWIND_TICKS		4096	/* rows or records between two calls of abort() */
#define KUNWIND_TICK_BYTES	64	/* bytes of instructions that count as one row */
#define KUNWIND_IN_MORE		0x80000000U	/* bit of a place: the record is in section->more */

struct kunwind_cie_slot {
	u64 key;		/* cie_round << 32 | place of the CIE; 0: free */
	u8 build_error;		/* enum kunwind_build_error: why its FDEs cannot be read */
	struct kunwind_cie cie;
	struct kunwind_row initial;
};

/*
 * The caller zeroes this struct and sets section, budget, program.exprs,
 * program.budget, program.most_remembered, and, if wanted, abort, abort_data
 * and keep.
 */
struct kunwind_fde_list {
	const struct kunwind_section *section;
	struct kunwind_budget *budget;
	kunwind_abort_fn *abort;
	void *abort_data;
	u32 keep;		/* registers to follow besides rsp, rbp, ra */
	u32 ticks;
	u64 *list;		/* (start - section->lo) << 32 | place of the record */
	u32 nr, room;
	enum kunwind_build_error unread;	/* of the first record that could not be read */
	struct kunwind_cfi_program program;
	struct kunwind_cie_slot *cies, *last_cie;
	u32 cie_bits;		/* log2 of the number of slots */
	u32 cie_round;		/* slots of other rounds are free */
	u32 cie_turn;		/* chooses the slot to reuse if all are taken */
};

/* Allocates the slots for sections of @size bytes. To be called first. */
enum kunwind_build_error __must_check kunwind_fde_list_init(struct kunwind_fde_list *fdes,
							    u64 size);

/* Makes the list, which may take @limit bytes. To be called once. */
enum kunwind_build_error __must_check kunwind_fde_list_read(struct kunwind_fde_list *fdes,
							    size_t limit);

/* Frees the list, the slots and the memory of programs. */
void kunwind_fde_list_exit(struct kunwind_fde_list *fdes);

/*
 * Empties all slots. To be called after fdes->keep changed or program.exprs was
 * emptied.
 */
void kunwind_fde_list_forget_cies(struct kunwind_fde_list *fdes);

/* Reads the FDE at @place. *slot is valid until the next call. */
enum kunwind_build_error __must_check
kunwind_fde_list_get(struct kunwind_fde_list *fdes, u32 place, struct kunwind_cie_slot **slot,
		     struct kunwind_fde *fde);

/*
 * Compares two FDEs of the same range: the bytes of their instructions, and the
 * fields and instructions of their CIEs. Returns KUNWIND_OK if they are the
 * same, KUNWIND_E_OVERLAP if not, or another build error.
 */
enum kunwind_build_error __must_check
kunwind_fde_list_compare(struct kunwind_fde_list *fdes, u32 place1, u32 place2);

/*
 * Whether a build error concerns one record only (a local build error). All
 * others (memory, limits of the whole build, I/O, abort) end the build.
 */
static inline bool kunwind_build_error_local(enum kunwind_build_error err)
{
	switch (err) {
	case KUNWIND_E_NOMEM:
	case KUNWIND_E_IO:
	case KUNWIND_E_LIMIT:
	case KUNWIND_E_ABORTED:
		return false;
	default:
		return err != KUNWIND_OK;
	}
}

/*
 * Handles a build error that occurred at one record. Returns KUNWIND_OK if the
 * build can go on without the record, otherwise @err. With section->strict, the
 * build goes on only after an unknown augmentation.
 */
static inline enum kunwind_build_error __must_check
kunwind_fde_list_unread(struct kunwind_fde_list *fdes, enum kunwind_build_error err)
{
	if (!kunwind_build_error_local(err) ||
	    (fdes->section->strict && err != KUNWIND_E_AUGMENTATION))
		return err;
	if (!fdes->unread)
		fdes->unread = err;
	return KUNWIND_OK;
}

/* Section of a place: section->more if KUNWIND_IN_MORE is set. */
static inline const struct kunwind_section *
kunwind_fde_list_section(const struct kunwind_fde_list *fdes, u32 place)
{
	return place & KUNWIND_IN_MORE ? fdes->section->more : fdes->section;
}

/* Start of FDE @i of the list, inside the code, as ELF virtual address. */
static inline u64 kunwind_fde_list_start(const struct kunwind_fde_list *fdes, u32 i)
{
	return fdes->section->lo + (fdes->list[i] >> 32);
}

/* Returns the registers whose rules are kept in FDEs of @cie. */
static inline u32 kunwind_fde_list_follow(const struct kunwind_fde_list *fdes,
					  const struct kunwind_cie *cie)
{
	return cie->signal ? KUNWIND_ALL_REGS :
	       (cie->from_code ? 0 : fdes->keep) | KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP) |
	       KUNWIND_REG(KUNWIND_RA);
}

/* Callee-saved registers that CFAs and rules so far read, but not in @keep. */
static inline u32 kunwind_fde_list_missing(const struct kunwind_fde_list *fdes)
{
	return fdes->program.needed & kunwind_saved_regs(fdes->section->i386) & ~fdes->keep;
}

/*
 * Counts a row or record. After KUNWIND_TICKS of them, reschedules and returns
 * KUNWIND_E_ABORTED if abort() says so. May sleep.
 */
static __always_inline enum kunwind_build_error kunwind_fde_list_tick(struct kunwind_fde_list *fdes)
{
	if (likely(++fdes->ticks < KUNWIND_TICKS))
		return KUNWIND_OK;
	fdes->ticks = 0;
	kunwind_resched();
	return fdes->abort && fdes->abort(fdes->abort_data) ? KUNWIND_E_ABORTED : KUNWIND_OK;
}

#endif /* _KUNWIND_FDE_LIST_H */

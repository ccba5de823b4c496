/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * fdes.h - all FDEs of an object, in order; for the builders of its tables
 *
 * Start address and place of each, 8 bytes; sorted by address (linear: radix),
 * unless they are already in order. Those of a .debug_frame beside .eh_frame
 * follow where no FDE of the latter is. An FDE that covers nothing, or lies
 * outside the code, counts for nothing; one that reaches out of it ends with it.
 *
 * An FDE that cannot be read is left out, and so are all FDEs of a CIE that cannot be
 * read: their addresses have no rule, the others' do. If nothing is left, the object is
 * refused with the first reason that was met. It is refused, too, if the chain of
 * records breaks: where the next one begins is not known then.
 *
 * Time is linear in the sections. A CIE's program is run once, and its initial
 * row is kept, 64 of them and one more for each 4 KB of the sections. Where there
 * are more CIEs than that and FDEs refer to them in turn, a CIE may be run again:
 * each run is paid for from the build's budget with the bytes of its record.
 * Memory: 8 bytes an FDE, 16 while sorting or merging; the rows, a 16th of the
 * sections and 16 KB; 8 KB.
 */
#ifndef _KUNWIND_FDES_H
#define _KUNWIND_FDES_H

#include "budget.h"
#include "cfi.h"
#include "../x86/i386.h"
#include "program.h"

#define KUNWIND_CIE_BITS	6	/* at least so many slots: as a power of two */
#define KUNWIND_CIE_MAX_BITS	14
#define KUNWIND_CIE_BYTES	4096	/* of the sections for which there is one more */
#define KUNWIND_TICKS		4096	/* rows or records between two looks at the clock */
#define KUNWIND_TICK_BYTES	64	/* of instructions that count as one more */
#define KUNWIND_IN_MORE		0x80000000U	/* in a place: in section->more */

struct kunwind_cie_slot {
	u64 key;		/* round and place of the CIE; 0: free */
	u8 refusal;		/* enum kunwind_refusal: why its FDEs cannot be read */
	struct kunwind_cie cie;
	struct kunwind_row initial;
};

/* Zeroed, then section, budget, program.exprs, and what else is wanted of the first five. */
struct kunwind_fdes {
	const struct kunwind_section *section;
	struct kunwind_budget *budget;
	kunwind_abort_fn *abort;
	void *abort_data;
	u32 keep;		/* followed besides rsp, rbp, ra */
	u32 ticks;
	u64 *list;		/* (start - section->lo) << 32 | place of the record */
	u32 nr, room;
	enum kunwind_refusal unread;	/* of the first record that could not be read */
	struct kunwind_program program;
	struct kunwind_cie_slot *cies, *last_cie;
	u32 cie_bits;		/* of their number */
	u32 cie_round;		/* slots of another one are free */
	u32 cie_turn;		/* which of a CIE's places is given up next */
};

/* Takes memory for the CIEs of sections of @size bytes. To be called first. */
enum kunwind_refusal __must_check kunwind_fdes_init(struct kunwind_fdes *fdes, u64 size);

/* Lists all FDEs that count; the list may take @limit bytes. To be called once. */
enum kunwind_refusal __must_check kunwind_fdes_read(struct kunwind_fdes *fdes, size_t limit);

/* Frees the list, the CIEs and what programs took. */
void kunwind_fdes_exit(struct kunwind_fdes *fdes);

/* To be called when fdes->keep changed, or program.exprs was emptied. */
void kunwind_fdes_forget_cies(struct kunwind_fdes *fdes);

/* The FDE at @place. Its CIE stays until the next call. */
enum kunwind_refusal __must_check
kunwind_fdes_get(struct kunwind_fdes *fdes, u32 place, struct kunwind_cie_slot **slot,
		 struct kunwind_fde *fde);

/* Do two FDEs of the same range say the same, byte for byte? KUNWIND_E_OVERLAP: no. */
enum kunwind_refusal __must_check
kunwind_fdes_compare(struct kunwind_fdes *fdes, u32 place1, u32 place2);

/*
 * Does it concern one record only? All else (memory, limits of the whole, the end of a
 * build) ends the build.
 */
static inline bool kunwind_refusal_local(enum kunwind_refusal err)
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

/* A record could not be read: KUNWIND_OK to go on without it, or the refusal of the whole. */
static inline enum kunwind_refusal __must_check
kunwind_fdes_unread(struct kunwind_fdes *fdes, enum kunwind_refusal err)
{
	if (!kunwind_refusal_local(err) ||
	    (fdes->section->strict && err != KUNWIND_E_AUGMENTATION))
		return err;
	if (!fdes->unread)
		fdes->unread = err;
	return KUNWIND_OK;
}

/* A place is an offset in the section or, with KUNWIND_IN_MORE, in the one beside it. */
static inline const struct kunwind_section *
kunwind_fdes_section(const struct kunwind_fdes *fdes, u32 place)
{
	return place & KUNWIND_IN_MORE ? fdes->section->more : fdes->section;
}

/* ELF virtual address at which FDE @i of the list begins: in the code. */
static inline u64 kunwind_fdes_start(const struct kunwind_fdes *fdes, u32 i)
{
	return fdes->section->lo + (fdes->list[i] >> 32);
}

/* Registers whose rules are kept in FDEs of @cie. */
static inline u32 kunwind_fdes_follow(const struct kunwind_fdes *fdes, const struct kunwind_cie *cie)
{
	return cie->signal ? KUNWIND_ALL_REGS :
	       fdes->keep | KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP) |
	       KUNWIND_REG(KUNWIND_RA);
}

/* Registers that CFAs and rules met so far read, and that are not followed. */
static inline u32 kunwind_fdes_missing(const struct kunwind_fdes *fdes)
{
	return fdes->program.needed & kunwind_saved_regs(fdes->section->i386) & ~fdes->keep;
}

/* One more row or record was dealt with: now and then, whether to go on. */
static __always_inline enum kunwind_refusal kunwind_fdes_tick(struct kunwind_fdes *fdes)
{
	if (likely(++fdes->ticks < KUNWIND_TICKS))
		return KUNWIND_OK;
	fdes->ticks = 0;
	kunwind_resched();
	return fdes->abort && fdes->abort(fdes->abort_data) ? KUNWIND_E_ABORTED : KUNWIND_OK;
}

#endif /* _KUNWIND_FDES_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * pack.h - pack rows in ascending order into a table
 *
 * A draft keeps the rows as they come, in some more bytes than the table's
 * stream will have, with rules numbered in the order of their first use.
 * kunwind_pack_finish() numbers the rules by frequency and writes the table
 * into one allocation of its exact size. Task context; may sleep. Memory while
 * packing: the draft, the pools of full rules and expressions (intern.h), and
 * 20 bytes for each rule that there is room for (256 at first, then doubled).
 */
#ifndef _KUNWIND_PACK_H
#define _KUNWIND_PACK_H

#include "../kunwind_core.h"
#include "../cfi/intern.h"

struct kunwind_draft;		/* a piece of the draft */

struct kunwind_pack {
	size_t limit;			/* most bytes that the table may take */
	u64 last_rule;			/* rule of the row added last, as a number */
	u32 last_addr, nr_rows;
	u8 *at, *piece_end;		/* position and end in the draft's last piece */
	struct kunwind_draft *first, *last;
	size_t draft_size;
	u64 *rules;			/* in the order of first use */
	u32 *counts;			/* number of rows of each rule */
	u32 *slots;			/* hash table: rule number + 1 */
	u32 nr_rules, max_rules, slot_bits;
	struct kunwind_intern full, exprs;
	u32 nr_full;
	struct kunwind_budget *budget;
};

enum kunwind_build_error __must_check
kunwind_pack_init(struct kunwind_pack *pack, size_t limit, struct kunwind_budget *budget);
void kunwind_pack_exit(struct kunwind_pack *pack);

/* Forgets all rows, full rules and expressions. */
void kunwind_pack_reset(struct kunwind_pack *pack);

/*
 * Adds the row that begins at @addr (offset from the table's base), which is
 * above the row before. A row with the same rule as the row before is merged
 * into it. After KUNWIND_MAX_RULES - 1 rules, a row with a new rule gets none.
 */
enum kunwind_build_error __must_check
kunwind_pack_row(struct kunwind_pack *pack, u32 addr, struct kunwind_rule rule);

/*
 * Stores a full rule: @full and its entries, @len bytes. *index is its offset
 * in units of 8 bytes.
 */
enum kunwind_build_error __must_check kunwind_pack_full_rule(struct kunwind_pack *pack,
							     const struct kunwind_full_rule *full,
							     u32 len, s32 *index);

/**
 * kunwind_pack_finish() - write the table
 * @head: members to copy to the table: base, span, nr_fdes, keep, needed, i386
 * @table: result, of at most pack->limit bytes; unchanged on failure
 *
 * There must be at least one row.
 */
enum kunwind_build_error __must_check
kunwind_pack_finish(struct kunwind_pack *pack, const struct kunwind_table_stats *head,
		    struct kunwind_table **table);

#endif /* _KUNWIND_PACK_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * pack.h - rows in ascending order -> packed table
 *
 * Rows are kept as they come in a draft (as many bytes as the table's stream
 * will have, with rules numbered as they are met); at the end rules are
 * numbered by frequency and the table is written in one allocation of its
 * exact size. Memory while packing: the draft, 20 bytes a rule.
 */
#ifndef _KUNWIND_PACK_H
#define _KUNWIND_PACK_H

#include "../kunwind_core.h"
#include "../cfi/pool.h"

struct kunwind_draft;		/* a piece of the draft */

struct kunwind_pack {
	size_t limit;			/* most bytes that the table may take */
	u64 last_rule;			/* of the row added last, as a number */
	u32 last_addr, nr_rows;
	u8 *at, *piece_end;		/* in the draft's last piece */
	struct kunwind_draft *first, *last;
	size_t draft_size;
	u64 *rules;			/* in the order in which they were met */
	u32 *counts;			/* rows of each */
	u32 *slots;			/* hash table: rule number + 1 */
	u32 nr_rules, max_rules, slot_bits;
	struct kunwind_pool wide, exprs;
	u32 nr_wide;
	struct kunwind_budget *budget;
};

enum kunwind_refusal __must_check
kunwind_pack_init(struct kunwind_pack *pack, size_t limit, struct kunwind_budget *budget);
void kunwind_pack_exit(struct kunwind_pack *pack);

/* Forgets all rows, wide rules and expressions. */
void kunwind_pack_reset(struct kunwind_pack *pack);

/*
 * Adds the row that begins at @addr (offset from the table's base), above
 * that of the row before. A row with the rule of the one before vanishes. Where
 * there are KUNWIND_MAX_RULES, a row with another one has none.
 */
enum kunwind_refusal __must_check
kunwind_pack_row(struct kunwind_pack *pack, u32 addr, struct kunwind_rule rule);

/* No row has a rule. */
bool kunwind_pack_empty(const struct kunwind_pack *pack);

/* The index of a wide rule: @wide and its entries, @len bytes. */
enum kunwind_refusal __must_check
kunwind_pack_wide(struct kunwind_pack *pack, const struct kunwind_wide *wide, u32 len, s32 *index);

/**
 * kunwind_pack_finish() - write the table
 * @head: what the table shall say of itself: base, span, nr_fdes, keep, needed, i386
 */
enum kunwind_refusal __must_check
kunwind_pack_finish(struct kunwind_pack *pack, const struct kunwind_table_stats *head,
		    struct kunwind_table **table);

#endif /* _KUNWIND_PACK_H */

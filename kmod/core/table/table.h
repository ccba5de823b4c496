/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * table.h - the packed table's format; for pack.c, table.c and tests
 *
 * One allocation: header, rules, wide rules, index, far rules, top, stream,
 * expressions, pad. docs/table-format.md describes each part byte by byte, the
 * lookup, and what a table costs.
 */
#ifndef _KUNWIND_TABLE_H
#define _KUNWIND_TABLE_H

#include "../kunwind_core.h"

#define KUNWIND_BLOCK_ROWS	32
#define KUNWIND_NEAR_DISTANCE	240	/* first distance that takes two bytes */
#define KUNWIND_FAR_DISTANCE	(240 + 15 * 256) /* first that takes five */
#define KUNWIND_FAR_RULE	255	/* the rule's number is elsewhere */
#define KUNWIND_MAX_RULES	65536
#define KUNWIND_MAX_ROWS	(1U << 30)
/* Blocks to an entry of top, at least. */
#define KUNWIND_TOP_BLOCKS	4
/* More than one block's distances and a word: a lookup may look that far past the stream. */
#define KUNWIND_TABLE_PAD	40

struct kunwind_block {
	u32 addr;		/* of its first row */
	u32 at;			/* of its first byte in the stream */
};

struct kunwind_far {
	u32 row;
	u32 rule;
};

/*
 * A table in parts (stages.c) has no rows of its own, and an empty span: each
 * lookup in it fails, so that other tables do not pay for the case. Its directory
 * follows the header in the same allocation; each part is a table.
 */
struct kunwind_part {
	const struct kunwind_table *table;	/* NULL: not built yet */
	u32 addr;		/* where it begins: offset from the directory's base */
	u32 first;		/* number of its first FDE */
	bool wanted;		/* a walk met it before it was built */
};

struct kunwind_parts {
	u64 base, span;
	u32 nr, nr_built;
	u32 reason;		/* not KUNWIND_COMPLETE: it was given up */
	bool wanted;		/* some part is */
	struct kunwind_part part[];
};

struct kunwind_table {
	u64 base;
	u64 span;		/* <= 4 GB */
	const struct kunwind_block *index;
	const u8 *stream;
	const struct kunwind_rule *rules;
	const struct kunwind_far *far;
	const u16 *top;
	u32 nr_blocks;
	u32 nr_rows;
	u32 stream_size;	/* bytes */
	u32 nr_rules;
	u32 nr_far;
	u32 keep;
	const struct kunwind_wide *wide;
	const u8 *exprs;
	u32 wide_units;		/* of 8 bytes */
	u32 exprs_size;		/* bytes */
	u32 nr_wide;
	u32 nr_fdes;
	u32 needed;
	bool i386;
	u8 top_shift, top_round;
	u64 bytes;
	struct kunwind_parts *parts;	/* NULL in all but tables in parts */
};

#endif /* _KUNWIND_TABLE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * table.h - the packed table's format; for pack.c, table.c and tests
 *
 * One allocation, in this order:
 *   header   struct kunwind_table
 *   rules    struct kunwind_rule each, most frequent first
 *   wide     struct kunwind_wide with entries, in units of 8 bytes
 *   index    struct kunwind_block each, and one more that ends the last
 *   far      struct kunwind_far each: rules of rows that a byte cannot number
 *   top      u16 each: where in the index to search
 *   stream   rows, in blocks of KUNWIND_BLOCK_ROWS
 *   exprs    u16 length and bytes, each
 *   pad      KUNWIND_TABLE_PAD zero bytes
 *
 * A row holds from its address to that of the next one. All addresses are
 * offsets from base. The rows of a block are in the stream as
 *   distances  from each row to the next, forward from the block's first byte
 *              (the first row's address is in the index, so one fewer than rows)
 *   rules      one byte each, backward from the block's last byte
 * A distance d is a byte for d < 240; two bytes 240 + (d - 240) / 256,
 * (d - 240) % 256 below 240 + 15 * 256; else a byte 255 and four of d.
 * A rule's byte is its number, or 255: its number is then in "far", which is
 * sorted by row.
 * The span is cut into stretches of 2^top_shift bytes, as many as make one of
 * KUNWIND_TOP_BLOCKS blocks or more on average. top has, for the first address of each
 * and for one more, the number of the last block that begins at or before it,
 * less its top_round low bits, so that 16 bits hold it. So a lookup is a binary search
 * among some five blocks, sums of eight bytes at a time, and one byte more.
 *
 * Memory: 8 / 32 + 63 / 32 = 2.22 bytes a row, 1 to 4 more for a distance
 * above 239, 8 for a row with a far rule; 8 a rule; 2 for each 128 to 256 rows.
 */
#ifndef _KUNWIND_TABLE_H
#define _KUNWIND_TABLE_H

#include "kunwind_core.h"

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
 * A table in parts (stages.h) has no rows of its own, and an empty span: every
 * lookup in it fails, so that no other table pays for there being such ones. Its
 * directory stands behind it in its allocation; each part is a table.
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

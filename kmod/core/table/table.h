/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * table.h - the format of the packed table, for pack.c, table.c and tests
 *
 * A table is one allocation: header, rules, full rules, index, far rules, top,
 * stream, expressions, pad. docs/table-format.md describes each part byte by
 * byte, the lookup, and the memory that a table takes.
 */
#ifndef _KUNWIND_TABLE_H
#define _KUNWIND_TABLE_H

#include "../kunwind_core.h"

#define KUNWIND_BLOCK_ROWS	32
#define KUNWIND_NEAR_DISTANCE	240	/* least distance that takes two bytes */
#define KUNWIND_FAR_DISTANCE	(240 + 15 * 256) /* least distance that takes five */
#define KUNWIND_FAR_RULE	255	/* the rule's number is in the list of far rules */
#define KUNWIND_MAX_RULES	65536
#define KUNWIND_MAX_ROWS	(1U << 30)
/* Least number of blocks for each entry of top, on average. */
#define KUNWIND_TOP_BLOCKS	1
/*
 * More bytes than the distances of a block and one word have: a lookup may read
 * that far beyond the stream.
 */
#define KUNWIND_TABLE_PAD	40

struct kunwind_block {
	u32 addr;		/* offset of its first row from the table's base */
	u32 at;			/* offset of its first byte in the stream */
};

struct kunwind_far {
	u32 row;
	u32 rule;
};

/*
 * A table in parts (build_parts.c) has no rows and an empty span: each lookup
 * in it fails, so lookups in other tables need no extra test. Its directory
 * follows the header in the same allocation. Each part is a table of its own.
 */
struct kunwind_part {
	const struct kunwind_table *table;	/* NULL: not built yet */
	u32 addr;		/* its start: offset from the directory's base */
	u32 first;		/* number of its first FDE in the list */
	bool wanted;		/* a walk met it before it was built */
};

struct kunwind_parts {
	u64 base, span;
	u32 nr, nr_built;
	u32 reason;		/* not KUNWIND_COMPLETE: the table was retired for this reason */
	bool wanted;		/* some part is wanted */
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
	const struct kunwind_full_rule *full;
	const u8 *exprs;
	u32 full_units;		/* of 8 bytes */
	u32 exprs_size;		/* bytes */
	u32 nr_full;
	u32 nr_fdes;
	u32 needed;
	u64 entry;		/* e_entry of the ELF file; 0: none */
	bool i386;
	u8 top_shift, top_round;
	u64 bytes;
	struct kunwind_parts *parts;	/* NULL, except in tables in parts */
	struct kunwind_table *code;	/* rows from code, for addresses without other rows; or NULL */
};

#endif /* _KUNWIND_TABLE_H */

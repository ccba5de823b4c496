// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * table.c - look up a packed table; its format is in table.h
 *
 * All lookups run in any context, NMI included: they take no locks and write
 * only "wanted" flags. kunwind_table_for_each() may sleep; kunwind_table_drop()
 * and kunwind_table_free() run in task context. A lookup checks the offsets
 * that it finds in the table before it uses them, so even a damaged table
 * cannot lead it out of the table: the result is then KUNWIND_RULE_NONE.
 *
 * Speculation (Spectre v1): the address comes from the user's stack. Each index
 * that depends on it is clamped by kunwind_index() before it addresses a load.
 * The binary searches need no clamp: their steps depend only on the number of
 * entries, and one step too many adds nothing (n / 2 = 0). Indices that the
 * packer stored (top, block.at, far.rule) are trusted, because the packer
 * computed them; the bytes of .eh_frame did not choose them.
 */
#include "table.h"

static const struct kunwind_rule none;

/* Finds the number of a far rule; KUNWIND_MAX_RULES if the table is damaged. */
static noinline u32 kunwind_walk_attr far_rule(const struct kunwind_table *table, u32 row)
{
	const struct kunwind_far *far = table->far;
	u32 n = table->nr_far;

	if (!n)
		return KUNWIND_MAX_RULES;
	for (; n > 1; n -= n / 2)
		far = far[n / 2].row <= row ? far + n / 2 : far;
	return far->row == row ? far->rule : KUNWIND_MAX_RULES;
}

/*
 * Reads a distance of more than one byte, returns its length in bytes.
 * KUNWIND_TABLE_PAD covers reads past the stream.
 */
static __always_inline u32 long_distance(const u8 *p, u32 *distance)
{
	u32 more;

	memcpy(&more, p + 1, sizeof(more));
	if (*p == 255) {
		*distance = more;
		return 5;
	}
	*distance = KUNWIND_NEAR_DISTANCE + ((*p - KUNWIND_NEAR_DISTANCE) << 8) + (u8)more;
	return 2;
}

/* Masks for four 16-bit lanes in a word, lowest first. */
#define EVERY_BYTE	0x0101010101010101ULL
#define EVERY_OTHER	0x00ff00ff00ff00ffULL	/* even bytes */
#define EVERY_LANE	0x0001000100010001ULL
#define LANE_TOPS	0x8000800080008000ULL

/* Multiplies by EVERY_LANE. Of a known constant, the compiler makes six instructions. */
static __always_inline u64 add_lanes(u64 x)
{
	u64 lanes = EVERY_LANE;

	OPTIMIZER_HIDE_VAR(lanes);
	return x * lanes;
}

/* Returns the top bit of each byte of @x that begins a multi-byte distance. */
static __always_inline u64 long_ones(u64 x)
{
	/* NEAR_DISTANCE + 16 = 256: a top bit, and a carry into it */
	return ((x & 0x7f * EVERY_BYTE) + 16 * EVERY_BYTE) & x & 0x80 * EVERY_BYTE;
}

/*
 * Finds the row that holds offset @left in a block. @block has @size bytes and
 * @rows rows, and begins with their distances. Returns the row's number, or
 * @rows if the block is damaged. Adds eight distances at a time without a
 * branch for each: their sums are in the lanes of two words. @at is clamped
 * whenever it moves on, because the comparisons that end the loop may be
 * mispredicted.
 */
static __always_inline u32 row_find(const u8 *block, u64 size, u32 rows, u32 left)
{
	u64 at = 0;
	u32 n = 0;

	for (;;) {
		u64 x, stops, sums, odd_sums, lefts, below;
		u32 distance, length;

		/* KUNWIND_TABLE_PAD covers reads past a damaged block. */
		memcpy(&x, block + at, sizeof(x));
		stops = x & 0x80 * EVERY_BYTE ? long_ones(x) : 0;
		if (n + 8 >= rows)
			stops |= 0x80ULL << 8 * (rows - 1 - n);
		/* Clear the bytes from the first stop on. */
		if (stops)
			x &= ((stops & -stops) >> 7) - 1;
		/* sums of the first two, four, six and eight distances */
		sums = add_lanes((x & EVERY_OTHER) + (x >> 8 & EVERY_OTHER));
		if (left < sums >> 48) {
			/* sums of the first 1, 3, 5, 7; count all <= left */
			odd_sums = (sums << 16) + (x & EVERY_OTHER);
			lefts = add_lanes(left) | LANE_TOPS;
			below = ((lefts - sums) & LANE_TOPS) >> 15;
			below += ((lefts - odd_sums) & LANE_TOPS) >> 15;
			return n + (add_lanes(below) >> 48);
		}
		left -= sums >> 48;
		if (!stops) {
			at = kunwind_index(at + 8, size);
			n += 8;
			continue;
		}
		length = (u32)__builtin_ctzll(stops) / 8;
		at += length;
		n += length;
		if (n + 1 == rows)
			return n;
		length = long_distance(block + at, &distance);
		if (unlikely(at + length > size))
			return rows;
		at = kunwind_index(at + length, size);
		if (left < distance)
			return n;
		left -= distance;
		n++;
	}
}

struct kunwind_rule kunwind_walk_attr
kunwind_table_lookup(const struct kunwind_table *table, u64 addr)
{
	u64 offset = addr - table->base;
	const struct kunwind_block *block;
	const u16 *top;
	u32 left, rows, n, number, rule;

	if (unlikely(offset >= table->span))
		return none;
	offset = kunwind_index(offset, table->span);
	left = offset;

	/* the last block at or below the offset; no branch on data */
	top = &table->top[offset >> table->top_shift];
	number = (u32)top[0] << table->top_round;
	n = min(((u32)top[1] + 1) << table->top_round, table->nr_blocks);
	if (unlikely(number >= n))
		return none;
	block = &table->index[number];
	for (n -= number; n > 1; n -= n / 2)
		block = block[n / 2].addr <= left ? block + n / 2 : block;

	number = block - table->index;
	rows = min(table->nr_rows - number * KUNWIND_BLOCK_ROWS, (u32)KUNWIND_BLOCK_ROWS);
	if (unlikely(block[1].at > table->stream_size || block[0].at > block[1].at ||
		     block[1].at - block[0].at < rows))
		return none;
	n = row_find(table->stream + block[0].at, block[1].at - block[0].at, rows,
		     left - block->addr);
	if (unlikely(n == rows))
		return none;
	rule = table->stream[block[1].at - 1 - n];
	if (unlikely(rule == KUNWIND_FAR_RULE))
		rule = far_rule(table, number * KUNWIND_BLOCK_ROWS + n);
	if (unlikely(rule >= table->nr_rules))
		return none;
	return table->rules[kunwind_index(rule, table->nr_rules)];
}

noinline enum kunwind_reason kunwind_walk_attr
kunwind_table_part(const struct kunwind_table **table, u64 addr)
{
	struct kunwind_parts *parts = (*table)->parts;
	const struct kunwind_table *found;
	struct kunwind_part *part;
	u64 offset;
	u32 n;

	if (!parts)
		return KUNWIND_COMPLETE;
	if (READ_ONCE(parts->reason))
		return READ_ONCE(parts->reason);
	offset = addr - parts->base;
	if (offset >= parts->span)
		return KUNWIND_COMPLETE;
	part = parts->part;
	for (n = parts->nr; n > 1; n -= n / 2)
		part = part[n / 2].addr <= offset ? part + n / 2 : part;
	/* An address dependency orders reads of the part after this load. */
	found = READ_ONCE(part->table);
	if (!found) {
		/* Each flag is one byte: an NMI cannot see it half written. */
		WRITE_ONCE(part->wanted, true);
		WRITE_ONCE(parts->wanted, true);
		return KUNWIND_NOT_READY;
	}
	*table = found;
	return KUNWIND_COMPLETE;
}

noinline enum kunwind_reason kunwind_walk_attr
kunwind_table_find_elsewhere(const struct kunwind_table **table, u64 addr, struct kunwind_rule *rule)
{
	const struct kunwind_table *whole = *table, *code;
	enum kunwind_reason reason;

	reason = kunwind_table_part(table, addr);
	if (reason != KUNWIND_COMPLETE)
		return reason;
	if (*table != whole) {
		*rule = kunwind_table_lookup(*table, addr);
		if ((rule->kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_NONE)
			return KUNWIND_COMPLETE;
	}
	/* An address dependency orders reads of the rows after this load. */
	code = READ_ONCE(whole->code);
	if (code) {
		*rule = kunwind_table_lookup(code, addr);
		if ((rule->kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_NONE)
			*table = code;
	}
	return KUNWIND_COMPLETE;
}

void kunwind_table_add_code(struct kunwind_table *table, struct kunwind_table *code)
{
	smp_store_release(&table->code, code);
}

bool kunwind_walk_attr kunwind_table_i386(const struct kunwind_table *table)
{
	return table->i386;
}

u32 kunwind_walk_attr kunwind_table_keep(const struct kunwind_table *table)
{
	return table->keep;
}

const struct kunwind_full_rule *kunwind_walk_attr
kunwind_table_full_rule(const struct kunwind_table *table, s32 index)
{
	const struct kunwind_full_rule *full;

	if (unlikely((u32)index >= table->full_units))
		return NULL;
	/* Clamped: if the kind is mispredicted, the index is any CFI offset. */
	full = table->full + kunwind_index((u32)index, table->full_units);
	if (unlikely(!full->nr || full->nr > table->full_units - (u32)index - 1))
		return NULL;
	return full;
}

const u8 *kunwind_walk_attr
kunwind_table_expr(const struct kunwind_table *table, s32 off, u16 *len)
{
	const u32 size = table->exprs_size;
	u32 at, most;

	if (unlikely(size < sizeof(*len) || (u32)off > size - sizeof(*len)))
		return NULL;
	/* Both clamped: if the kind is mispredicted, they are any CFI bytes. */
	at = kunwind_index((u32)off, size);
	memcpy(len, table->exprs + at, sizeof(*len));
	most = size - sizeof(*len) - at;
	if (unlikely(*len > most))
		return NULL;
	*len = kunwind_index((u32)*len, most + 1);
	return table->exprs + at + sizeof(*len);
}

/* Calls the lookup for each row, so that @fn gets exactly what a walk finds. */
int kunwind_table_for_each(const struct kunwind_table *table,
			   int (*fn)(void *data, u64 addr, struct kunwind_rule rule), void *data)
{
	u32 b, n;

	for (b = 0; b < table->nr_blocks; b++) {
		const u8 *p = table->stream + table->index[b].at;
		const u8 *end = table->stream + table->index[b + 1].at;
		u32 rows = min(table->nr_rows - b * KUNWIND_BLOCK_ROWS, (u32)KUNWIND_BLOCK_ROWS);
		u64 addr = table->base + table->index[b].addr;

		for (n = 0; n < rows; n++) {
			int ret = fn(data, addr, kunwind_table_lookup(table, addr));
			u32 distance;

			if (ret)
				return ret;
			if (n + 1 == rows)
				break;
			distance = *p;
			p += distance < KUNWIND_NEAR_DISTANCE ? 1 : long_distance(p, &distance);
			if (p > end)
				break;
			addr += distance;
		}
		kunwind_resched();
	}
	return 0;
}

void kunwind_table_stats(const struct kunwind_table *table, struct kunwind_table_stats *stats)
{
	const struct kunwind_parts *parts = table->parts;
	const struct kunwind_table *code = READ_ONCE(table->code);
	u32 i;

	*stats = (struct kunwind_table_stats){
		.base = table->base,
		.span = table->span,
		.nr_fdes = table->nr_fdes,
		.nr_rows = table->nr_rows,
		.nr_rules = table->nr_rules,
		.nr_full = table->nr_full,
		.bytes = table->bytes,
		.keep = table->keep,
		.needed = table->needed,
		.entry = table->entry,
		.i386 = table->i386,
	};
	if (code) {
		stats->nr_fdes += code->nr_fdes;
		stats->nr_rows += code->nr_rows;
		stats->nr_rules += code->nr_rules;
		stats->bytes += code->bytes;
	}
	if (!parts)
		return;
	stats->base = parts->base;
	stats->span = parts->span;
	stats->nr_parts = parts->nr;
	stats->parts_built = READ_ONCE(parts->nr_built);
	for (i = 0; i < parts->nr; i++) {
		const struct kunwind_table *part = READ_ONCE(parts->part[i].table);

		if (!part)
			continue;
		stats->nr_rows += part->nr_rows;
		stats->nr_rules += part->nr_rules;
		stats->nr_full += part->nr_full;
		stats->bytes += part->bytes;
	}
}

void kunwind_table_retire(struct kunwind_table *table, enum kunwind_reason reason)
{
	WRITE_ONCE(table->parts->reason, reason);
}

void kunwind_table_drop(struct kunwind_table *table)
{
	struct kunwind_parts *parts = table->parts;
	u32 i;

	for (i = 0; i < parts->nr; i++) {
		kunwind_free((void *)parts->part[i].table);
		parts->part[i].table = NULL;
	}
	parts->nr_built = 0;
}

void kunwind_table_free(struct kunwind_table *table)
{
	if (table && table->parts)
		kunwind_table_drop(table);
	if (table)
		kunwind_free(table->code);
	kunwind_free(table);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * pack.c - pack rows in ascending order into a table; see pack.h and table.h
 */
#include "pack.h"
#include "table.h"

#define PIECE_BYTES	16384
#define ROW_MAX		16	/* most bytes of a row in the draft */
#define FIRST_BITS	9	/* log2 of the first size of the rules' hash table */
#define MAX_PROBES	64
#define FREE_PROBES	4	/* steps of a search that are not paid for */
#define RADIX_BITS	7

/*
 * The draft has for each row the distance from the row before, as in the
 * stream, and its rule's number: a byte below 255, or 255 and two bytes.
 */
struct kunwind_draft {
	struct kunwind_draft *next;
	u32 size;
	u8 bytes[PIECE_BYTES - 16];
};

static void rules_free(struct kunwind_pack *pack, u64 *rules, u32 *counts, u32 *slots,
		       u32 max_rules)
{
	kunwind_budget_free(pack->budget, rules, max_rules * sizeof(*rules));
	kunwind_budget_free(pack->budget, counts, max_rules * sizeof(*counts));
	kunwind_budget_free(pack->budget, slots, 2 * max_rules * sizeof(*slots));
}

static enum kunwind_build_error rules_grow(struct kunwind_pack *pack)
{
	u32 max_rules = 1U << (pack->slot_bits - 1);
	u64 *rules = kunwind_budget_alloc(pack->budget, max_rules * sizeof(*rules));
	u32 *counts = kunwind_budget_alloc(pack->budget, max_rules * sizeof(*counts));
	u32 *slots = kunwind_budget_alloc(pack->budget, 2 * max_rules * sizeof(*slots));

	if (!rules || !counts || !slots) {
		rules_free(pack, rules, counts, slots, max_rules);
		return kunwind_budget_error(pack->budget);
	}
	if (pack->nr_rules) {
		memcpy(rules, pack->rules, pack->nr_rules * sizeof(*rules));
		memcpy(counts, pack->counts, pack->nr_rules * sizeof(*counts));
	}
	rules_free(pack, pack->rules, pack->counts, pack->slots, pack->max_rules);
	pack->rules = rules;
	pack->counts = counts;
	pack->slots = slots;
	pack->max_rules = max_rules;
	return KUNWIND_OK;
}

static __always_inline u32 rule_hash(const struct kunwind_pack *pack, u64 rule)
{
	rule ^= rule >> 32;
	return (rule * 0x9e3779b97f4a7c15ULL) >> (64 - pack->slot_bits);
}

/*
 * Finds the rule's slot, or a free one. Returns NULL after MAX_PROBES steps:
 * rules that were made to collide are stored twice. *probes: steps taken.
 */
static __always_inline u32 *rule_slot(struct kunwind_pack *pack, u64 rule, u32 *probes)
{
	u32 mask = (1U << pack->slot_bits) - 1;
	u32 at = rule_hash(pack, rule), i;

	for (i = 0; i < MAX_PROBES; i++) {
		u32 *slot = &pack->slots[(at + i) & mask];

		if (!*slot || pack->rules[*slot - 1] == rule) {
			*probes = i;
			return slot;
		}
	}
	*probes = i;
	return NULL;
}

static noinline enum kunwind_build_error rule_add(struct kunwind_pack *pack, u64 rule, u32 *slot)
{
	enum kunwind_build_error err;
	u32 i, probes;

	if (pack->nr_rules == KUNWIND_MAX_RULES)
		return KUNWIND_E_LIMIT;
	if (pack->nr_rules == pack->max_rules) {
		pack->slot_bits++;
		err = rules_grow(pack);
		if (err)
			return err;
		for (i = 0; i < pack->nr_rules; i++) {
			slot = rule_slot(pack, pack->rules[i], &probes);
			if (slot && !*slot)
				*slot = i + 1;
		}
		slot = rule_slot(pack, rule, &probes);
	}
	pack->rules[pack->nr_rules++] = rule;
	if (slot)
		*slot = pack->nr_rules;
	return KUNWIND_OK;
}

static noinline enum kunwind_build_error piece_add(struct kunwind_pack *pack)
{
	struct kunwind_draft *piece;

	if (pack->last) {
		pack->last->size = pack->at - pack->last->bytes;
		pack->draft_size += pack->last->size;
		if (pack->draft_size > pack->limit)
			return KUNWIND_E_LIMIT;
	}
	piece = kunwind_budget_alloc(pack->budget, sizeof(*piece));
	if (!piece)
		return kunwind_budget_error(pack->budget);
	if (pack->last)
		pack->last->next = piece;
	else
		pack->first = piece;
	pack->last = piece;
	pack->at = piece->bytes;
	pack->piece_end = piece->bytes + sizeof(piece->bytes);
	return KUNWIND_OK;
}

static __always_inline u8 *distance_write(u8 *p, u32 distance)
{
	if (likely(distance < KUNWIND_NEAR_DISTANCE)) {
		*p++ = distance;
	} else if (distance < KUNWIND_FAR_DISTANCE) {
		distance -= KUNWIND_NEAR_DISTANCE;
		*p++ = KUNWIND_NEAR_DISTANCE + (distance >> 8);
		*p++ = distance;
	} else {
		*p++ = 255;
		memcpy(p, &distance, sizeof(distance));
		p += sizeof(distance);
	}
	return p;
}

static __always_inline const u8 *distance_read(const u8 *p, u32 *distance)
{
	*distance = *p++;
	if (unlikely(*distance >= KUNWIND_NEAR_DISTANCE)) {
		if (*distance == 255) {
			memcpy(distance, p, sizeof(*distance));
			return p + sizeof(*distance);
		}
		*distance = KUNWIND_NEAR_DISTANCE +
			    ((*distance - KUNWIND_NEAR_DISTANCE) << 8) + *p++;
	}
	return p;
}

enum kunwind_build_error
kunwind_pack_row(struct kunwind_pack *pack, u32 addr, struct kunwind_rule rule)
{
	enum kunwind_build_error err;
	u32 *slot, number, probes;
	u64 key;
	u8 *p;

	memcpy(&key, &rule, sizeof(key));
	if (key == pack->last_rule && pack->nr_rows)
		return KUNWIND_OK;
	if (unlikely(pack->nr_rows == KUNWIND_MAX_ROWS))
		return KUNWIND_E_LIMIT;
	if (unlikely(pack->piece_end - pack->at < ROW_MAX)) {
		err = piece_add(pack);
		if (err)
			return err;
	}

	slot = rule_slot(pack, key, &probes);
	if (unlikely(probes > FREE_PROBES) &&
	    !kunwind_budget_work(pack->budget, probes / 2))
		return KUNWIND_E_LIMIT;
	if (likely(slot && *slot)) {
		number = *slot - 1;
	} else if (unlikely(key && pack->nr_rules >= KUNWIND_MAX_RULES - 1)) {
		return kunwind_pack_row(pack, addr, (struct kunwind_rule){ 0 });
	} else {
		number = pack->nr_rules;
		err = rule_add(pack, key, slot);
		if (err)
			return err;
	}
	pack->counts[number]++;

	p = distance_write(pack->at, addr - pack->last_addr);
	if (likely(number < 255)) {
		*p++ = number;
	} else {
		*p++ = 255;
		*p++ = number;
		*p++ = number >> 8;
	}
	pack->at = p;
	pack->last_addr = addr;
	pack->last_rule = key;
	pack->nr_rows++;
	return KUNWIND_OK;
}

enum kunwind_build_error kunwind_pack_full_rule(struct kunwind_pack *pack,
						const struct kunwind_full_rule *full, u32 len,
						s32 *index)
{
	u32 before = pack->full.size, off;
	enum kunwind_build_error err = kunwind_intern_add(&pack->full, full, len, &off);

	if (err)
		return err;
	pack->nr_full += pack->full.size != before;
	*index = off / sizeof(*full);
	return KUNWIND_OK;
}

enum kunwind_build_error
kunwind_pack_init(struct kunwind_pack *pack, size_t limit, struct kunwind_budget *budget)
{
	u32 pool_limit = min(limit, (size_t)1 << 31);

	memset(pack, 0, sizeof(*pack));
	pack->limit = limit;
	pack->budget = budget;
	pack->slot_bits = FIRST_BITS;
	kunwind_intern_init(&pack->full, pool_limit, budget);
	kunwind_intern_init(&pack->exprs, pool_limit, budget);
	return rules_grow(pack);
}

static void draft_free(struct kunwind_pack *pack)
{
	struct kunwind_draft *piece, *next;

	for (piece = pack->first; piece; piece = next) {
		next = piece->next;
		kunwind_budget_free(pack->budget, piece, sizeof(*piece));
	}
	pack->first = NULL;
	pack->last = NULL;
	pack->at = NULL;
	pack->piece_end = NULL;
	pack->draft_size = 0;
	pack->nr_rows = 0;
	pack->last_addr = 0;
}

void kunwind_pack_reset(struct kunwind_pack *pack)
{
	draft_free(pack);
	memset(pack->slots, 0, sizeof(*pack->slots) << pack->slot_bits);
	memset(pack->counts, 0, pack->max_rules * sizeof(*pack->counts));
	pack->nr_rules = 0;
	pack->nr_full = 0;
	kunwind_intern_reset(&pack->full);
	kunwind_intern_reset(&pack->exprs);
}

void kunwind_pack_exit(struct kunwind_pack *pack)
{
	if (!pack->budget)
		return;
	draft_free(pack);
	rules_free(pack, pack->rules, pack->counts, pack->slots, pack->max_rules);
	kunwind_intern_exit(&pack->full);
	kunwind_intern_exit(&pack->exprs);
	memset(pack, 0, sizeof(*pack));
}

/*
 * Sorts the rules by frequency, the most frequent first; equally frequent ones
 * stay in the order of their numbers.
 * @rank[number] is then the rule's place, @order[place] its number. Linear: a
 * radix sort with as many passes as the highest count has digits.
 */
static void rules_rank(struct kunwind_pack *pack, u32 *order, u32 *rank)
{
	u32 starts[1 << RADIX_BITS], *from = order, *to = rank, *swap, most = 0, i;
	const u32 mask = (1U << RADIX_BITS) - 1;
	unsigned int shift;

	for (i = 0; i < pack->nr_rules; i++) {
		most = max(most, pack->counts[i]);
		from[i] = i;
	}
	for (shift = 0; shift < 32 && most >> shift; shift += RADIX_BITS) {
		u32 sum = 0;

		memset(starts, 0, sizeof(starts));
		for (i = 0; i < pack->nr_rules; i++)
			starts[(pack->counts[i] >> shift) & mask]++;
		for (i = mask + 1; i--;) {
			u32 n = starts[i];

			starts[i] = sum;
			sum += n;
		}
		for (i = 0; i < pack->nr_rules; i++)
			to[starts[(pack->counts[from[i]] >> shift) & mask]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != order)
		memcpy(order, from, pack->nr_rules * sizeof(*order));
	for (i = 0; i < pack->nr_rules; i++)
		rank[order[i]] = i;
}

/* Offsets of the table's parts in its allocation. */
struct layout {
	size_t rules, full, index, far, top, stream, exprs, end;
};

static void layout_make(const struct kunwind_pack *pack, u32 nr_blocks, u32 nr_far, u32 nr_top,
			size_t stream_size, struct layout *l)
{
	l->rules = (sizeof(struct kunwind_table) + 7) & ~(size_t)7;
	l->full = l->rules + pack->nr_rules * sizeof(struct kunwind_rule);
	l->index = l->full + pack->full.size;
	l->far = l->index + ((size_t)nr_blocks + 1) * sizeof(struct kunwind_block);
	l->top = l->far + (size_t)nr_far * sizeof(struct kunwind_far);
	l->stream = l->top + nr_top * sizeof(u16);
	l->exprs = l->stream + stream_size;
	l->end = l->exprs + pack->exprs.size + KUNWIND_TABLE_PAD;
}

/* Position of a reader of the draft. */
struct draft_reader {
	const struct kunwind_draft *piece;
	const u8 *p, *end;
};

static void draft_open(const struct kunwind_pack *pack, struct draft_reader *r)
{
	r->piece = pack->first;
	r->p = pack->first->bytes;
	r->end = r->p + pack->first->size;
}

/* Reads the next row. There must be one. */
static __always_inline void draft_next(struct draft_reader *r, u32 *distance, u32 *number)
{
	if (unlikely(r->p == r->end)) {
		r->piece = r->piece->next;
		r->p = r->piece->bytes;
		r->end = r->p + r->piece->size;
		kunwind_resched();
	}
	r->p = distance_read(r->p, distance);
	*number = *r->p++;
	if (unlikely(*number == 255)) {
		*number = r->p[0] | (u32)r->p[1] << 8;
		r->p += 2;
	}
}

/*
 * Returns the size of the stream in bytes: the distances, except the first of
 * each block, and one byte for each row.
 */
static size_t stream_size(const struct kunwind_pack *pack)
{
	struct draft_reader r;
	u32 row, distance, number;
	size_t size = 0;

	draft_open(pack, &r);
	for (row = 0; row < pack->nr_rows; row++) {
		draft_next(&r, &distance, &number);
		size++;
		if (row % KUNWIND_BLOCK_ROWS)
			size += distance < KUNWIND_NEAR_DISTANCE ? 1 :
				distance < KUNWIND_FAR_DISTANCE ? 2 : 5;
	}
	return size;
}

static void stream_write(const struct kunwind_pack *pack, const u32 *rank,
			 struct kunwind_block *index, struct kunwind_far *far, u8 *stream)
{
	u8 numbers[KUNWIND_BLOCK_ROWS];
	struct draft_reader r;
	u32 row, addr = 0, n = 0, i;
	u8 *p = stream;

	draft_open(pack, &r);
	for (row = 0; row < pack->nr_rows; row++) {
		u32 distance, number;

		draft_next(&r, &distance, &number);
		addr += distance;
		if (row % KUNWIND_BLOCK_ROWS == 0)
			*index++ = (struct kunwind_block){ .addr = addr, .at = p - stream };
		else
			p = distance_write(p, distance);

		number = rank[number];
		if (unlikely(number >= KUNWIND_FAR_RULE)) {
			*far++ = (struct kunwind_far){ .row = row, .rule = number };
			number = KUNWIND_FAR_RULE;
		}
		numbers[n++] = number;
		if (n == KUNWIND_BLOCK_ROWS || row + 1 == pack->nr_rows) {
			for (i = n; i--;)
				*p++ = numbers[i];
			n = 0;
		}
	}
	*index = (struct kunwind_block){ .addr = ~0U, .at = p - stream };
}

/* Returns log2 of the number of addresses that one entry of top covers. */
static u8 top_shift(u64 span, u32 nr_blocks)
{
	u8 shift = 0;

	while (shift < 32 && span >> shift > nr_blocks / KUNWIND_TOP_BLOCKS)
		shift++;
	return shift;
}

static void top_write(const struct kunwind_table *table, u16 *top, u32 nr_top)
{
	u32 i, block = 0;

	for (i = 0; i < nr_top; i++) {
		while (block + 1 < table->nr_blocks &&
		       table->index[block + 1].addr <= (u64)i << table->top_shift)
			block++;
		top[i] = block >> table->top_round;
	}
}

enum kunwind_build_error
kunwind_pack_finish(struct kunwind_pack *pack, const struct kunwind_table_stats *head,
		    struct kunwind_table **result)
{
	u32 nr_blocks = (pack->nr_rows + KUNWIND_BLOCK_ROWS - 1) / KUNWIND_BLOCK_ROWS;
	enum kunwind_build_error err;
	struct kunwind_table *table;
	u32 *order, *rank, nr_far = 0, nr_top, i;
	u8 shift = top_shift(head->span, nr_blocks), round = 0;
	struct layout l;
	size_t size;
	u8 *bytes;

	pack->last->size = pack->at - pack->last->bytes;
	order = kunwind_budget_alloc(pack->budget, pack->nr_rules * sizeof(*order));
	rank = kunwind_budget_alloc(pack->budget, pack->nr_rules * sizeof(*rank));
	if (!order || !rank)
		goto refused;
	rules_rank(pack, order, rank);
	for (i = KUNWIND_FAR_RULE; i < pack->nr_rules; i++)
		nr_far += pack->counts[order[i]];
	nr_top = (head->span >> shift) + 2;
	while (nr_blocks >> round > 0xffff)
		round++;
	size = stream_size(pack);
	layout_make(pack, nr_blocks, nr_far, nr_top, size, &l);
	err = KUNWIND_E_LIMIT;
	if (l.end > pack->limit || size > 0xffffffffU)
		goto out;
	bytes = kunwind_budget_alloc(pack->budget, l.end);
	if (!bytes)
		goto refused;

	table = (struct kunwind_table *)bytes;
	*table = (struct kunwind_table){
		.base = head->base,
		.span = head->span,
		.index = (struct kunwind_block *)(bytes + l.index),
		.stream = bytes + l.stream,
		.rules = (struct kunwind_rule *)(bytes + l.rules),
		.far = (struct kunwind_far *)(bytes + l.far),
		.top = (u16 *)(bytes + l.top),
		.nr_blocks = nr_blocks,
		.nr_rows = pack->nr_rows,
		.stream_size = size,
		.nr_rules = pack->nr_rules,
		.nr_far = nr_far,
		.keep = head->keep,
		.full = (struct kunwind_full_rule *)(bytes + l.full),
		.exprs = bytes + l.exprs,
		.full_units = pack->full.size / sizeof(struct kunwind_full_rule),
		.exprs_size = pack->exprs.size,
		.nr_full = pack->nr_full,
		.nr_fdes = head->nr_fdes,
		.needed = head->needed,
		.entry = head->entry,
		.i386 = head->i386,
		.top_shift = shift,
		.top_round = round,
		.bytes = kunwind_alloc_size(bytes, l.end),
	};
	for (i = 0; i < pack->nr_rules; i++)
		memcpy(bytes + l.rules + i * sizeof(u64), &pack->rules[order[i]], sizeof(u64));
	if (pack->full.size)
		memcpy(bytes + l.full, pack->full.data, pack->full.size);
	if (pack->exprs.size)
		memcpy(bytes + l.exprs, pack->exprs.data, pack->exprs.size);
	stream_write(pack, rank, (struct kunwind_block *)(bytes + l.index),
		     (struct kunwind_far *)(bytes + l.far), bytes + l.stream);
	top_write(table, (u16 *)(bytes + l.top), nr_top);
	*result = table;
	err = KUNWIND_OK;
out:
	kunwind_budget_free(pack->budget, order, pack->nr_rules * sizeof(*order));
	kunwind_budget_free(pack->budget, rank, pack->nr_rules * sizeof(*rank));
	return err;
refused:
	err = kunwind_budget_error(pack->budget);
	goto out;
}

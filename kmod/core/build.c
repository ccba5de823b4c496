// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * build.c - .eh_frame, .debug_frame -> packed table
 *
 * 1. List all FDEs: start address and place, 8 bytes each; sort by address
 *    (linear: radix), unless they are already in order.
 *    Those of a .debug_frame beside it follow where no FDE of .eh_frame is.
 * 2. Sweep over them upwards, run each FDE's program and hand its rows to
 *    pack.c. What no FDE covers gets a row without a rule.
 * 3. As soon as some CFA needs a callee-saved register that is not followed,
 *    do 2 again with it: at most once for each of the five. Hand-written
 *    cryptography has such CFAs, hardly anything else does.
 *
 * Overlaps: an FDE may lie within another, which goes on behind it, and may
 * repeat another byte for byte; both are unambiguous. FDEs that contradict each
 * other are refused (KUNWIND_E_OVERLAP): the same start with another end or
 * other instructions, or an end within the next one's range. Other unwinders
 * take whichever their binary search ends at. Compilers, assemblers and linkers
 * make none of these: 4.6 million FDEs of 3,253 real objects do not overlap at
 * all. An FDE that covers nothing, or lies outside the code, counts for nothing.
 *
 * What is unknown is not corrupt: FDEs of a CIE with an unknown augmentation,
 * and rows whose CFA or return address is an expression of unknown operations,
 * leave their addresses without a rule; all else is used.
 *
 * Time is linear in the section: a program runs once, and again only behind
 * an FDE inside its own range, which is limited in total. The initial rows of
 * the 64 CIEs used last are kept; a CIE's program is short by decree.
 * Memory: the table and, until it is written, its draft, which is smaller
 * (pack.h); before, 8 bytes an FDE, 16 while sorting; 25 KB. So never more than
 * the table's size and 64 KB beside the table.
 */
#include "build.h"
#include "cfi.h"
#include "pack.h"
#include "program.h"
#include "rule.h"

#define CIE_SLOTS	64
#define TICKS		4096	/* rows or records between two looks at the clock */
#define TICK_BYTES	64	/* of instructions that count as one more */
#define RADIX_BITS	11
#define RADIX_PASSES	3	/* 33 bits >= 32 */
#define IN_MORE		0x80000000U	/* in a place: in section->more */

struct cie_slot {
	u64 key;		/* place of the CIE + 1; 0: free */
	bool unknown;		/* its augmentation, and so what its FDEs mean */
	struct kunwind_cie cie;
	struct kunwind_row initial;
};

/* An FDE whose rows hold from here on, or again behind another. */
struct active {
	u32 place;		/* of its record */
	u64 start, end;
};

struct build {
	const struct kunwind_section *section;
	kunwind_abort_fn *abort;
	void *abort_data;
	u32 ticks;
	u32 keep;		/* followed besides rsp, rbp, ra */
	u64 base;
	u64 *fdes;		/* (start - section->lo) << 32 | place of the record */
	u32 nr_fdes;
	bool unknown;		/* there were FDEs of CIEs with an unknown augmentation */
	u64 rerun_left;		/* bytes of instructions */
	u32 nr_active;
	struct active active[KUNWIND_MAX_NESTED];
	struct kunwind_pack pack;
	struct kunwind_program program;
	struct cie_slot cies[CIE_SLOTS];
};

static __always_inline enum kunwind_refusal tick(struct build *b)
{
	if (likely(++b->ticks < TICKS))
		return KUNWIND_OK;
	b->ticks = 0;
	kunwind_resched();
	return b->abort && b->abort(b->abort_data) ? KUNWIND_E_ABORTED : KUNWIND_OK;
}

/* A place is an offset in the section or, with IN_MORE, in the one beside it. */
static const struct kunwind_section *section_at(const struct build *b, u32 place)
{
	return place & IN_MORE ? b->section->more : b->section;
}

/*
 * The CIE at @place with its initial row. It stays until the next call.
 * KUNWIND_E_AUGMENTATION is no refusal yet.
 */
static enum kunwind_refusal cie_get(struct build *b, u32 place, struct cie_slot **slot)
{
	struct cie_slot *s = &b->cies[(u32)(place * 0x9e3779b1U) >> 26];
	enum kunwind_refusal err;

	*slot = s;
	if (likely(s->key == place + 1ULL))
		return s->unknown ? KUNWIND_E_AUGMENTATION : KUNWIND_OK;
	s->key = 0;
	b->ticks += KUNWIND_CIE_MAX / TICK_BYTES;
	err = kunwind_cie_read(section_at(b, place), place & ~IN_MORE, &s->cie);
	s->unknown = err == KUNWIND_E_AUGMENTATION;
	if (s->unknown)
		s->key = place + 1ULL;
	if (err)
		return err;
	b->program.follow = s->cie.signal ? KUNWIND_ALL_REGS :
		b->keep | KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP) |
		KUNWIND_REG(KUNWIND_RA);
	b->program.section = section_at(b, place);
	err = kunwind_program_initial(&b->program, &s->cie);
	if (err)
		return err;
	s->initial = b->program.row;
	s->key = place + 1ULL;
	return KUNWIND_OK;
}

static enum kunwind_refusal fde_parse(struct build *b, u32 place,
				      const struct kunwind_record *record,
				      struct cie_slot **slot, struct kunwind_fde *fde)
{
	enum kunwind_refusal err = cie_get(b, record->cie | (place & IN_MORE), slot);

	return err ? err : kunwind_fde_read(section_at(b, place), record, &(*slot)->cie, fde);
}

/* The FDE at @place. Its CIE stays until the next call. */
static enum kunwind_refusal fde_get(struct build *b, u32 place, struct cie_slot **slot,
				    struct kunwind_fde *fde)
{
	struct kunwind_record record;
	enum kunwind_refusal err;

	err = kunwind_record_read(section_at(b, place), place & ~IN_MORE, &record);
	return err ? err : fde_parse(b, place, &record, slot, fde);
}

static bool bytes_same(const u8 *a, const u8 *a_end, const u8 *b, const u8 *b_end)
{
	return a_end - a == b_end - b && !memcmp(a, b, a_end - a);
}

/* Do two FDEs of the same range say the same, byte for byte? */
static enum kunwind_refusal fde_compare(struct build *b, u32 place1, u32 place2)
{
	struct kunwind_cie c1, *c2;
	struct kunwind_fde f1, f2;
	enum kunwind_refusal err;
	struct cie_slot *slot;

	err = fde_get(b, place1, &slot, &f1);
	if (err)
		return err;
	c1 = slot->cie;
	err = fde_get(b, place2, &slot, &f2);
	if (err)
		return err;
	c2 = &slot->cie;
	if (c1.code != c2->code) {
		b->ticks += KUNWIND_CIE_MAX / TICK_BYTES;
		if (c1.code_align != c2->code_align || c1.data_align != c2->data_align ||
		    c1.encoding != c2->encoding || c1.signal != c2->signal ||
		    !bytes_same(c1.code, c1.code_end, c2->code, c2->code_end))
			return KUNWIND_E_OVERLAP;
	}
	b->ticks += (f1.code_end - f1.code) / TICK_BYTES;
	return bytes_same(f1.code, f1.code_end, f2.code, f2.code_end) ?
	       KUNWIND_OK : KUNWIND_E_OVERLAP;
}

/*
 * The next CIE or FDE of a section from @offset on, of which @nr_fdes were
 * FDEs so far; or its end.
 */
static enum kunwind_refusal record_next(struct build *b, const struct kunwind_section *section,
					size_t offset, u32 nr_fdes, struct kunwind_record *record)
{
	enum kunwind_refusal err;

	for (;; offset = record->end) {
		err = kunwind_record_read(section, offset, record);
		if (err)
			return err;
		if (record->kind != KUNWIND_RECORD_ZERO)
			return tick(b);
		if (nr_fdes >= section->min_fdes)
			break;
		err = tick(b);
		if (err)
			return err;
	}
	record->kind = KUNWIND_RECORD_END;
	return KUNWIND_OK;
}

/* Counts the FDEs, empty ones too. */
static enum kunwind_refusal fdes_count(struct build *b, const struct kunwind_section *section,
				       u32 *nr)
{
	struct kunwind_record record = { .end = 0 };
	enum kunwind_refusal err;

	for (*nr = 0;; *nr += record.kind == KUNWIND_RECORD_FDE) {
		err = record_next(b, section, record.end, *nr, &record);
		if (err || record.kind == KUNWIND_RECORD_END)
			return err;
	}
}

/*
 * Lists those that cover some code. One that lies elsewhere as a whole does no
 * harm, and no other unwinder minds it; one that leaves the code halfway does.
 * @in: 0 or IN_MORE.
 */
static enum kunwind_refusal fdes_list(struct build *b, u32 in)
{
	const struct kunwind_section *section = section_at(b, in);
	struct kunwind_record record = { .end = 0 };
	u64 lo = b->section->lo, hi = b->section->hi;
	u32 nr = 0;

	for (;;) {
		enum kunwind_refusal err;
		struct kunwind_fde fde;
		struct cie_slot *slot;

		err = record_next(b, section, record.end, nr, &record);
		if (err || record.kind == KUNWIND_RECORD_END)
			return err;
		if (record.kind != KUNWIND_RECORD_FDE)
			continue;
		nr++;
		err = fde_parse(b, in, &record, &slot, &fde);
		if (err == KUNWIND_E_AUGMENTATION) {
			b->unknown = true;
			continue;
		}
		if (err)
			return err;
		if (!fde.len || fde.start >= hi || fde.start + fde.len <= lo)
			continue;
		if (fde.start < lo || fde.len > hi - fde.start)
			return KUNWIND_E_RANGE;
		if (fde.start - lo + fde.len > 0xffffffffU ||
		    fde.code_end - fde.code > KUNWIND_FDE_MAX_CODE)
			return KUNWIND_E_LIMIT;
		b->fdes[b->nr_fdes++] = (fde.start - lo) << 32 | record.begin | in;
	}
}

/* Sorts by address; stable, so that equal ones stay in the file's order. */
static enum kunwind_refusal fdes_sort(u64 *fdes, u32 nr)
{
	u64 *from = fdes, *to, *scratch, *swap;
	u32 *counts, pass, i;

	for (i = 1; i < nr; i++)
		if (from[i - 1] >> 32 > from[i] >> 32)
			break;
	if (i >= nr)
		return KUNWIND_OK;

	scratch = kunwind_alloc(nr * sizeof(*scratch));
	counts = kunwind_alloc(sizeof(*counts) << RADIX_BITS);
	if (!scratch || !counts) {
		kunwind_free(scratch);
		kunwind_free(counts);
		return KUNWIND_E_NOMEM;
	}
	to = scratch;
	for (pass = 0; pass < RADIX_PASSES; pass++) {
		unsigned int shift = 32 + pass * RADIX_BITS;
		u32 mask = (1U << RADIX_BITS) - 1, sum = 0;

		memset(counts, 0, sizeof(*counts) << RADIX_BITS);
		for (i = 0; i < nr; i++)
			counts[(from[i] >> shift) & mask]++;
		for (i = 0; i <= mask; i++) {
			u32 n = counts[i];

			counts[i] = sum;
			sum += n;
		}
		for (i = 0; i < nr; i++)
			to[counts[(from[i] >> shift) & mask]++] = from[i];
		swap = from;
		from = to;
		to = swap;
		kunwind_resched();
	}
	if (from != fdes)
		memcpy(fdes, from, nr * sizeof(*fdes));
	kunwind_free(scratch);
	kunwind_free(counts);
	return KUNWIND_OK;
}

/*
 * Merges the first @nr_eh FDEs, of .eh_frame, with those behind, of
 * .debug_frame, dropping each of the latter that meets one of the former.
 */
static enum kunwind_refusal fdes_merge(struct build *b, u32 nr_eh)
{
	u32 i = 0, j = nr_eh, n = 0;
	u64 end = 0, *merged;	/* end: of all of .eh_frame's FDEs so far */

	merged = kunwind_alloc(b->nr_fdes * sizeof(*merged));
	if (!merged)
		return KUNWIND_E_NOMEM;
	while (i < nr_eh || j < b->nr_fdes) {
		bool eh = j == b->nr_fdes ||
			  (i < nr_eh && b->fdes[i] >> 32 <= b->fdes[j] >> 32);
		enum kunwind_refusal err;
		struct kunwind_fde fde;
		struct cie_slot *slot;
		u64 next = ~0ULL;

		err = fde_get(b, (u32)b->fdes[eh ? i : j], &slot, &fde);
		if (!err)
			err = tick(b);
		if (err) {
			kunwind_free(merged);
			return err;
		}
		if (eh) {
			end = max(end, fde.start + fde.len);
			merged[n++] = b->fdes[i++];
			continue;
		}
		if (i < nr_eh)
			next = b->section->lo + (b->fdes[i] >> 32);
		if (fde.start >= end && fde.start + fde.len <= next)
			merged[n++] = b->fdes[j];
		j++;
	}
	kunwind_free(b->fdes);
	b->fdes = merged;
	b->nr_fdes = n;
	return KUNWIND_OK;
}

/* All FDEs that count, of both sections, in order. */
static enum kunwind_refusal fdes_get(struct build *b)
{
	u32 nr_eh, nr = 0, nr_more = 0;
	enum kunwind_refusal err;

	err = fdes_count(b, b->section, &nr);
	if (!err && b->section->more)
		err = fdes_count(b, b->section->more, &nr_more);
	if (err)
		return err;
	if (!nr && !nr_more)
		return KUNWIND_E_NO_CFI;
	if ((u64)nr + nr_more > b->pack.limit / sizeof(*b->fdes))
		return KUNWIND_E_LIMIT;
	b->fdes = kunwind_alloc(((size_t)nr + nr_more) * sizeof(*b->fdes));
	if (!b->fdes)
		return KUNWIND_E_NOMEM;
	err = fdes_list(b, 0);
	nr_eh = b->nr_fdes;
	if (!err)
		err = fdes_sort(b->fdes, nr_eh);
	if (!err && nr_more) {
		err = fdes_list(b, IN_MORE);
		if (!err)
			err = fdes_sort(b->fdes + nr_eh, b->nr_fdes - nr_eh);
		if (!err && b->nr_fdes > nr_eh)
			err = fdes_merge(b, nr_eh);
	}
	if (!err && !b->nr_fdes)
		err = b->unknown ? KUNWIND_E_AUGMENTATION : KUNWIND_E_NO_CFI;
	return err;
}

/*
 * Rows of the FDE @a within [from, to). Its program runs to its end all the
 * same: each byte of it has to be acceptable.
 */
static enum kunwind_refusal fde_rows(struct build *b, const struct active *a, u64 from, u64 to)
{
	struct kunwind_program *p = &b->program;
	enum kunwind_refusal err;
	struct kunwind_rule rule;
	struct kunwind_fde fde;
	struct cie_slot *slot;

	err = fde_get(b, a->place, &slot, &fde);
	if (err)
		return err;
	/* instructions that make no rows take time too */
	b->ticks += (fde.code_end - fde.code) / TICK_BYTES;
	if (from != a->start) {
		u64 size = fde.code_end - fde.code;

		if (size > b->rerun_left)
			return KUNWIND_E_LIMIT;
		b->rerun_left -= size;
	}

	p->follow = slot->cie.signal ? KUNWIND_ALL_REGS :
		b->keep | KUNWIND_REG(KUNWIND_RBP) | KUNWIND_REG(KUNWIND_RSP) |
		KUNWIND_REG(KUNWIND_RA);
	p->section = section_at(b, a->place);
	kunwind_program_begin(p, &slot->cie, &slot->initial, &fde);
	for (;;) {
		err = kunwind_program_next(p);
		if (unlikely(err))
			return err;
		if (p->from == p->to)
			return KUNWIND_OK;
		if (unlikely(p->to <= from || p->from >= to))
			continue;
		err = kunwind_rule_of(&b->pack, &p->row, slot->cie.signal, &rule);
		if (likely(!err))
			err = kunwind_pack_row(&b->pack, max(p->from, from) - b->base, rule);
		if (likely(!err))
			err = tick(b);
		if (unlikely(err))
			return err;
	}
}

/* Rows of [*at, to) from the FDEs that are active. */
static enum kunwind_refusal fill(struct build *b, u64 *at, u64 to)
{
	static const struct kunwind_rule none;
	enum kunwind_refusal err;

	while (*at < to && b->nr_active) {
		const struct active *top = &b->active[b->nr_active - 1];

		if (top->end > *at) {
			u64 end = min(top->end, to);

			err = fde_rows(b, top, *at, end);
			if (err)
				return err;
			*at = end;
		}
		if (top->end <= *at)
			b->nr_active--;
	}
	if (*at == to)
		return KUNWIND_OK;
	err = kunwind_pack_row(&b->pack, *at - b->base, none);
	*at = to;
	return err;
}

/* Registers that CFAs and rules met so far read, and that are not followed. */
static u32 regs_missing(const struct build *b)
{
	return b->program.needed & KUNWIND_SAVED_REGS & ~b->keep;
}

/* All rows of the object, upwards; or those up to where a register is missing. */
static enum kunwind_refusal sweep(struct build *b, u64 *end)
{
	enum kunwind_refusal err;
	u64 at = b->base;
	u32 i;

	*end = at;
	b->nr_active = 0;
	for (i = 0; i < b->nr_fdes && !regs_missing(b); i++) {
		u32 place = b->fdes[i];
		struct kunwind_fde fde;
		struct cie_slot *slot;

		err = fill(b, &at, b->section->lo + (b->fdes[i] >> 32));
		if (err)
			return err;
		err = fde_get(b, place, &slot, &fde);
		if (!err)
			err = tick(b);
		if (err)
			return err;
		/* all that are active reach beyond its start */
		if (b->nr_active) {
			const struct active *outer = &b->active[b->nr_active - 1];

			if (outer->start == fde.start && outer->end == fde.start + fde.len) {
				err = fde_compare(b, outer->place, place);
				if (err)
					return err;
				continue;
			}
			if (outer->start == fde.start || outer->end < fde.start + fde.len)
				return KUNWIND_E_OVERLAP;
			/* one that ends with it never goes on */
			if (outer->end == fde.start + fde.len)
				b->nr_active--;
		}
		if (b->nr_active == KUNWIND_MAX_NESTED)
			return KUNWIND_E_LIMIT;
		b->active[b->nr_active++] = (struct active){
			.place = place,
			.start = fde.start,
			.end = fde.start + fde.len,
		};
	}
	while (b->nr_active) {
		err = fill(b, &at, b->active[b->nr_active - 1].end);
		if (err)
			return err;
	}
	*end = at;
	return KUNWIND_OK;
}

static enum kunwind_refusal build(struct build *b, struct kunwind_table **table)
{
	struct kunwind_table_stats head;
	enum kunwind_refusal err;
	u64 size = b->section->size;
	u32 missing;
	u64 end;

	err = fdes_get(b);
	if (err)
		return err;
	b->base = b->section->lo + (b->fdes[0] >> 32);
	if (b->section->more)
		size += b->section->more->size;
	b->rerun_left = KUNWIND_RERUN_FACTOR * size;

	for (;;) {
		err = sweep(b, &end);
		if (err)
			return err;
		missing = regs_missing(b);
		if (!missing)
			break;
		/* initial rows and what is in the draft followed fewer registers */
		b->keep |= missing;
		memset(b->cies, 0, sizeof(b->cies));
		kunwind_pack_reset(&b->pack);
	}
	head = (struct kunwind_table_stats){
		.base = b->base,
		.span = end - b->base,
		.nr_fdes = b->nr_fdes,
		.keep = b->keep,
		.needed = b->program.needed & KUNWIND_SAVED_REGS,
	};
	/* the table and its draft are to be all that there is now */
	kunwind_free(b->fdes);
	b->fdes = NULL;
	return kunwind_pack_finish(&b->pack, &head, table);
}

enum kunwind_refusal
kunwind_table_build(const struct kunwind_section *section, u32 keep, size_t limit,
		    kunwind_abort_fn *abort, void *data, struct kunwind_table **table)
{
	enum kunwind_refusal err;
	struct build *b;

	if (section->size >= IN_MORE || (section->more && section->more->size >= IN_MORE))
		return KUNWIND_E_LIMIT;
	b = kunwind_alloc(sizeof(*b));
	if (!b)
		return KUNWIND_E_NOMEM;
	b->section = section;
	b->keep = keep & KUNWIND_SAVED_REGS;
	b->abort = abort;
	b->abort_data = data;
	b->program.exprs = &b->pack.exprs;
	err = kunwind_pack_init(&b->pack, limit);
	if (!err)
		err = build(b, table);
	kunwind_pack_exit(&b->pack);
	kunwind_free(b->fdes);
	kunwind_free(b);
	return err;
}

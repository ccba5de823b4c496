// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * fde_list.c - list all FDEs of an object in address order; see fde_list.h
 */
#include "fde_list.h"

#define TICK_BYTES	KUNWIND_TICK_BYTES
#define RADIX_BITS	11
#define RADIX_PASSES	3	/* 33 bits >= 32 */
#define IN_MORE		KUNWIND_IN_MORE
#define CIE_WAYS	4	/* slots that a CIE can have */

static size_t cies_size(const struct kunwind_fde_list *f)
{
	return sizeof(*f->cies) << f->cie_bits;
}

enum kunwind_build_error kunwind_fde_list_init(struct kunwind_fde_list *f, u64 size)
{
	f->cie_bits = KUNWIND_CIE_BITS;
	while (f->cie_bits < KUNWIND_CIE_MAX_BITS && size / KUNWIND_CIE_BYTES >> f->cie_bits > 1)
		f->cie_bits++;
	f->cie_round = 1;
	f->cies = kunwind_budget_alloc(f->budget, cies_size(f));
	f->last_cie = f->cies;
	return f->cies ? KUNWIND_OK : kunwind_budget_error(f->budget);
}

/* Returns the slot of the CIE at @place (*found), or the slot to put it in. */
static __always_inline struct kunwind_cie_slot *cie_slot(struct kunwind_fde_list *f, u32 place,
							 bool *found)
{
	u32 home, mask = (1U << f->cie_bits) - 1, i;
	u64 key = (u64)f->cie_round << 32 | place;
	struct kunwind_cie_slot *s, *unused = NULL;

	*found = true;
	if (likely(f->last_cie->key == key))
		return f->last_cie;
	home = place * 0x9e3779b1U >> (32 - f->cie_bits);
	for (i = 0; i < CIE_WAYS; i++) {
		s = &f->cies[(home + i) & mask];
		if (likely(s->key == key))
			return f->last_cie = s;
		if (!unused && s->key >> 32 != f->cie_round)
			unused = s;
	}
	*found = false;
	return unused ? unused : &f->cies[(home + f->cie_turn++ % CIE_WAYS) & mask];
}

/*
 * Gets the CIE at @place and its initial row. Returns the build error if there
 * is none; a local one is kept in the slot. *slot is valid until the next call.
 */
static enum kunwind_build_error cie_get(struct kunwind_fde_list *f, u32 place,
					struct kunwind_cie_slot **slot)
{
	enum kunwind_build_error err;
	struct kunwind_cie_slot *s;
	bool found;

	s = cie_slot(f, place, &found);
	*slot = s;
	if (likely(found))
		return s->build_error;
	s->key = 0;
	err = kunwind_cie_read(kunwind_fde_list_section(f, place), place & ~IN_MORE, &s->cie);
	if (!kunwind_budget_work(f->budget, s->cie.size))
		return KUNWIND_E_LIMIT;
	f->ticks += s->cie.size / TICK_BYTES;
	if (!err) {
		f->program.follow = kunwind_fde_list_follow(f, &s->cie);
		f->program.section = kunwind_fde_list_section(f, place);
		err = kunwind_cfi_program_initial(&f->program, &s->cie);
	}
	if (err && !kunwind_build_error_local(err))
		return err;
	s->initial = f->program.row;
	s->build_error = err;
	s->key = (u64)f->cie_round << 32 | place;
	return err;
}

static enum kunwind_build_error fde_parse(struct kunwind_fde_list *f, u32 place,
					  const struct kunwind_record *record,
					  struct kunwind_cie_slot **slot, struct kunwind_fde *fde)
{
	enum kunwind_build_error err = cie_get(f, record->cie | (place & IN_MORE), slot);

	return err ? err : kunwind_fde_read(kunwind_fde_list_section(f, place), record,
					    &(*slot)->cie, fde);
}

enum kunwind_build_error
kunwind_fde_list_get(struct kunwind_fde_list *f, u32 place, struct kunwind_cie_slot **slot,
		     struct kunwind_fde *fde)
{
	struct kunwind_record record;
	enum kunwind_build_error err;

	err = kunwind_record_read(kunwind_fde_list_section(f, place), place & ~IN_MORE, &record);
	return err ? err : fde_parse(f, place, &record, slot, fde);
}

static bool bytes_same(const u8 *a, const u8 *a_end, const u8 *b, const u8 *b_end)
{
	return a_end - a == b_end - b && !memcmp(a, b, a_end - a);
}

enum kunwind_build_error kunwind_fde_list_compare(struct kunwind_fde_list *f, u32 place1,
						  u32 place2)
{
	struct kunwind_cie c1, *c2;
	struct kunwind_fde f1, f2;
	struct kunwind_cie_slot *slot;
	enum kunwind_build_error err;

	err = kunwind_fde_list_get(f, place1, &slot, &f1);
	if (err)
		return err;
	c1 = slot->cie;
	err = kunwind_fde_list_get(f, place2, &slot, &f2);
	if (err)
		return err;
	c2 = &slot->cie;
	if (c1.code != c2->code) {
		f->ticks += c1.size / TICK_BYTES;
		if (!kunwind_budget_work(f->budget, c1.size / sizeof(u64)))
			return KUNWIND_E_LIMIT;
		if (c1.code_align != c2->code_align || c1.data_align != c2->data_align ||
		    c1.ra != c2->ra ||
		    c1.encoding != c2->encoding || c1.signal != c2->signal ||
		    !bytes_same(c1.code, c1.code_end, c2->code, c2->code_end))
			return KUNWIND_E_OVERLAP;
	}
	f->ticks += (f1.code_end - f1.code) / TICK_BYTES;
	return bytes_same(f1.code, f1.code_end, f2.code, f2.code_end) ?
	       KUNWIND_OK : KUNWIND_E_OVERLAP;
}

/*
 * Finds the next CIE or FDE of a section from @offset on, after @nr_fdes FDEs,
 * or the section's end. If the exact size is not known (open_end), the section
 * ends where no record is: a program linked without crtend.o has no terminator.
 */
static enum kunwind_build_error record_next(struct kunwind_fde_list *f,
					    const struct kunwind_section *section, size_t offset,
					    u32 nr_fdes, struct kunwind_record *record)
{
	enum kunwind_build_error err;

	for (;; offset = record->end) {
		err = kunwind_record_read(section, offset, record);
		if (err && section->open_end && nr_fdes >= section->min_fdes)
			break;
		if (err)
			return err;
		if (record->kind != KUNWIND_RECORD_ZERO)
			return kunwind_fde_list_tick(f);
		if (nr_fdes >= section->min_fdes)
			break;
		err = kunwind_fde_list_tick(f);
		if (err)
			return err;
	}
	record->kind = KUNWIND_RECORD_END;
	return KUNWIND_OK;
}

/* Counts the FDEs, including empty ones. */
static enum kunwind_build_error fdes_count(struct kunwind_fde_list *f,
					   const struct kunwind_section *section, u32 *nr)
{
	struct kunwind_record record = { .end = 0 };
	enum kunwind_build_error err;

	for (*nr = 0;; *nr += record.kind == KUNWIND_RECORD_FDE) {
		err = record_next(f, section, record.end, *nr, &record);
		if (err || record.kind == KUNWIND_RECORD_END)
			return err;
	}
}

/*
 * Lists the FDEs that cover some code. Ignores others, as all unwinders do.
 * @in: 0 or IN_MORE.
 */
static enum kunwind_build_error fdes_list(struct kunwind_fde_list *f, u32 in)
{
	const struct kunwind_section *section = kunwind_fde_list_section(f, in);
	struct kunwind_record record = { .end = 0 };
	u64 lo = f->section->lo, hi = f->section->hi;
	u32 nr = 0;

	for (;;) {
		enum kunwind_build_error err;
		struct kunwind_fde fde;
		struct kunwind_cie_slot *slot;

		err = record_next(f, section, record.end, nr, &record);
		if (err || record.kind == KUNWIND_RECORD_END)
			return err;
		if (record.kind != KUNWIND_RECORD_FDE)
			continue;
		nr++;
		err = fde_parse(f, in, &record, &slot, &fde);
		if (!err && (!fde.len || fde.start >= hi || fde.start + fde.len <= lo))
			continue;
		if (!err && (min(fde.start + fde.len, hi) - lo > 0xffffffffU ||
			     (section->strict && (fde.start < lo || fde.start + fde.len > hi))))
			err = KUNWIND_E_RANGE;
		if (!err && fde.code_end - fde.code > KUNWIND_FDE_MAX_CODE)
			err = KUNWIND_E_OPERAND;
		if (err) {
			err = kunwind_fde_list_unread(f, err);
			if (err)
				return err;
			continue;
		}
		f->list[f->nr++] = (max(fde.start, lo) - lo) << 32 | record.begin | in;
	}
}

/* Sorts by address. Stable: FDEs of equal start stay in the file's order. */
static enum kunwind_build_error fdes_sort(struct kunwind_budget *budget, u64 *fdes, u32 nr)
{
	const size_t counts_size = sizeof(u32) << RADIX_BITS;
	u64 *from = fdes, *to, *scratch, *swap;
	u32 *counts, pass, i;

	for (i = 1; i < nr; i++)
		if (from[i - 1] >> 32 > from[i] >> 32)
			break;
	if (i >= nr)
		return KUNWIND_OK;

	scratch = kunwind_budget_alloc(budget, nr * sizeof(*scratch));
	counts = kunwind_budget_alloc(budget, counts_size);
	if (!scratch || !counts) {
		kunwind_budget_free(budget, scratch, nr * sizeof(*scratch));
		kunwind_budget_free(budget, counts, counts_size);
		return kunwind_budget_error(budget);
	}
	to = scratch;
	for (pass = 0; pass < RADIX_PASSES; pass++) {
		unsigned int shift = 32 + pass * RADIX_BITS;
		u32 mask = (1U << RADIX_BITS) - 1, sum = 0;

		memset(counts, 0, counts_size);
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
	kunwind_budget_free(budget, scratch, nr * sizeof(*scratch));
	kunwind_budget_free(budget, counts, counts_size);
	return KUNWIND_OK;
}

/*
 * Merges the first @nr_eh FDEs of the list, those of .eh_frame, with the rest,
 * those of .debug_frame. Drops each FDE of .debug_frame that overlaps one of
 * .eh_frame.
 */
static enum kunwind_build_error fdes_merge(struct kunwind_fde_list *f, u32 nr_eh)
{
	u32 i = 0, j = nr_eh, n = 0;
	u64 end = 0, *merged;	/* highest end of .eh_frame's FDEs so far */
	const u32 room = f->nr;

	merged = kunwind_budget_alloc(f->budget, room * sizeof(*merged));
	if (!merged)
		return kunwind_budget_error(f->budget);
	while (i < nr_eh || j < f->nr) {
		bool eh = j == f->nr ||
			  (i < nr_eh && f->list[i] >> 32 <= f->list[j] >> 32);
		enum kunwind_build_error err;
		struct kunwind_fde fde;
		struct kunwind_cie_slot *slot;
		u64 next = ~0ULL;

		err = kunwind_fde_list_get(f, (u32)f->list[eh ? i : j], &slot, &fde);
		if (!err)
			err = kunwind_fde_list_tick(f);
		if (err) {
			kunwind_budget_free(f->budget, merged, room * sizeof(*merged));
			return err;
		}
		if (eh) {
			end = max(end, fde.start + fde.len);
			merged[n++] = f->list[i++];
			continue;
		}
		if (i < nr_eh)
			next = kunwind_fde_list_start(f, i);
		if (fde.start >= end && fde.start + fde.len <= next)
			merged[n++] = f->list[j];
		j++;
	}
	kunwind_budget_free(f->budget, f->list, f->room * sizeof(*f->list));
	f->list = merged;
	f->nr = n;
	f->room = room;
	return KUNWIND_OK;
}

enum kunwind_build_error kunwind_fde_list_read(struct kunwind_fde_list *f, size_t limit)
{
	u32 nr_eh, nr = 0, nr_more = 0;
	enum kunwind_build_error err;

	err = fdes_count(f, f->section, &nr);
	if (!err && f->section->more)
		err = fdes_count(f, f->section->more, &nr_more);
	if (err)
		return err;
	if (!nr && !nr_more)
		return KUNWIND_E_NO_CFI;
	if ((u64)nr + nr_more > limit / sizeof(*f->list))
		return KUNWIND_E_LIMIT;
	f->list = kunwind_budget_alloc(f->budget, ((size_t)nr + nr_more) * sizeof(*f->list));
	if (!f->list)
		return kunwind_budget_error(f->budget);
	f->room = nr + nr_more;
	err = fdes_list(f, 0);
	nr_eh = f->nr;
	if (!err)
		err = fdes_sort(f->budget, f->list, nr_eh);
	if (!err && nr_more) {
		err = fdes_list(f, IN_MORE);
		if (!err)
			err = fdes_sort(f->budget, f->list + nr_eh, f->nr - nr_eh);
		if (!err && f->nr > nr_eh)
			err = fdes_merge(f, nr_eh);
	}
	if (!err && !f->nr)
		err = f->unread ? f->unread : KUNWIND_E_NO_CFI;
	return err;
}

void kunwind_fde_list_forget_cies(struct kunwind_fde_list *f)
{
	f->cie_round++;
}

void kunwind_fde_list_exit(struct kunwind_fde_list *f)
{
	kunwind_budget_free(f->budget, f->list, f->room * sizeof(*f->list));
	f->list = NULL;
	kunwind_budget_free(f->budget, f->cies, cies_size(f));
	f->cies = NULL;
	kunwind_cfi_program_exit(&f->program);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * named_fdes.c - drop FDEs that .eh_frame_hdr replaces by others; see
 * named_fdes.h
 *
 * A tool that rewrites the code of functions in place (BOLT without relocations)
 * appends a new FDE for each to .eh_frame, and leaves the old one, which has the
 * same start. Only the search table of .eh_frame_hdr (LSB 5.0 core generic,
 * 10.6.2) says which of the two counts: it names one FDE for each start. Without
 * this, the two contradict each other, and their code has no rule.
 *
 * The table is sorted. It is read in windows of WINDOW entries, because FDEs are
 * mostly in the order of their addresses. At most MOST_READS windows for each
 * window of the table are read; the FDEs after that stay.
 */
#include "named_fdes.h"
#include "cfi.h"

#define WINDOW		512	/* entries, of 8 bytes */
#define MOST_READS	16
#define TICKS		4096	/* records between two calls of kunwind_resched() */

/* Both numbers count from the start of .eh_frame_hdr. */
struct entry {
	s32 start, fde;
};

struct search_table {
	kunwind_read_fn *read;
	void *file;
	const struct kunwind_elf *elf;
	u64 reads;			/* that are left */
	u32 nr;				/* entries in window[] */
	struct entry window[WINDOW];
};

static u64 address(const struct kunwind_elf *elf, s32 distance)
{
	const u64 sum = elf->search_base + (s64)distance;

	return elf->i386 ? (u32)sum : sum;
}

static bool window_read(struct search_table *s, u32 number)
{
	const u32 first = number * WINDOW;

	if (!s->reads)
		return false;
	s->reads--;
	s->nr = min(s->elf->search_nr - first, (u32)WINDOW);
	if (!s->read(s->file, s->elf->search_offset + 8ULL * first, s->window, 8 * s->nr))
		return true;
	s->nr = 0;
	return false;
}

/* The entry of the current window for @start, or the first one after it; s->nr: none. */
static u32 in_window(const struct search_table *s, u64 start)
{
	u32 lo = 0, hi = s->nr;

	while (lo < hi) {
		const u32 mid = lo + (hi - lo) / 2;

		if (address(s->elf, s->window[mid].start) < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool is_start(const struct search_table *s, u32 at, u64 start)
{
	return at < s->nr && address(s->elf, s->window[at].start) == start;
}

/* Gets the address of the FDE that the table names for @start. *err: KUNWIND_E_IO, or unchanged. */
static bool find(struct search_table *s, u64 start, u64 *fde, enum kunwind_build_error *err)
{
	u32 at, lo = 0, hi = (s->elf->search_nr - 1) / WINDOW + 1;

	at = in_window(s, start);
	/* Unless the entry is in the window, or would be: it begins before and ends after it. */
	while ((!at || at == s->nr) && !is_start(s, at, start) && lo < hi) {
		const u32 mid = lo + (hi - lo) / 2;

		if (!window_read(s, mid)) {
			if (s->reads)
				*err = KUNWIND_E_IO;
			return false;
		}
		at = in_window(s, start);
		if (at)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!is_start(s, at, start))
		return false;
	*fde = address(s->elf, s->window[at].fde);
	return true;
}

/* Reads the FDE of a record. False: it cannot be read, or is empty. */
static bool fde_of(const struct kunwind_section *section, const struct kunwind_record *record,
		   struct kunwind_cie *cie, size_t *cie_at, struct kunwind_fde *fde)
{
	if (*cie_at != record->cie) {
		*cie_at = ~(size_t)0;
		if (kunwind_cie_read(section, record->cie, cie))
			return false;
		*cie_at = record->cie;
	}
	return !kunwind_fde_read(section, record, cie, fde) && fde->len;
}

/* Whether an FDE for @start is at @addr. */
static bool is_fde(const struct kunwind_section *section, u64 addr, u64 start)
{
	struct kunwind_record record;
	struct kunwind_cie cie;
	struct kunwind_fde fde;
	size_t cie_at = ~(size_t)0;

	return addr - section->addr < section->size &&
	       !kunwind_record_read(section, addr - section->addr, &record) &&
	       record.kind == KUNWIND_RECORD_FDE &&
	       fde_of(section, &record, &cie, &cie_at, &fde) && fde.start == start;
}

/* Makes an FDE cover nothing. */
static void empty(const struct kunwind_section *section, const struct kunwind_record *record,
		  const struct kunwind_cie *cie, u8 *data)
{
	struct kunwind_bytes b = { .at = section->data + record->body,
				   .end = section->data + record->end };
	const u8 *len;
	u64 ignored;

	if (!kunwind_pointer_read(section, &b, cie->encoding, 0, &ignored))
		return;
	len = b.at;
	if (kunwind_pointer_read(section, &b, cie->encoding & 0x0f, 0, &ignored))
		memset(data + (len - section->data), 0, b.at - len);
}

/* The next record from @offset on that is a CIE or an FDE. False: the section ends. */
static bool next(const struct kunwind_section *section, size_t offset, u32 nr,
		 struct kunwind_record *record)
{
	for (;; offset = record->end) {
		if (kunwind_record_read(section, offset, record) ||
		    record->kind == KUNWIND_RECORD_END)
			return false;
		if (record->kind != KUNWIND_RECORD_ZERO)
			return true;
		if (nr >= section->min_fdes)
			return false;
	}
}

static u32 count(const struct kunwind_section *section)
{
	struct kunwind_record record = { };
	u32 nr = 0;

	while (next(section, record.end, nr, &record))
		if (record.kind == KUNWIND_RECORD_FDE && ++nr % TICKS == 0)
			kunwind_resched();
	return nr;
}

enum kunwind_build_error kunwind_named_fdes(kunwind_read_fn *read, void *file,
					    const struct kunwind_elf *elf, u8 *data)
{
	enum kunwind_build_error err = KUNWIND_OK;
	struct kunwind_section section[2];
	struct kunwind_record record = { };
	size_t cie_at = ~(size_t)0;
	struct kunwind_cie cie;
	struct kunwind_fde fde;
	struct search_table *s;
	u32 nr = 0;
	u64 named;

	kunwind_elf_sections(elf, data, NULL, section);
	if (!elf->eh_size || !elf->search_nr || count(section) <= elf->search_nr)
		return KUNWIND_OK;
	s = kunwind_alloc(sizeof(*s));
	if (!s)
		return KUNWIND_E_NOMEM;
	s->read = read;
	s->file = file;
	s->elf = elf;
	s->reads = MOST_READS * (elf->search_nr / WINDOW + 1ULL);
	s->nr = 0;
	while (!err && s->reads && next(section, record.end, nr, &record)) {
		if (record.kind != KUNWIND_RECORD_FDE)
			continue;
		if (++nr % TICKS == 0)
			kunwind_resched();
		if (fde_of(section, &record, &cie, &cie_at, &fde) &&
		    find(s, fde.start, &named, &err) &&
		    named != section->addr + record.begin && is_fde(section, named, fde.start))
			empty(section, &record, &cie, data);
	}
	kunwind_free(s);
	return err;
}

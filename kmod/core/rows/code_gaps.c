// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * code_gaps.c - the code of an ELF file that no CFI covers; see code_gaps.h
 *
 * A bit for each byte of code says whether an FDE covers it. FDEs that cannot be read cover
 * nothing. All work is paid for: the FDEs of real files do not overlap, so that marking
 * what they cover takes a step for each byte of bits and for each FDE. If the steps do not
 * suffice, there are no gaps. Task context; may sleep.
 */
#include "../cfi/cfi.h"
#include "../x86/insn_decode.h"
#include "code_gaps.h"

#define SHORTEST     32 /* bytes of a gap */
#define MOST_CODE    (256U << 20) /* bytes of executable segments */
#define MOST_GAPS    (16U << 20) /* bytes of gaps */
#define HIGHEST	     (1ULL << 47) /* no user address is above */
#define FLAG_X	     1 /* PF_X */
#define TICK	     8192 /* steps between two calls of abort() */
#define STEP	     16 /* bytes of a record */

struct cover {
	const struct kunwind_elf *elf;
	kunwind_abort_fn *abort;
	void *abort_data;
	u8 *covered;
	u64 first; /* address of the first bit */
	u64 bits;
	u64 left; /* steps */
	u64 tick; /* the number of steps left at which abort() is called */
	enum kunwind_build_error err;
};

/* Pays for @steps. False: the work is to end. */
static bool pay(struct cover *c, u64 steps)
{
	if (c->err || steps > c->left) {
		c->left = 0;
		return false;
	}
	c->left -= steps;
	if (c->left < c->tick) {
		c->tick = c->left > TICK ? c->left - TICK : 0;
		kunwind_resched();
		if (c->abort && c->abort(c->abort_data))
			c->err = KUNWIND_E_ABORTED;
	}
	return !c->err;
}

static void cover(struct cover *c, u64 start, u64 len)
{
	u64 from = start, to;

	if (!len || len > ~start || start + len <= c->first || start >= c->first + c->bits)
		return;
	from = max(start, c->first) - c->first;
	to = min(start + len - c->first, c->bits);
	if (!pay(c, 1 + (to - from) / 8))
		return;
	for (; from < to && from % 8; from++)
		c->covered[from / 8] |= 1 << from % 8;
	if (from < to) {
		memset(c->covered + from / 8, 0xff, (to - from) / 8);
		from += (to - from) / 8 * 8;
	}
	for (; from < to; from++)
		c->covered[from / 8] |= 1 << from % 8;
}

/* Returns the first bit from @at on, and below @end, that is @covered; or @end. */
static u64 find(struct cover *c, u64 at, u64 end, bool covered)
{
	const u8 others = covered ? 0 : 0xff;

	while (at < end && pay(c, 1)) {
		if (c->covered[at / 8] == others) {
			at = at / 8 * 8 + 8;
			continue;
		}
		if ((c->covered[at / 8] >> at % 8 & 1) == covered)
			return at;
		at++;
	}
	return end;
}

static u64 steps_of(size_t bytes)
{
	return 1 + bytes / STEP;
}

/* Marks what the FDEs of a section cover. */
static void cover_section(struct cover *c, const struct kunwind_section *section)
{
	struct kunwind_record record = { .end = 0 };
	size_t cie_at = ~0UL;
	struct kunwind_cie cie;
	bool cie_read = false;
	u32 nr = 0;

	while (!kunwind_record_read(section, record.end, &record) &&
	       record.kind != KUNWIND_RECORD_END && pay(c, steps_of(record.end - record.begin))) {
		struct kunwind_fde fde;

		if (record.kind == KUNWIND_RECORD_ZERO && nr >= section->min_fdes)
			return;
		if (record.kind != KUNWIND_RECORD_FDE)
			continue;
		nr++;
		if (record.cie != cie_at) {
			cie_at = record.cie;
			cie_read = !kunwind_cie_read(section, cie_at, &cie);
			if (!pay(c, steps_of(cie.size)))
				return;
		}
		if (cie_read && !kunwind_fde_read(section, &record, &cie, &fde))
			cover(c, fde.start, fde.len);
	}
}

static void add(struct kunwind_code_gaps *gaps, u64 start, u64 end, u64 place)
{
	end = min(end, start + (MOST_GAPS - gaps->bytes));
	if (end - start < SHORTEST || gaps->nr == KUNWIND_GAPS_MOST)
		return;
	gaps->gap[gaps->nr++] = (struct kunwind_code_gap){ start, end, place, gaps->bytes };
	gaps->bytes += end - start;
}

/* Adds the gaps in [@from, @to), which is a part of the code. */
static void add_gaps(struct cover *c, const struct kunwind_elf_load *load, u64 from, u64 to,
		     struct kunwind_code_gaps *gaps)
{
	const u64 end = to - c->first;
	u64 at = from - c->first, begin;

	while (at < end) {
		begin = find(c, at, end, false);
		at = find(c, begin, end, true);
		if (begin < at)
			add(gaps, begin + c->first, at + c->first,
			    load->offset + (begin + c->first - load->vaddr));
	}
}

/* Most bits for the code of @elf; 0: there is no code, or too much. */
static u64 bits_of(const struct kunwind_elf *elf)
{
	if (elf->code_lo >= elf->code_hi || elf->code_hi - elf->code_lo > MOST_CODE ||
	    elf->code_hi > HIGHEST)
		return 0;
	return elf->code_hi - elf->code_lo;
}

size_t kunwind_code_gaps_memory(const struct kunwind_elf *elf)
{
	return kunwind_code_power(sizeof(struct kunwind_code_gaps)) +
	       kunwind_code_power(bits_of(elf) / 8 + 1);
}

enum kunwind_build_error kunwind_code_gaps_find(const struct kunwind_elf *elf,
						const struct kunwind_section *section,
						kunwind_abort_fn *abort, void *abort_data,
						struct kunwind_code_gaps *gaps)
{
	struct cover c = { .elf = elf, .abort = abort, .abort_data = abort_data };
	u64 from = 0;
	u32 i;

	c.bits = bits_of(elf);
	if (!c.bits)
		return KUNWIND_OK;
	c.first = elf->code_lo;
	c.covered = kunwind_alloc(c.bits / 8 + 1);
	if (!c.covered)
		return KUNWIND_E_NOMEM;
	/* marking bits; looking at them, one by one near the ends of FDEs; reading records and CIEs */
	c.left = c.tick = c.bits / 2 + 3 * (elf->eh_size + elf->debug_size) + TICK;
	for (; section; section = section->more)
		cover_section(&c, section);
	for (i = 0; i < elf->nr_loads && c.left; i++) {
		const struct kunwind_elf_load *load = &elf->load[i];
		const u64 start = max(max(load->vaddr, from), elf->code_lo);
		const u64 end = min(load->vaddr + load->filesz, elf->code_hi);

		if (!(load->flags & FLAG_X) || start >= end)
			continue;
		add_gaps(&c, load, start, end, gaps);
		from = end;
	}
	kunwind_free(c.covered);
	if (!c.left)
		gaps->nr = gaps->bytes = 0;
	return c.err;
}

enum kunwind_build_error kunwind_code_gaps_read(kunwind_read_fn *read, void *file,
						struct kunwind_code_gaps *gaps)
{
	u32 i;

	/* The decoder may read behind the last instruction. */
	gaps->code = kunwind_alloc(gaps->bytes + 8 * KUNWIND_TEXT_BEHIND);
	if (!gaps->code)
		return KUNWIND_E_NOMEM;
	for (i = 0; i < gaps->nr; i++) {
		const struct kunwind_code_gap *gap = &gaps->gap[i];

		if (read(file, gap->place, gaps->code + gap->before, gap->end - gap->start))
			return KUNWIND_E_IO;
	}
	return KUNWIND_OK;
}

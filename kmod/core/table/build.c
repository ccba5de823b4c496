// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * build.c - compile .eh_frame and .debug_frame into a packed table
 *
 * 1. List all FDEs, sorted by address (fde_list.c).
 * 2. Sweep over the FDEs in ascending order, run each FDE's program and hand
 *    its rows to pack.c. Addresses without an FDE get a row without a rule.
 * 3. If a CFA needs a callee-saved register that is not followed, find the
 *    registers that the other FDEs need, and those that the rules of these
 *    registers read in turn, and repeat step 2 with all of them. This happens
 *    at most once, except near the start of the section, where step 2 is
 *    repeated at once. Hardly any code except hand-written cryptography has
 *    such CFAs.
 *
 * Overlaps: an FDE may lie within another one, which continues after it, and
 * may repeat another one byte for byte; neither is ambiguous. FDEs may also
 * contradict each other: the same start with another end or other instructions,
 * or an end within the next FDE's range. Then the addresses that both cover
 * have no rule, the others do. Of FDEs with the same start, .eh_frame_hdr may
 * name one; then the others are gone (named_fdes.c). Other unwinders take the FDE
 * at which their binary search ends. Compilers, assemblers and linkers make no such FDEs, and
 * GNU ld refuses them: the 4.6 million FDEs of 3,253 real objects do not
 * overlap at all. If FDEs are nested more deeply than KUNWIND_MAX_NESTED, the
 * FDE around the last one has no rule from there on.
 *
 * Data that cannot be read leaves only its own addresses without a rule: a row
 * whose CFA or return address depends on an unknown operation or register, or
 * whose expressions are too long; the rows of an FDE from an unknown or invalid
 * instruction on. elfutils, too, reads all rows before such an instruction.
 *
 * Task context; may sleep. Time is linear in the section, whatever its bytes:
 * each FDE is processed a fixed number of times, each instruction takes
 * constant time (a changed row makes one rule of at most 18 entries, an
 * unchanged one none), and all repeated work is paid for from a budget
 * (budget.h). This includes an FDE's program, which runs again after each FDE
 * inside its range. tests/unit/build-cost-test.c and
 * tests/fuzz/fuzz-cost-build.c count the work.
 *
 * Memory: the table and, until it is written, its draft, which is smaller
 * (pack.h); before that, what fde_list.h says. With real objects, a build never
 * takes more than the table's size and 64 KB in addition to the table; it never
 * takes more than the budget.
 */
#include "build.h"
#include "rule.h"

/* The rule of a row from code, of a kind that rows/ makes. */
static struct kunwind_rule from_code(struct kunwind_rule rule, bool moved)
{
	const u8 kind = rule.kind & KUNWIND_RULE_KIND;

	if (kind != KUNWIND_RULE_CFA && kind != KUNWIND_RULE_DEREF)
		return (struct kunwind_rule){ .kind = KUNWIND_RULE_NONE };
	rule.reg |= moved ? KUNWIND_RULE_FLAGS : KUNWIND_RULE_CODE;
	return rule;
}

/*
 * Makes the rows of FDE @a within [from, to). Runs its program to the end, so
 * that it finds the same registers as the first stage of a build in parts.
 */
static enum kunwind_build_error fde_rows(struct kunwind_build *b, const struct kunwind_active *a,
					 u64 from, u64 to)
{
	static const struct kunwind_rule none;
	struct kunwind_cfi_program *p = &b->fdes.program;
	enum kunwind_build_error err;
	struct kunwind_rule rule;
	struct kunwind_cie_slot *slot;
	struct kunwind_fde fde;
	bool packed = false;	/* the row before this one was packed */

	err = kunwind_fde_list_get(&b->fdes, a->place, &slot, &fde);
	if (err)
		return err;
	/* instructions without rows take time, too */
	b->fdes.ticks += (fde.code_end - fde.code) / KUNWIND_TICK_BYTES;
	b->swept += KUNWIND_FDE_BYTES + (fde.code_end - fde.code);
	if (from != a->start && !kunwind_budget_work(&b->budget, 2 * (fde.code_end - fde.code)))
		return KUNWIND_E_LIMIT;

	p->follow = kunwind_fde_list_follow(&b->fdes, &slot->cie);
	p->section = kunwind_fde_list_section(&b->fdes, a->place);
	kunwind_cfi_program_begin(p, &slot->cie, &slot->initial, &fde);
	for (;;) {
		err = kunwind_cfi_program_next(p);
		if (unlikely(err)) {
			err = kunwind_fde_list_unread(&b->fdes, err);
			if (err || p->from >= to)
				return err;
			return kunwind_pack_row(&b->pack, max(p->from, from) - b->base, none);
		}
		if (p->from == p->to)
			return KUNWIND_OK;
		if (unlikely(p->to <= from || p->from >= to))
			continue;
		if (likely(p->changed || !packed)) {
			err = kunwind_rule_of(&b->pack, &p->row, slot->cie.signal,
					      -(s32)kunwind_word(b->fdes.section->i386), &rule);
			if (unlikely(slot->cie.from_code) && rule.kind)
				rule = from_code(rule, slot->cie.moved);
			else
				b->any_cfi |= rule.kind;
			if (likely(!err))
				err = kunwind_pack_row(&b->pack, max(p->from, from) - b->base, rule);
			packed = true;
		}
		if (likely(!err))
			err = kunwind_fde_list_tick(&b->fdes);
		if (unlikely(err))
			return err;
	}
}

/* Makes the rows of [*at, to) from the active FDEs. */
static enum kunwind_build_error fill(struct kunwind_build *b, u64 *at, u64 to)
{
	static const struct kunwind_rule none;
	enum kunwind_build_error err;

	while (*at < to && b->nr_active) {
		const struct kunwind_active *top = &b->active[b->nr_active - 1];

		if (top->end > *at) {
			u64 end = min(top->end, to);

			if (unlikely(top->place == KUNWIND_NO_PLACE))
				err = kunwind_pack_row(&b->pack, *at - b->base, none);
			else
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

static enum kunwind_build_error look(struct kunwind_build *b, u32 place)
{
	struct kunwind_cie_slot *slot;
	enum kunwind_build_error err;
	struct kunwind_fde fde;

	if (place == KUNWIND_NO_PLACE)
		return KUNWIND_OK;
	err = kunwind_fde_list_get(&b->fdes, place, &slot, &fde);
	return err ? err : kunwind_build_look(b, place, &fde);
}

enum kunwind_build_error kunwind_build_activate(struct kunwind_build *b, u32 place,
						struct kunwind_fde *fde)
{
	u64 end, disputed = 0;
	struct kunwind_cie_slot *slot;
	enum kunwind_build_error err;
	bool deep;

	err = kunwind_fde_list_get(&b->fdes, place, &slot, fde);
	if (!err)
		err = kunwind_fde_list_tick(&b->fdes);
	if (err)
		return err;
	end = min(fde->start + fde->len, b->fdes.section->hi);
	fde->len = end - fde->start;
	if (likely(!b->nr_active)) {
		b->active[b->nr_active++] = (struct kunwind_active){
			.place = place, .start = fde->start, .end = end,
		};
		return KUNWIND_OK;
	}
	/* all active FDEs reach beyond its start */
	for (; b->nr_active; b->nr_active--) {
		struct kunwind_active *outer = &b->active[b->nr_active - 1];

		if (outer->start < fde->start && outer->end > end)
			break;
		/* an outer FDE with the same end does not continue after it */
		if (outer->start < fde->start && outer->end == end)
			continue;
		err = KUNWIND_E_OVERLAP;
		if (outer->start == fde->start && outer->end == end &&
		    outer->place != KUNWIND_NO_PLACE && !disputed)
			err = kunwind_fde_list_compare(&b->fdes, outer->place, place);
		if (!err)
			return KUNWIND_OK;
		err = kunwind_fde_list_unread(&b->fdes, err);
		if (!err && !outer->looked)
			err = look(b, outer->place);
		if (err)
			return err;
		outer->looked = true;
		disputed = max(disputed, min(outer->end, end));
		if (outer->end > end)
			break;
	}
	deep = b->nr_active + (disputed < end) + !!disputed > KUNWIND_MAX_NESTED;
	/*
	 * An FDE that contradicts another one may have no rows. The first stage
	 * of a build in parts looks at all FDEs, and this build has to find the
	 * same registers.
	 */
	if (deep || disputed) {
		err = kunwind_fde_list_unread(&b->fdes, KUNWIND_E_OVERLAP);
		if (!err)
			err = look(b, place);
		if (err)
			return err;
	}
	if (deep) {
		/* The FDE around it has no rule from here on. */
		b->active[b->nr_active - 1].place = KUNWIND_NO_PLACE;
		return KUNWIND_OK;
	}
	if (disputed < end)
		b->active[b->nr_active++] = (struct kunwind_active){
			.place = place, .start = fde->start, .end = end, .looked = disputed,
		};
	if (disputed)
		b->active[b->nr_active++] = (struct kunwind_active){
			.place = KUNWIND_NO_PLACE, .start = fde->start, .end = disputed,
		};
	return KUNWIND_OK;
}

enum kunwind_build_error kunwind_build_sweep(struct kunwind_build *b, u32 first, u32 last, u64 *end)
{
	enum kunwind_build_error err;
	struct kunwind_fde fde;
	u64 at = kunwind_fde_list_start(&b->fdes, first);
	u32 i;

	b->base = at;
	b->swept = 0;
	*end = at;
	b->nr_active = 0;
	for (i = first; i < last && !kunwind_fde_list_missing(&b->fdes); i++) {
		err = fill(b, &at, kunwind_fde_list_start(&b->fdes, i));
		if (!err)
			err = kunwind_build_activate(b, (u32)b->fdes.list[i], &fde);
		if (err)
			return err;
	}
	while (b->nr_active) {
		err = fill(b, &at, b->active[b->nr_active - 1].end);
		if (err)
			return err;
	}
	*end = at;
	if (b->swept <= b->early)
		return KUNWIND_OK;
	/* find all others, so that the next sweep need not end early */
	for (; i < last && kunwind_fde_list_missing(&b->fdes); i++) {
		err = kunwind_fde_list_tick(&b->fdes);
		if (!err)
			err = look(b, (u32)b->fdes.list[i]);
		if (err)
			return err;
	}
	return KUNWIND_OK;
}

enum kunwind_build_error kunwind_build_look(struct kunwind_build *b, u32 place,
					    const struct kunwind_fde *fde)
{
	struct kunwind_cfi_program *p = &b->fdes.program;
	struct kunwind_cie_slot *slot;
	enum kunwind_build_error err;
	struct kunwind_fde again;

	p->section = kunwind_fde_list_section(&b->fdes, place);
	b->fdes.ticks += (fde->code_end - fde->code) / KUNWIND_TICK_BYTES;
	if (likely(kunwind_cfi_program_look(p, fde)))
		return KUNWIND_OK;
	err = kunwind_fde_list_get(&b->fdes, place, &slot, &again);
	if (err)
		return err;
	p->follow = kunwind_fde_list_follow(&b->fdes, &slot->cie);
	kunwind_cfi_program_begin(p, &slot->cie, &slot->initial, &again);
	do {
		err = kunwind_cfi_program_next(p);
		if (!err)
			err = kunwind_fde_list_tick(&b->fdes);
	} while (!err && p->from != p->to);
	return kunwind_fde_list_unread(&b->fdes, err);
}

enum kunwind_build_error
kunwind_build_init(struct kunwind_build *b, const struct kunwind_section *section, u32 keep,
		   size_t limit, kunwind_abort_fn *abort, void *data)
{
	u64 size = section->size, memory = (u64)limit * KUNWIND_MEMORY_FACTOR;
	enum kunwind_build_error err;

	if (section->more)
		size += section->more->size;
	if (section->size >= KUNWIND_IN_MORE ||
	    (section->more && section->more->size >= KUNWIND_IN_MORE))
		return KUNWIND_E_LIMIT;
	if (memory < sizeof(*b))
		return KUNWIND_E_LIMIT;
	b->budget.memory = memory - sizeof(*b);
	b->budget.work = KUNWIND_WORK_FACTOR * size + KUNWIND_WORK_BASE;
	b->early = size / KUNWIND_EARLY;
	b->fdes.budget = &b->budget;
	b->fdes.section = section;
	b->fdes.keep = keep & kunwind_saved_regs(section->i386);
	b->fdes.abort = abort;
	b->fdes.abort_data = data;
	b->fdes.program.exprs = &b->pack.exprs;
	b->fdes.program.budget = &b->budget;
	b->fdes.program.most_remembered =
		min(b->budget.memory / 4 / sizeof(*b->fdes.program.remembered),
		    (size_t)KUNWIND_MAX_REMEMBERED);
	err = kunwind_fde_list_init(&b->fdes, size);
	return err ? err : kunwind_pack_init(&b->pack, limit, &b->budget);
}

void kunwind_build_exit(struct kunwind_build *b)
{
	kunwind_pack_exit(&b->pack);
	kunwind_fde_list_exit(&b->fdes);
}

bool kunwind_build_again(struct kunwind_build *b)
{
	u32 missing;

	if (!kunwind_fde_list_missing(&b->fdes))
		return false;
	/* at most one round for each register: its rules may read others */
	do {
		missing = kunwind_fde_list_missing(&b->fdes);
		b->fdes.keep |= missing;
		for (; missing; missing &= missing - 1)
			b->fdes.program.needed |= b->fdes.program.reads[__builtin_ctz(missing)];
	} while (kunwind_fde_list_missing(&b->fdes));
	/* the initial rows and the draft followed fewer registers */
	kunwind_fde_list_forget_cies(&b->fdes);
	kunwind_pack_reset(&b->pack);
	return true;
}

static enum kunwind_build_error build(struct kunwind_build *b, struct kunwind_table **table)
{
	struct kunwind_table_stats head;
	enum kunwind_build_error err;
	u64 end;

	err = kunwind_fde_list_read(&b->fdes, b->pack.limit);
	if (err)
		return err;
	do {
		err = kunwind_build_sweep(b, 0, b->fdes.nr, &end);
		if (err)
			return err;
	} while (kunwind_build_again(b));
	if (b->fdes.unread && !b->any_cfi)
		return b->fdes.unread;
	head = (struct kunwind_table_stats){
		.base = b->base,
		.span = end - b->base,
		.nr_fdes = b->fdes.nr,
		.keep = b->fdes.keep,
		.needed = b->fdes.program.needed & kunwind_saved_regs(b->fdes.section->i386),
		.entry = b->fdes.section->entry,
		.i386 = b->fdes.section->i386,
	};
	/* free all else before the table is written beside its draft */
	kunwind_fde_list_exit(&b->fdes);
	return kunwind_pack_finish(&b->pack, &head, table);
}

enum kunwind_build_error
kunwind_table_build(const struct kunwind_section *section, u32 keep, size_t limit,
		    kunwind_abort_fn *abort, void *data, struct kunwind_table **table)
{
	struct kunwind_build *b = kunwind_alloc(sizeof(*b));
	enum kunwind_build_error err;

	if (!b)
		return KUNWIND_E_NOMEM;
	err = kunwind_build_init(b, section, keep, limit, abort, data);
	if (!err)
		err = build(b, table);
	kunwind_build_exit(b);
	kunwind_free(b);
	return err;
}

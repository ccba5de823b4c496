// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * build_parts.c - build the tables of big objects in two stages
 *
 * The first stage lists all FDEs, sorted, as build.c does; checks all of them
 * for contradictions; and cuts the list into parts of part_fdes FDEs, only at
 * places that no FDE spans (so a part with nested FDEs may have more). The
 * result is a table that has no rows, only a directory of the parts. Walks can
 * use it at once: they mark the part that they miss. The first stage takes a
 * third of the time of a whole build.
 *
 * The second stage runs the FDEs of one part and makes a table of its own for
 * it. The parts can be built in any order, so wanted parts come first.
 *
 * All parts follow the same registers, as do the rows of a whole table. The
 * first stage therefore reads the instructions to find the registers that CFAs
 * need: it looks only at the operands of an FDE with common instructions, and
 * runs the program of any other. It finds exactly what build.c finds, so a
 * table in parts gives the same result as a whole one, row for row.
 *
 * Instructions that cannot be read are mostly found only in the second stage.
 * Their addresses then have no rule, even if the object has no other rows;
 * kunwind_table_build() refuses an object without other rows.
 *
 * Task context; may sleep, except kunwind_build_parts_wanted() (any context).
 *
 * Memory: until kunwind_build_parts_end() the list (8 bytes for each FDE), the
 * CIEs (fde_list.h), a draft of one part, and 10 KB; then 24 bytes for each
 * part, and the table's header for each.
 */
#include "build.h"
#include "table.h"

struct kunwind_build_parts {
	struct kunwind_section section[2];
	struct kunwind_table *table;
	size_t limit, used;		/* bytes; used: list, directory and built parts */
	u32 next;			/* all parts before this one are built */
	struct kunwind_build build;
};

/* Looks at all FDEs: finds overlaps, parts, registers and the highest end. */
static enum kunwind_build_error look_over(struct kunwind_build_parts *s, u32 part_fdes)
{
	struct kunwind_parts *parts = s->table->parts;
	struct kunwind_build *b = &s->build;
	struct kunwind_fde fde;
	u32 i;

	parts->base = kunwind_fde_list_start(&b->fdes, 0);
	parts->span = 0;
	parts->nr = 0;
	b->nr_active = 0;
	for (i = 0; i < b->fdes.nr; i++) {
		u64 start = kunwind_fde_list_start(&b->fdes, i);
		u32 place = b->fdes.list[i];
		enum kunwind_build_error err;

		while (b->nr_active && b->active[b->nr_active - 1].end <= start)
			b->nr_active--;
		if (!i || (!b->nr_active && i - parts->part[parts->nr - 1].first >= part_fdes))
			parts->part[parts->nr++] = (struct kunwind_part){
				.addr = start - parts->base, .first = i,
			};
		err = kunwind_build_activate(b, place, &fde);
		if (!err)
			err = kunwind_build_look(b, place, &fde);
		if (err)
			return err;
		parts->span = max(parts->span, fde.start + fde.len - parts->base);
	}
	return KUNWIND_OK;
}

static enum kunwind_build_error first_stage(struct kunwind_build_parts *s, u32 part_fdes)
{
	struct kunwind_build *b = &s->build;
	enum kunwind_build_error err;
	u32 most;
	size_t size;

	err = kunwind_fde_list_read(&b->fdes, s->limit);
	if (err)
		return err;
	most = b->fdes.nr / part_fdes + 1;
	size = sizeof(*s->table) + sizeof(*s->table->parts) +
	       most * sizeof(*s->table->parts->part);
	s->used = b->fdes.nr * sizeof(*b->fdes.list) + size;
	if (s->used > s->limit)
		return KUNWIND_E_LIMIT;
	s->table = kunwind_budget_alloc(&b->budget, size);
	if (!s->table)
		return kunwind_budget_error(&b->budget);
	s->table->parts = (struct kunwind_parts *)(s->table + 1);

	do {
		err = look_over(s, part_fdes);
		if (err)
			return err;
	} while (kunwind_build_again(b));
	s->table->nr_fdes = b->fdes.nr;
	s->table->keep = b->fdes.keep;
	s->table->needed = b->fdes.program.needed & kunwind_saved_regs(s->section[0].i386);
	s->table->entry = s->section[0].entry;
	s->table->i386 = s->section[0].i386;
	s->table->bytes = kunwind_alloc_size(s->table, size);
	return KUNWIND_OK;
}

enum kunwind_build_error kunwind_build_parts_begin(const struct kunwind_section *section, u32 keep,
						   u32 part_fdes, size_t limit,
						   kunwind_abort_fn *abort, void *data,
						   struct kunwind_build_parts **build,
						   struct kunwind_table **table)
{
	struct kunwind_build_parts *s = kunwind_alloc(sizeof(*s));
	enum kunwind_build_error err;

	if (!s)
		return KUNWIND_E_NOMEM;
	s->section[0] = *section;
	if (section->more) {
		s->section[1] = *section->more;
		s->section[0].more = &s->section[1];
	}
	s->limit = limit;
	err = kunwind_build_init(&s->build, s->section, keep, limit, abort, data);
	if (!err)
		err = first_stage(s, part_fdes);
	if (err) {
		kunwind_free(s->table);
		kunwind_build_parts_end(s);
		return err;
	}
	*build = s;
	*table = s->table;
	return KUNWIND_OK;
}

u32 kunwind_build_parts_next(struct kunwind_build_parts *s, bool *wanted)
{
	struct kunwind_parts *parts = s->table->parts;
	u32 i;

	*wanted = true;
	if (READ_ONCE(parts->wanted)) {
		for (i = 0; i < parts->nr; i++)
			if (READ_ONCE(parts->part[i].wanted) && !parts->part[i].table)
				return i;
		/* A walk's request may be lost here: its part is then built in its turn. */
		WRITE_ONCE(parts->wanted, false);
	}
	*wanted = false;
	while (s->next < parts->nr && parts->part[s->next].table)
		s->next++;
	return s->next < parts->nr ? s->next : ~0U;
}

bool kunwind_build_parts_wanted(const struct kunwind_build_parts *s)
{
	return READ_ONCE(s->table->parts->wanted);
}

enum kunwind_build_error kunwind_build_parts_one(struct kunwind_build_parts *s, u32 i)
{
	struct kunwind_parts *parts = s->table->parts;
	struct kunwind_part *part = &parts->part[i];
	u32 last = i + 1 < parts->nr ? part[1].first : s->build.fdes.nr;
	struct kunwind_build *b = &s->build;
	struct kunwind_table_stats head;
	struct kunwind_table *table;
	enum kunwind_build_error err;
	u64 end;

	/* Free, not empty: each part would have to clear what one let grow. */
	kunwind_fde_list_forget_cies(&b->fdes);
	kunwind_pack_exit(&b->pack);
	err = kunwind_pack_init(&b->pack, s->limit - s->used, &b->budget);
	if (!err)
		err = kunwind_build_sweep(b, part->first, last, &end);
	if (err)
		return err;
	/*
	 * If the first stage missed a register, no table is better than a wrong
	 * one.
	 */
	if (kunwind_fde_list_missing(&b->fdes))
		return KUNWIND_E_ABORTED;
	head = (struct kunwind_table_stats){
		.base = b->base,
		.span = end - b->base,
		.nr_fdes = last - part->first,
		.keep = s->table->keep,
		.needed = s->table->needed,
		.i386 = s->table->i386,
	};
	err = kunwind_pack_finish(&b->pack, &head, &table);
	if (err)
		return err;
	/* The allocator may give more than the limit allows to ask for. */
	s->used = min(s->limit, s->used + table->bytes);
	smp_store_release(&part->table, table);
	WRITE_ONCE(parts->nr_built, parts->nr_built + 1);
	return KUNWIND_OK;
}

void kunwind_build_parts_end(struct kunwind_build_parts *s)
{
	if (!s)
		return;
	kunwind_build_exit(&s->build);
	kunwind_free(s);
}

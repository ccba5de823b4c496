/* SPDX-License-Identifier: MIT */
/*
 * parts.h - for tests: build a table in parts, and compare it with a whole one
 */
#ifndef _TEST_PARTS_H
#define _TEST_PARTS_H

#include "../../kmod/core/table/table.h"
#include "rule-text.h"

/*
 * Builds the directory and all parts; the parts in an order unrelated to that
 * of their addresses, as walks ask for them. Leaves *@table unchanged on
 * failure.
 */
static inline enum kunwind_build_error
parts_build(const struct kunwind_section *section, u32 keep, u32 part_fdes, size_t limit,
	    kunwind_abort_fn *abort, void *data, struct kunwind_table **table)
{
	struct kunwind_build_parts *builder;
	struct kunwind_table *made;
	enum kunwind_build_error err;
	bool wanted;
	u32 part;

	err = kunwind_build_parts_begin(section, keep, part_fdes, limit, abort, data, &builder,
					&made);
	if (err)
		return err;
	for (part = 1; part < made->parts->nr; part += 1 + part / 3) {
		made->parts->part[made->parts->nr - part].wanted = true;
		made->parts->wanted = true;
	}
	while (!err && (part = kunwind_build_parts_next(builder, &wanted)) != ~0U)
		err = kunwind_build_parts_one(builder, part);
	kunwind_build_parts_end(builder);
	if (err)
		kunwind_table_free(made);
	else
		*table = made;
	return err;
}

/* Writes a table's rule for @addr, as text, to @buf (16 KB). */
static inline void parts_text(const struct kunwind_table *table, u64 addr, char *buf)
{
	enum kunwind_reason reason = kunwind_table_part(&table, addr);
	struct kunwind_rule rule = kunwind_table_lookup(table, addr);

	if (reason != KUNWIND_COMPLETE) {
		sprintf(buf, "%s", kunwind_reason_name(reason));
		return;
	}
	rule_text(table, rule, ' ', buf);
	rule_rest(table, rule, buf + strlen(buf));
}

/* How many addresses were compared, and how many of them differ. */
struct parts_same {
	const struct kunwind_table *a, *b;
	u32 compared, different;
	u64 first;		/* the first address that differs */
};

static inline void parts_compare(struct parts_same *same, u64 addr)
{
	static char a[16384], b[16384];
	const struct kunwind_table *pa = same->a, *pb = same->b;
	struct kunwind_rule ra, rb;
	bool good;

	same->compared++;
	good = kunwind_table_part(&pa, addr) == kunwind_table_part(&pb, addr);
	ra = kunwind_table_lookup(pa, addr);
	rb = kunwind_table_lookup(pb, addr);
	if (good && (ra.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_FULL)
		good = !memcmp(&ra, &rb, sizeof(ra));
	else if (good) {
		parts_text(same->a, addr, a);
		parts_text(same->b, addr, b);
		good = !strcmp(a, b);
	}
	good = good && kunwind_table_keep(pa) == kunwind_table_keep(pb);
	if (!good && !same->different++)
		same->first = addr;
}

static inline int parts_row(void *data, u64 addr, struct kunwind_rule rule)
{
	(void)rule;
	parts_compare(data, addr);
	parts_compare(data, addr - 1);
	return 0;
}

/* Compares at each row of either table, and one byte before it. */
static inline struct parts_same parts_compare_all(const struct kunwind_table *whole,
						  const struct kunwind_table *parts)
{
	struct parts_same same = { .a = whole, .b = parts };
	u32 i;

	kunwind_table_for_each(whole, parts_row, &same);
	for (i = 0; i < parts->parts->nr; i++)
		if (parts->parts->part[i].table)
			kunwind_table_for_each(parts->parts->part[i].table, parts_row, &same);
	parts_compare(&same, whole->base + whole->span);
	parts_compare(&same, whole->base + whole->span - 1);
	return same;
}

#endif /* _TEST_PARTS_H */

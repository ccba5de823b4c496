/* SPDX-License-Identifier: MIT */
/*
 * build-parts-test.c - a table in parts has the rules of the whole table;
 * requested parts are built first; the first or second stage refuses
 * contradictory CFI
 */
#include "eh.h"
#include "object.h"
#include "parts.h"
#include "../../kmod/core/table/table.h"
#include "tap.h"

#define USUAL	"0c 07 08 90 01"
#define LIMIT	(1UL << 30)

static struct kunwind_section section_of(const struct eh *eh)
{
	return (struct kunwind_section){
		.data = eh->data, .size = eh->size, .addr = EH_ADDR,
		.text_base = TEXT_BASE, .data_base = DATA_BASE, .lo = TEXT_LO, .hi = TEXT_HI,
	};
}

/* Whether what is counted of a table is the sum of what is counted of its parts. */
static bool sums_up(const struct kunwind_table *table)
{
	struct kunwind_table_stats all, one, sum = { 0 };
	const struct kunwind_parts *parts = table->parts;
	u32 i;

	for (i = 0; i < parts->nr; i++) {
		kunwind_table_stats(parts->part[i].table, &one);
		sum.nr_fdes += one.nr_fdes;
		sum.nr_rows += one.nr_rows;
		sum.nr_rules += one.nr_rules;
		sum.nr_full += one.nr_full;
		sum.bytes += one.bytes;
	}
	kunwind_table_stats(table, &all);
	return all.nr_fdes == sum.nr_fdes && all.nr_rows == sum.nr_rows && all.nr_rules == sum.nr_rules &&
	       all.nr_full == sum.nr_full && all.bytes == sum.bytes + table->bytes;
}

/* Compares each row of a real object, if it is installed. */
static void test_object(const char *path, u32 part_fdes)
{
	struct kunwind_table *whole, *parts;
	struct kunwind_table_stats ws, ps;
	const char *name = strrchr(path, '/') + 1;
	struct parts_same same;
	struct object o;

	if (object_open(&o, path))
		return;
	if (!tap_ok(!kunwind_table_build(&o.section, 0, LIMIT, NULL, NULL, &whole) &&
		    !parts_build(&o.section, 0, part_fdes, LIMIT, NULL, NULL, &parts),
		    "parts: %s builds as a whole and in parts of %u FDEs", name, part_fdes))
		return;
	same = parts_compare_all(whole, parts);
	kunwind_table_stats(whole, &ws);
	kunwind_table_stats(parts, &ps);
	if (!tap_ok(!same.different && same.compared > 2 * ws.nr_rows,
		    "parts: %s: %u parts have the rules of the whole table at %u addresses",
		    name, ps.nr_parts,
		    same.compared))
		printf("# %u differ, the first at %#llx\n", same.different,
		       (unsigned long long)same.first);
	tap_ok(ps.nr_parts == ps.parts_built && ps.nr_fdes == ws.nr_fdes && ps.base == ws.base &&
	       ps.span == ws.span && ps.keep == ws.keep && ps.needed == ws.needed,
	       "parts: %s: the table has the FDEs, span and registers of the whole one", name);
	tap_ok(sums_up(parts), "parts: %s: rows, rules, full rules and bytes are those of all parts", name);
	tap_ok(o.elf.entry == ws.entry && o.elf.entry == ps.entry,
	       "parts: %s: both tables have the entry point", name);
	/* parts repeat rules, and each has its own head */
	tap_ok(part_fdes < 1024 || ps.bytes < ws.bytes + ws.bytes / 8 + 256ULL * ps.nr_parts,
	       "parts: %s: size is near that of the whole table: %llu and %llu bytes",
	       name, (unsigned long long)ps.bytes,
	       (unsigned long long)ws.bytes);
	kunwind_table_free(whole);
	kunwind_table_free(parts);
	object_close(&o);
}

struct made_case {
	const char *name;
	enum kunwind_build_error begin, build;	/* build_error of each stage */
	u32 nr_parts;			/* parts of one FDE where possible */
	struct {
		u32 start, len;
		const char *code;
	} fde[6];
};

static const struct made_case made[] = {
	{ "one FDE", 0, 0, 1, { { 0, 0x10, "" } } },
	{ "neighbours and a gap", 0, 0, 3,
	  { { 0, 0x10, "41 0e 10" }, { 0x10, 0x10, "" }, { 0x100, 0x10, "41 0e 20" } } },
	{ "unsorted", 0, 0, 3, { { 0x40, 0x10,
				  "0e 10" }, { 0, 0x10, "0e 18" }, { 0x20, 8, "0e 20" } } },
	{ "FDEs within another that goes on after them", 0, 0, 2,
	  { { 0, 0x40, "41 0e 10" }, { 0x10, 0x10, "0e 20" }, { 0x20, 4, "0e 28" }, { 0x40, 4, "" } } },
	{ "a repeated FDE", 0, 0, 2, { { 0, 0x10, "0e 10" }, { 0, 0x10, "0e 10" }, { 0x10, 4, "" } } },
	{ "a repeated FDE with other instructions", 0, 0, 2,
	  { { 0, 0x10, "0e 10" }, { 0, 0x10, "0e 18" }, { 0x10, 4, "" } } },
	{ "an FDE that ends inside the next", 0, 0, 2,
	  { { 0, 0x10, "" }, { 0x100, 0x18, "" }, { 0x110, 0x10, "" } } },
	{ "two FDEs with one start and different ends", 0, 0, 1, { { 0, 0x10, "" }, { 0, 0x18, "" } } },
	{ "a register that only an FDE without rows needs", 0, 0, 2,
	  { { 0, 0x10, "0d 03" }, { 0, 0x18, "0d 0c" }, { 0x20, 4, "83 02 8c 03" } } },
	{ "an FDE that two others leave without rows", 0, 0, 2,
	  { { 0, 0x10, "" }, { 8, 0x10, "0d 03" }, { 0xc, 0x14, "" }, { 0x40, 4, "83 02" } } },
	/* CFAs by rbx, and by r12 in an expression; both seen in stage 1 */
	{ "a register that only the last part needs", 0, 0, 3,
	  { { 0, 0x10, "83 02" }, { 0x10, 0x10, "8c 03 41 83 02" }, { 0x20, 0x10, "0d 03" } } },
	{ "a register that an expression needs", 0, 0, 3,
	  { { 0, 0x10,
	     "83 02" }, { 0x10, 0x10, "8c 03 41 83 02" }, { 0x20, 0x10, "0f 03 7c 08 06" } } },
	/* the sweep that follows rbx is the second one with the first FDE's full rule */
	{ "an expression before a register that is needed", 0, 0, 3,
	  { { 0, 0x10, "0f 02 77 10" }, { 0x10, 0x10, "0d 03" }, { 0x20, 0x10, "83 02" } } },
	/* the CFA needs rbx, which is kept in r13: the table follows both */
	{ "a register in which another one is kept", 0, 0, 3,
	  { { 0, 0x10, "8d 02" }, { 0x10, 0x10, "09 03 0d" }, { 0x20, 0x10, "0d 03" } } },
	/* instructions after one that cannot be read need no register */
	{ "an advance beyond the end of the FDE", 0, 0, 3,
	  { { 0, 0x10, "83 02" }, { 0x10, 0x10, "02 20 0d 03 0f 02 7c 08" }, { 0x20, 4, "8c 02" } } },
	{ "an unknown instruction", 0, 0, 3,
	  { { 0, 0x10, "83 02" }, { 0x10, 0x10, "0d 03 3f 0d 0c" }, { 0x20, 4, "8c 02" } } },
	{ "restore of a state that was not remembered", 0, 0, 2,
	  { { 0, 0x10, "0b 0d 03" }, { 0x10, 0x10, "83 02" } } },
	{ "a CFA offset that is too big", 0, 0, 2,
	  { { 0, 0x10, "41 0e ff ff ff ff 7f 0d 03" }, { 0x10, 0x10, "83 02" } } },
	{ "a CFA register without an offset", 0, 0, 2,
	  { { 0, 0x10, "0d 03" }, { 0x10, 0x10, "83 02" } } },
	{ "an operand beyond the record", 0, 0, 1,
	  { { 0, 0x10, "41 0f 7f 77 08" } } },
};

struct full_rules { s32 off[8]; u32 nr; };

static int add_full(void *data, u64 addr, struct kunwind_rule rule)
{
	struct full_rules *full = data;
	u32 i;

	(void)addr;
	if ((rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_FULL)
		return 0;
	for (i = 0; i < full->nr && full->off[i] != rule.off; i++)
		;
	if (i == full->nr && i < ARRAY_SIZE(full->off))
		full->off[full->nr++] = rule.off;
	return 0;
}

/* Whether a whole table counts the full rules that its rows have, however often it was swept. */
static bool counts_full(const struct kunwind_table *table)
{
	struct kunwind_table_stats stats;
	struct full_rules full = { .nr = 0 };

	kunwind_table_for_each(table, add_full, &full);
	kunwind_table_stats(table, &stats);
	return stats.nr_full == full.nr;
}

static void test_made(const struct made_case *c)
{
	struct kunwind_table *whole = NULL, *parts = NULL;
	enum kunwind_build_error begin, build, err = 0;
	struct kunwind_build_parts *builder;
	struct kunwind_section section;
	struct kunwind_table_stats ps;
	static struct eh eh;
	struct parts_same same;
	size_t cie;
	u32 i, part = ~0U;
	bool wanted;

	eh.size = 0;
	cie = eh_plain_cie(&eh, USUAL);
	for (i = 0; i < ARRAY_SIZE(c->fde) && c->fde[i].code; i++)
		eh_plain_fde(&eh, cie, TEXT_LO + c->fde[i].start, c->fde[i].len, c->fde[i].code);
	section = section_of(&eh);
	build = eh_build(&eh, 0, &whole);
	begin = kunwind_build_parts_begin(&section, 0, 1, LIMIT, NULL, NULL, &builder, &parts);
	if (!begin) {
		while (!err && (part = kunwind_build_parts_next(builder, &wanted)) != ~0U)
			err = kunwind_build_parts_one(builder, part);
		kunwind_build_parts_end(builder);
	}
	tap_ok(begin == c->begin && err == c->build && !build == !(c->begin || c->build),
	       "parts: %s: first stage %s, second stage %s, whole table %s",
	       c->name, kunwind_build_error_name(begin),
	       kunwind_build_error_name(err), kunwind_build_error_name(build));
	if (!begin) {
		kunwind_table_stats(parts, &ps);
		tap_ok(ps.nr_parts == c->nr_parts && (err || ps.parts_built == ps.nr_parts),
		       "parts: %s: the table has %u parts", c->name, ps.nr_parts);
	}
	if (!build && !begin && !err) {
		same = parts_compare_all(whole, parts);
		tap_ok(!same.different, "parts: %s: each address has the rule of the whole table", c->name);
		tap_ok(counts_full(whole), "parts: %s: the whole table counts its full rules", c->name);
	}
	if (!build)
		kunwind_table_free(whole);
	if (!begin)
		kunwind_table_free(parts);
}

/* A walk misses two of five parts; they are built; then all is given up. */
static void test_walk(void)
{
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	static struct kunwind_rule_cache cache;
	struct kunwind_table *table = NULL;
	struct kunwind_section section;
	struct kunwind_build_parts *builder;
	unsigned long addresses[8];
	struct kunwind_table_stats st;
	struct kunwind_walk walk;
	static struct eh eh;
	u64 stack[4] = { 0, TEXT_LO + 0x25, 0, 0 };
	u32 part, i, round;
	bool wanted;
	size_t cie;
	enum kunwind_reason reason;
	static const struct {
		u32 build;		/* part that must be wanted then */
		u32 count;
		enum kunwind_reason reason;
	} rounds[] = {
		{ 4, 1, KUNWIND_NOT_READY }, { 2, 2, KUNWIND_NOT_READY }, { ~0U, 3, KUNWIND_NO_OBJECT },
	};

	cie = eh_plain_cie(&eh, USUAL);
	for (i = 0; i < 5; i++)
		eh_plain_fde(&eh, cie, TEXT_LO + 0x10 * i, 0x10, "0e 10");
	section = section_of(&eh);
	/* the last frame's caller lies in no object */
	stack[3] = 0x700000;
	if (!tap_ok(!kunwind_build_parts_begin(&section, 0, 1, LIMIT, NULL, NULL, &builder, &table),
		    "walk: the table has five parts that are not built"))
		return;
	ranges->nr = 1;
	ranges->id = 1;
	ranges->range[0] = (struct kunwind_range){ .start = TEXT_LO, .end = TEXT_HI, .table = table };
	for (round = 0; round < ARRAY_SIZE(rounds); round++) {
		walk = (struct kunwind_walk){
			.ranges = ranges, .cache = &cache,
			.mem = { .lo = 0x7000, .hi = 0x7000 + sizeof(stack),
				 .delta = (u64)(uintptr_t)stack - 0x7000 },
			.addresses = addresses, .capacity = ARRAY_SIZE(addresses),
		};
		walk.regs.r[KUNWIND_RSP] = 0x7000;
		walk.regs.r[KUNWIND_RA] = TEXT_LO + 0x44;
		walk.regs.valid = KUNWIND_ALL_REGS;
		reason = kunwind_walk(&walk);
		part = kunwind_build_parts_next(builder, &wanted);
		tap_ok(reason == rounds[round].reason && walk.count == rounds[round].count,
		       "walk over missing parts: ends after %u addresses with %s",
		       walk.count, kunwind_reason_name(reason));
		if (rounds[round].build != ~0U)
			tap_ok(part == rounds[round].build && wanted &&
			       !kunwind_build_parts_one(builder, part),
			       "walk: the missed part %u is built next", part);
		else
			tap_ok(part == 0 && !wanted, "walk: no part was missed, part %u is next", part);
	}
	kunwind_table_stats(table, &st);
	tap_ok(st.nr_parts == 5 && st.parts_built == 2 && st.nr_rows == 2,
	       "walk: only the two missed parts are built");
	kunwind_table_retire(table, KUNWIND_NO_TABLE);
	ranges->id = 2;		/* the cache's entries are no longer valid */
	walk.regs.r[KUNWIND_RSP] = 0x7000;
	walk.regs.r[KUNWIND_RA] = TEXT_LO + 0x44;
	walk.regs.valid = KUNWIND_ALL_REGS & ~KUNWIND_REG(KUNWIND_RBP);
	stack[1] = 0;
	reason = kunwind_walk(&walk);
	tap_ok(reason == KUNWIND_NO_TABLE && walk.count == 1, "walk: a retired table has no rules: %s",
	       kunwind_reason_name(reason));
	kunwind_build_parts_end(builder);
	kunwind_table_drop(table);
	kunwind_table_stats(table, &st);
	tap_ok(!st.parts_built && !st.nr_rows, "walk: a dropped table has no parts");
	kunwind_table_free(table);
	free(ranges);
}

/* The limit includes all parts together and the list of FDEs. */
static void test_limit(const char *path)
{
	struct kunwind_table *table = NULL;
	struct kunwind_table_stats st;
	enum kunwind_build_error err;
	struct object o;
	size_t needed;

	if (object_open(&o, path))
		return;
	if (tap_ok(!parts_build(&o.section, 0, 256, LIMIT, NULL, NULL, &table),
		   "limit: the table is built with a high limit")) {
		kunwind_table_stats(table, &st);
		kunwind_table_free(table);
		needed = st.bytes + 8 * st.nr_fdes;
		err = parts_build(&o.section, 0, 256, needed - 1, NULL, NULL, &table);
		tap_ok(err == KUNWIND_E_LIMIT,
		       "limit: one byte less than the list and all parts is not enough: %s",
		       kunwind_build_error_name(err));
		err = parts_build(&o.section, 0, 256, needed, NULL, NULL, &table);
		if (tap_ok(!err, "limit: the bytes of the list and all parts are enough"))
			kunwind_table_free(table);
	}
	object_close(&o);
}

/* A walk misses several parts before the first of them is built. */
static void test_wanted(void)
{
	static const u32 order[] = { 1, 3, 4, 0, 2 };
	struct kunwind_section section;
	struct kunwind_build_parts *builder;
	struct kunwind_table *table;
	static struct eh eh;
	bool good = true, wanted;
	u32 i, part;
	size_t cie;

	eh.size = 0;
	cie = eh_plain_cie(&eh, USUAL);
	for (i = 0; i < 5; i++)
		eh_plain_fde(&eh, cie, TEXT_LO + 0x10 * i, 0x10, "0e 10");
	section = section_of(&eh);
	if (!tap_ok(!kunwind_build_parts_begin(&section, 0, 1, LIMIT, NULL, NULL, &builder, &table),
		    "wanted: the table has five parts that are not built"))
		return;
	for (i = 0; i < 3; i++) {
		const struct kunwind_table *found = table;

		good &= kunwind_table_part(&found, TEXT_LO + 0x10 * order[2 - i]) == KUNWIND_NOT_READY;
	}
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		part = kunwind_build_parts_next(builder, &wanted);
		good &= part == order[i] && wanted == (i < 3) && !kunwind_build_parts_one(builder, part);
		/* A job that goes on because of such parts needs no turn. */
		good &= kunwind_build_parts_wanted(builder) == wanted;
	}
	tap_ok(good && kunwind_build_parts_next(builder, &wanted) == ~0U,
	       "wanted: all parts that were missed come before the others");
	kunwind_build_parts_end(builder);
	kunwind_table_free(table);
}

int main(void)
{
	static const char *const paths[] = {
		"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/bin/gdb", "/usr/bin/node", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
		"/usr/bin/env", "/usr/lib32/libc.so.6", "/usr/lib32/libstdc++.so.6",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(made); i++)
		test_made(&made[i]);
	test_walk();
	test_limit(paths[0]);
	test_object(paths[0], 1);
	for (i = 0; i < ARRAY_SIZE(paths); i++)
		test_object(paths[i], 1024);
	test_wanted();
	return tap_done();
}

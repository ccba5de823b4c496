/* SPDX-License-Identifier: MIT */
/*
 * cfi-writer-test.c - rows that are written as CFI, and compiled, are the same rows
 */
#include "../../kmod/core/rows/cfi_writer.h"
#include "tap.h"

#define AT	0x100000ULL
#define NR	400
#define ROOM	(64 << 10)

static const struct kunwind_written_row none = { .how = KUNWIND_WRITTEN_NONE };
static struct kunwind_written_row rows[NR];
static u64 starts[NR + 1];
static u32 seed = 1;

static u32 random_below(u32 most)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % most;
}

static struct kunwind_written_row random_row(void)
{
	/* DW_OP_breg7 16: CFA = rsp + 16; DW_OP_breg6 8, DW_OP_deref */
	static const struct kunwind_written_exprs exprs = {
		.cfa = { 2, { 0x77, 16 } }, .rbp = { 3, { 0x76, 8, 0x06 } },
	};
	static struct kunwind_written_row row;

	/* Often only the place of rbp changes, or only the added number. */
	if (row.how == KUNWIND_WRITTEN_CFA && row.rbp == KUNWIND_RBP_SAVED && random_below(2)) {
		row.rbp_at = 16 << random_below(8);
		return row;
	}
	if (row.how == KUNWIND_WRITTEN_DEREF && random_below(2)) {
		row.add = random_below(KUNWIND_DEREF_ADDS) & ~7;
		return row;
	}
	row = (struct kunwind_written_row){ .how = random_below(6) };
	switch (row.how) {
	case KUNWIND_WRITTEN_EXPR:
		row.exprs = &exprs;
		row.rbp = KUNWIND_RBP_SAME;
		break;
	case KUNWIND_WRITTEN_END:
		row.reg = KUNWIND_RSP;
		row.off = 8;
		row.rbp = KUNWIND_RBP_SAME;
		break;
	case KUNWIND_WRITTEN_NONE:
		break;
	case KUNWIND_WRITTEN_DEREF:
		row.reg = random_below(16);
		row.off = (s32)random_below(2 * KUNWIND_DEREF_OFFS) - KUNWIND_DEREF_OFFS;
		row.add = random_below(KUNWIND_DEREF_ADDS) & ~7;
		row.rbp = random_below(2) ? KUNWIND_RBP_SAVED : KUNWIND_RBP_UNKNOWN;
		row.rbp_at = row.rbp == KUNWIND_RBP_SAVED ? 16 << random_below(8) : 0;
		break;
	default:
		row.how = KUNWIND_WRITTEN_CFA;
		row.reg = random_below(2) ? KUNWIND_RSP : KUNWIND_RBP;
		row.off = 8 << random_below(16);
		row.rbp = random_below(3);
		if (row.rbp == KUNWIND_RBP_SAVED)
			row.rbp_at = 16 << random_below(8);
	}
	return row;
}

/* The longest advance of each opcode, and one byte more. */
static u32 random_length(void)
{
	static const u32 lengths[] = { 1, 0x3f, 0x40, 0xff, 0x100, 0xffff, 0x10000 };

	return lengths[random_below(ARRAY_SIZE(lengths))];
}

static bool same(const struct kunwind_written_row *row, struct kunwind_rule rule)
{
	switch (row->how) {
	case KUNWIND_WRITTEN_NONE:
		return rule.kind == KUNWIND_RULE_NONE;
	case KUNWIND_WRITTEN_END:
		return (rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_END;
	case KUNWIND_WRITTEN_EXPR:
		return (rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_FULL;
	case KUNWIND_WRITTEN_DEREF:
		if ((rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_DEREF ||
		    kunwind_deref_off(rule) != row->off || kunwind_deref_add(rule) != row->add)
			return false;
		break;
	default:
		if ((rule.kind & KUNWIND_RULE_KIND) != KUNWIND_RULE_CFA || rule.off != row->off)
			return false;
	}
	return rule.reg == row->reg && (rule.kind >> KUNWIND_RULE_RBP_SHIFT & 3) == row->rbp &&
	       rule.rbp == -(s32)row->rbp_at;
}

static void write_all(struct kunwind_cfi_writer *w, u32 nr)
{
	u32 i;

	w->cie = kunwind_cfi_write_cie(w, "");
	for (i = 0; i < nr; i++)
		kunwind_cfi_write_row(w, starts[i], rows[i]);
	kunwind_cfi_write_row(w, starts[nr], none);
}

static void test_random(void)
{
	struct kunwind_section section = { .debug = true, .min_fdes = ~0U, .lo = AT, .hi = ~0ULL };
	struct kunwind_cfi_writer w = { .room = ROOM }, count = { .room = ROOM };
	static u8 out[ROOM];
	struct kunwind_table *table;
	u32 i, wrong = 0, hows = 0;

	starts[0] = AT;
	for (i = 0; i < NR; i++) {
		rows[i] = random_row();
		hows |= 1 << rows[i].how;
		starts[i + 1] = starts[i] + random_length();
	}
	w.out = out;
	write_all(&w, NR);
	write_all(&count, NR);
	tap_ok(!w.full && count.size == w.size, "a writer without memory counts the same bytes");
	section.data = out;
	section.size = w.size;
	if (!tap_ok(!kunwind_table_build(&section, 0, 1 << 20, NULL, NULL, &table) && hows == 31,
		    "rows of all forms compile"))
		return;
	for (i = 0; i < NR; i++) {
		if (same(&rows[i], kunwind_table_lookup(table, starts[i])) &&
		    same(&rows[i], kunwind_table_lookup(table, starts[i + 1] - 1)))
			continue;
		if (!wrong++)
			printf("# row %u, form %u, at %#llx\n", i, rows[i].how,
			       (unsigned long long)starts[i]);
	}
	tap_ok(!wrong, "%u rows: %u are other rows in the table", NR, wrong);
	tap_ok(!kunwind_table_lookup(table, AT - 1).kind && !kunwind_table_lookup(table, starts[NR]).kind,
	       "nothing before the first row and after the last one");
	kunwind_table_free(table);
}

/* Each room that is too small. */
static void test_room(void)
{
	struct kunwind_cfi_writer w = { .room = ROOM };
	static u8 out[ROOM], beyond[ROOM];
	u32 size, room, wrong = 0, written = 0;

	memset(beyond, 0xee, sizeof(beyond));
	write_all(&w, 20);
	size = w.size;
	for (room = 0; room < size; room++) {
		memset(out, 0xee, sizeof(out));
		w = (struct kunwind_cfi_writer){ .out = out, .room = room };
		write_all(&w, 20);
		wrong += !w.full || w.size > room;
		written += memcmp(out + w.size, beyond, ROOM - w.size) != 0;
	}
	w = (struct kunwind_cfi_writer){ .out = out, .room = size - 2 };
	write_all(&w, 20);
	room = w.size;
	kunwind_cfi_write_row(&w, starts[20], rows[0]);
	kunwind_cfi_write_row(&w, starts[21], none);
	tap_ok(w.full && w.size == room, "a full writer writes no row");
	tap_ok(!wrong, "each room that is too small is full (%u of %u are not)", wrong, size);
	tap_ok(!written, "nothing is written behind the bytes that count (%u times)", written);
}

int main(void)
{
	test_random();
	test_room();
	return tap_done();
}

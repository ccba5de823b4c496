/* SPDX-License-Identifier: MIT */
/*
 * unwind-info-test.c - when a file gets rows from code: charges, limits, and what is kept
 *
 * The file has .eh_frame of a function, then its code, then code that no FDE covers.
 */
#include "../../kmod/core/rows/cfi_writer.h"
#include "../../kmod/core/rows/unwind_info.h"
#include "tap.h"

#define CODE_AT	0x1000ULL
#define COVERED	64
#define SIZE	256

static u8 file[0x400];
static struct kunwind_elf elf;
static u32 calls, refused, aborted;
static size_t charged;

static int read_file(void *data, u64 off, void *buf, size_t len)
{
	(void)data;
	if (off + len > sizeof(file))
		return -1;
	memcpy(buf, file + off, len);
	return 0;
}

/* Refuses the call number "refused"; 0: none. */
static bool charge(void *data, size_t bytes)
{
	(void)data;
	charged += bytes;
	return ++calls != refused;
}

static bool stop(void *data)
{
	(void)data;
	return ++aborted;
}

/* .debug_frame in the file at 0, the code at 0x200. Returns a copy of .debug_frame. */
static u8 *begin(void)
{
	static const struct kunwind_written_row row = {
		.how = KUNWIND_WRITTEN_CFA, .reg = KUNWIND_RSP, .off = 8,
	};
	static const struct kunwind_written_row none = { .how = KUNWIND_WRITTEN_NONE };
	struct kunwind_cfi_writer w = { .out = file, .room = 0x200 };
	u8 *data;
	u32 i;

	memset(file, 0xcc, sizeof(file));
	w.cie = kunwind_cfi_write_cie(&w, "");
	kunwind_cfi_write_row(&w, CODE_AT, row);
	kunwind_cfi_write_row(&w, CODE_AT + COVERED, none);
	for (i = 0x200 + COVERED; i < 0x200 + SIZE; i += 16)
		memcpy(file + i, "\x53\x5b\xc3", 3); /* push %rbx; pop %rbx; ret */
	elf = (struct kunwind_elf){
		.debug_size = w.size, .text_lo = CODE_AT, .text_hi = CODE_AT + SIZE,
		.code_lo = CODE_AT, .code_hi = CODE_AT + SIZE, .nr_loads = 1, .eh_fdes = ~0U,
		.load[0] = { .vaddr = CODE_AT, .offset = 0x200, .filesz = SIZE, .flags = 1 },
	};
	calls = refused = aborted = charged = 0;
	data = kunwind_alloc(w.size);
	memcpy(data, file, w.size);
	return data;
}

/* Whether the @from bytes at @data are .debug_frame, and rows follow. */
static bool has_rows(const u8 *data, u64 from)
{
	return elf.debug_size > from && !memcmp(data, file, from);
}

static void test_rows(void)
{
	struct kunwind_code_gaps *gaps;
	u8 *data = begin();
	const u64 size = elf.debug_size;

	tap_ok(!kunwind_unwind_info_read_code(read_file, NULL, &elf, data, charge, NULL, NULL, &gaps) &&
	       gaps && gaps->bytes == SIZE - COVERED && calls == 2, "the code without CFI is read");
	calls = charged = 0;
	tap_ok(!kunwind_unwind_info_add_rows(&elf, gaps, charge, NULL, NULL, &data) && has_rows(data, size) &&
	       calls == 1 && charged == kunwind_code_power(elf.debug_size) + 2 * (elf.debug_size - size),
	       "rows follow .debug_frame, and are charged");
	kunwind_free(data);

	data = begin();
	elf.eh_size = size;
	elf.eh_addr = 0x8000;
	elf.debug_size = 0;
	gaps = NULL;
	tap_ok(!kunwind_unwind_info_add_rows(&elf, gaps, charge, NULL, NULL, &data) &&
	       !elf.debug_size && !calls,
	       "no code: there are no rows, and nothing is charged");
	kunwind_free(data);
	data = begin();
	elf.eh_size = elf.debug_size = 0;
	tap_ok(kunwind_unwind_info_add_rows(&elf, NULL, NULL, NULL, NULL, &data) == KUNWIND_E_NO_CFI,
	       "neither CFI nor rows: no_cfi");
	kunwind_free(data);
}

/* .eh_frame, .debug_frame and the rows, in this order. */
static void test_order(void)
{
	struct kunwind_code_gaps *gaps;
	u8 *data = begin(), *both;
	const u64 size = elf.debug_size;

	tap_ok(!kunwind_unwind_info_read_code(read_file, NULL, &elf, data, NULL, NULL, NULL, &gaps) && gaps,
	       "charge() and abort() may be missing");
	both = kunwind_alloc(24 + size);
	memset(both, 0x5a, 24);
	memcpy(both + 24, data, size);
	kunwind_free(data);
	elf.eh_size = 24;
	tap_ok(!kunwind_unwind_info_add_rows(&elf, gaps, NULL, NULL, NULL, &both) &&
	       has_rows(both + 24, size) &&
	       both[0] == 0x5a && both[23] == 0x5a, "rows follow .debug_frame, which follows .eh_frame");
	kunwind_free(both);
}

static void test_refusals(void)
{
	struct kunwind_code_gaps *gaps;
	enum kunwind_build_error err;
	u8 *data;
	u64 size;
	u32 i;

	for (i = 1; i <= 3; i++) {
		data = begin();
		size = elf.debug_size;
		refused = i;
		err = kunwind_unwind_info_read_code(read_file, NULL, &elf, data, charge, NULL, NULL, &gaps);
		tap_ok(!err && (i == 3) == !!gaps, "charge %u is refused: no failure", i);
		err = kunwind_unwind_info_add_rows(&elf, gaps, charge, NULL, NULL, &data);
		tap_ok(!err && elf.debug_size == size && !memcmp(data, file, size),
		       "charge %u is refused: no rows, and the CFI is kept", i);
		kunwind_free(data);
	}
	for (i = 0; i < 3; i++) {
		static const char *const names[] = {
			"32-bit code", "Go's table", "a Go program without its table",
		};

		data = begin();
		elf.i386 = i == 0;
		elf.go_size = i == 1;
		elf.go_inside = i == 2;
		tap_ok(!kunwind_unwind_info_read_code(read_file, NULL, &elf, data, charge, NULL,
						      NULL, &gaps) &&
		       !gaps && !calls, "%s: no rows from code", names[i]);
		kunwind_free(data);
	}
	data = begin();
	elf.load[0].offset = sizeof(file);
	tap_ok(kunwind_unwind_info_read_code(read_file, NULL, &elf, data, charge, NULL, NULL, &gaps) ==
	       KUNWIND_E_IO && !gaps, "code that cannot be read: a failure");
	elf.load[0].offset = 0x200;
	tap_ok(kunwind_unwind_info_read_code(read_file, NULL, &elf, data, charge, stop, NULL, &gaps) ==
	       KUNWIND_E_ABORTED && !gaps && aborted == 1, "abort() ends the search for code");
	aborted = 0;
	tap_ok(!kunwind_unwind_info_read_code(read_file, NULL, &elf, data, charge, NULL,
					      NULL, &gaps) && gaps &&
	       kunwind_unwind_info_add_rows(&elf, gaps, charge, stop, NULL, &data) == KUNWIND_E_ABORTED &&
	       aborted, "abort() ends the analysis, with a failure");
	kunwind_free(data);
}

/* What the search for gaps is charged: two allocations, each rounded to a power of two. */
static void test_charge(void)
{
	static const struct { size_t size, power; } powers[] = {
		{ 0, 1 }, { 1, 1 }, { 2, 2 }, { 3, 4 }, { 4, 4 }, { 5, 8 }, { 4096, 4096 }, { 4097, 8192 },
	};
	struct kunwind_code_gaps *gaps;
	u32 i, bad = 0;
	u8 *data;

	for (i = 0; i < ARRAY_SIZE(powers); i++)
		bad += kunwind_code_power(powers[i].size) != powers[i].power;
	tap_ok(!bad, "an allocator gives the next power of two");
	data = begin();
	refused = 1;
	/* a bit for each of 256 bytes, and a byte more: 33 bytes */
	tap_ok(!kunwind_unwind_info_read_code(read_file, NULL, &elf, data, charge, NULL, NULL, &gaps) &&
	       !gaps && charged == kunwind_code_power(sizeof(*gaps)) + 64,
	       "the search for code is charged before it begins");
	kunwind_free(data);
}

/* .eh_frame is read before .debug_frame, each from its place. */
static void test_read(void)
{
	u8 data[64];
	u32 i, bad = 0;

	for (i = 0; i < sizeof(file); i++)
		file[i] = i % 251;
	elf = (struct kunwind_elf){
		.eh_offset = 0x21, .eh_size = 30, .debug_offset = 0x153, .debug_size = 20,
	};
	memset(data, 0xee, sizeof(data));
	tap_ok(!kunwind_unwind_info_read(read_file, NULL, &elf, data), "both sections are read");
	for (i = 0; i < sizeof(data); i++)
		bad += data[i] != (i < 30 ? file[0x21 + i] : i < 50 ? file[0x153 + i - 30] : 0xee);
	tap_ok(!bad, "both sections are where they are looked for, and nothing after them is written");
	elf.debug_offset = sizeof(file);
	tap_ok(kunwind_unwind_info_read(read_file, NULL, &elf, data) == KUNWIND_E_IO,
	       ".debug_frame cannot be read: a failure");
	elf.debug_size = 0;
	tap_ok(!kunwind_unwind_info_read(read_file, NULL, &elf, data), ".eh_frame alone is read");
	elf.eh_offset = sizeof(file);
	tap_ok(kunwind_unwind_info_read(read_file, NULL, &elf, data) == KUNWIND_E_IO,
	       ".eh_frame cannot be read: a failure");
	elf.eh_size = 0;
	tap_ok(!kunwind_unwind_info_read(read_file, NULL, &elf, data), "no section: nothing is read");
}

/* A table of the rows from code alone, which is added to a table that is in use. */
static void test_code_table(void)
{
	struct kunwind_code_gaps *gaps;
	struct kunwind_table *table = NULL;
	struct kunwind_rule rule, covered;
	enum kunwind_build_error err;
	u8 *data;
	u32 i;

	for (i = 0; i < 3; i++) {
		data = begin();
		if (kunwind_unwind_info_read_code(read_file, NULL, &elf, data, NULL, NULL, NULL, &gaps) ||
		    !gaps)
			abort();
		kunwind_free(data);
		refused = i == 1;
		err = kunwind_unwind_info_code_table(&elf, gaps, charge, i == 2 ? stop : NULL, NULL, &table);
		if (i) {
			tap_ok(err == (i == 1 ? KUNWIND_E_LIMIT : KUNWIND_E_ABORTED) && !table,
			       i == 1 ? "a table of rows from code that is not paid for: the limit" :
					"abort() ends a table of rows from code");
			continue;
		}
		if (!tap_ok(!err && table && calls == 1 && charged > 2 * 64,
			    "a table of rows from code is charged once"))
			continue;
		rule = kunwind_table_lookup(table, CODE_AT + COVERED + 1);
		covered = kunwind_table_lookup(table, CODE_AT + 1);
		tap_ok((rule.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_CFA && rule.off == 16 &&
		       rule.reg == (KUNWIND_RSP | KUNWIND_RULE_CODE) &&
		       (covered.kind & KUNWIND_RULE_KIND) == KUNWIND_RULE_NONE && !kunwind_table_keep(table),
		       "a table of rows from code has rules for that code only");
		kunwind_table_free(table);
		table = NULL;
	}
}

int main(void)
{
	test_charge();
	test_read();
	test_code_table();
	test_rows();
	test_order();
	test_refusals();
	return tap_done();
}

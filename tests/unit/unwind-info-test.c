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

int main(void)
{
	test_rows();
	test_order();
	test_refusals();
	return tap_done();
}

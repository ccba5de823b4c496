/* SPDX-License-Identifier: MIT */
/*
 * Property: for any bytes of .eh_frame, a table in parts is built if and only
 * if a whole table is built (except for limits of number and size). The builder
 * reads nothing outside the bytes. Both tables follow the same registers, and
 * have the same rule for every address. The last byte of the input selects the
 * size of the parts.
 */
#include "fuzz.h"
#include "../../kmod/core/cfi/fde_list.h"
#include "../unit/parts.h"

#define LIMIT	(1 << 24)

static bool tick(void *data)
{
	++*(u32 *)data;
	return false;
}

static void in_parts(const u8 *data, size_t size, bool i386)
{
	struct kunwind_table *whole = NULL, *parts = NULL;
	enum kunwind_build_error one, two;
	struct kunwind_table_stats ws, ps;
	struct kunwind_section section[2];
	struct parts_same same;
	u32 ticks = 0, part_fdes;
	u8 *copy;

	copy = malloc(size - 1 + (size == 1));
	memcpy(copy, data + 1, size - 1);
	part_fdes = 1 + (size > 1 ? data[size - 1] % 4 : 0);
	fuzz_section(*data, i386, copy, size - 1, section);
	one = kunwind_table_build(section, fuzz_keep(*data), LIMIT, NULL, NULL, &whole);
	two = parts_build(section, fuzz_keep(*data), part_fdes, LIMIT, tick, &ticks, &parts);
	free(copy);
	property(ticks <= 1 + size / 16, "builder in parts checks the time %u times for %zu bytes", ticks,
		 size);
	/*
	 * Only the build of a whole table can refuse because no row is
	 * readable.
	 */
	property(!one == !two || one == KUNWIND_E_LIMIT || two == KUNWIND_E_LIMIT ||
		 (!two && kunwind_build_error_local(one)),
		 "whole table is refused with \"%s\", table in parts with \"%s\"",
		 kunwind_build_error_name(one), kunwind_build_error_name(two));
	if (!one && !two) {
		kunwind_table_stats(whole, &ws);
		kunwind_table_stats(parts, &ps);
		property(ws.base == ps.base && ws.span == ps.span && ws.keep == ps.keep &&
			 ws.needed == ps.needed && ws.nr_fdes == ps.nr_fdes,
			 "whole table and table in parts have other spans, FDEs or registers (%x, %x)",
			 ws.keep, ps.keep);
		property(ps.parts_built == ps.nr_parts, "only %u of %u parts are built", ps.parts_built,
			 ps.nr_parts);
		same = parts_compare_all(whole, parts);
		property(!same.different, "table in parts has other rules at %u addresses, first at %llx",
			 same.different, (unsigned long long)same.first);
	}
	if (!one)
		kunwind_table_free(whole);
	if (!two)
		kunwind_table_free(parts);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	return fuzz_both(data, size, in_parts);
}

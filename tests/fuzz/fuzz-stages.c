/* SPDX-License-Identifier: MIT */
/*
 * Property: a table in parts is made of exactly those bytes of .eh_frame of which
 * a whole one is, but for limits of number and size, reads nothing outside them,
 * follows the same registers, and says the same of every address. So it is
 * whatever the size of its parts (the last byte of the input says).
 */
#include "fuzz.h"
#include "../../kmod/core/cfi/fdes.h"
#include "../unit/stages.h"

#define LIMIT	(1 << 24)

static bool tick(void *data)
{
	++*(u32 *)data;
	return false;
}

static void stages(const u8 *data, size_t size, bool i386)
{
	struct kunwind_table *whole = NULL, *parts = NULL;
	enum kunwind_refusal one, two;
	struct kunwind_table_stats ws, ps;
	struct kunwind_section section[2];
	struct stages_same same;
	u32 ticks = 0, part_fdes;
	u8 *copy;

	copy = malloc(size - 1 + (size == 1));
	memcpy(copy, data + 1, size - 1);
	part_fdes = 1 + (size > 1 ? data[size - 1] % 4 : 0);
	fuzz_section(*data, i386, copy, size - 1, section);
	one = kunwind_table_build(section, fuzz_keep(*data), LIMIT, NULL, NULL, &whole);
	two = stages_build(section, fuzz_keep(*data), part_fdes, LIMIT, tick, &ticks, &parts);
	free(copy);
	property(ticks <= 1 + size / 16, "%u looks at the clock for %zu bytes", ticks, size);
	/* a whole one knows that no row can be read */
	property(!one == !two || one == KUNWIND_E_LIMIT || two == KUNWIND_E_LIMIT ||
		 (!two && kunwind_refusal_local(one)),
		 "as a whole %s, in parts %s", kunwind_refusal_name(one), kunwind_refusal_name(two));
	if (!one && !two) {
		kunwind_table_stats(whole, &ws);
		kunwind_table_stats(parts, &ps);
		property(ws.base == ps.base && ws.span == ps.span && ws.keep == ps.keep &&
			 ws.needed == ps.needed && ws.nr_fdes == ps.nr_fdes,
			 "keep %x, in parts %x", ws.keep, ps.keep);
		property(ps.parts_built == ps.nr_parts, "%u of %u parts", ps.parts_built,
			 ps.nr_parts);
		same = stages_compare_all(whole, parts);
		property(!same.different, "%u addresses differ, the first is %llx", same.different,
			 (unsigned long long)same.first);
	}
	if (!one)
		kunwind_table_free(whole);
	if (!two)
		kunwind_table_free(parts);
}

/* As 64-bit code's, and as 32-bit code's. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (!size || size > FUZZ_MAX)
		return 0;
	stages(data, size, false);
	stages(data, size, true);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Property: for any bytes of .eh_frame, building a table, as a whole or in
 * parts, costs at most MOST_COST a byte plus FIXED_COST (../unit/cost.h says
 * how work is counted). The fuzzer keeps inputs that cost more than any before.
 */
#include "../unit/cost.h"
#include "../unit/parts.h"
#include "fuzz.h"

#define MOST_COST	100	/* as in ../unit/build-cost-test.c */
#define FIXED_COST	20000	/* memory that is cleared for any size */
#define SLACK		(64 << 10)	/* as in kmod/object/builder.c */
#define PART_FDES	16

#ifdef __clang__	/* libFuzzer has a function of this name: linked with --wrap */
#define __sanitizer_cov_trace_pc __wrap___sanitizer_cov_trace_pc
#define uncounted __attribute__((__no_sanitize__("coverage")))
__attribute__((__section__("__libfuzzer_extra_counters")))
#else
#define uncounted
#endif
static u8 dearest[1024];

unsigned long cost_spent;

void __sanitizer_cov_trace_pc(void);
uncounted void __sanitizer_cov_trace_pc(void)
{
	cost_spent++;
}

static void spent_check(const char *how, size_t size, enum kunwind_build_error err)
{
	unsigned long spent = cost_spent, most = FIXED_COST + MOST_COST * size;
	unsigned long step = spent * (ARRAY_SIZE(dearest) / 2) / most;

	property(spent <= most, "build (%s) costs %lu for %zu bytes, %.1f a byte (%s)", how, spent, size,
		 (spent < FIXED_COST ? 0.0 : spent - FIXED_COST) / size, kunwind_build_error_name(err));
	dearest[2 * step + (*how == 'p')] = 1;
}

static void build(const u8 *data, size_t size, bool i386)
{
	struct kunwind_section section[2];
	struct kunwind_table *table;
	enum kunwind_build_error err;
	size_t limit = size + SLACK;

	fuzz_section(*data, i386, data + 1, size - 1, section);
	cost_spent = 0;
	err = kunwind_table_build(section, fuzz_keep(*data), limit, NULL, NULL, &table);
	spent_check("whole", size, err);
	if (!err)
		kunwind_table_free(table);
	cost_spent = 0;
	err = parts_build(section, fuzz_keep(*data), PART_FDES, limit, NULL, NULL, &table);
	spent_check("parts", size, err);
	if (!err)
		kunwind_table_free(table);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	return fuzz_both(data, size, build);
}

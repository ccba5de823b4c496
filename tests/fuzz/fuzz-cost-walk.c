/* SPDX-License-Identifier: MIT */
/*
 * Property: for any code, stack and table, the work of a walk is within a
 * bound. Work is counted in basic blocks of the core, which is compiled with
 * -fsanitize-coverage=trace-pc. The count does not depend on the machine or its
 * load. The bound depends on the units of the budget that the walk spent, so
 * that a kind of unit that costs too much is found even in a short walk:
 *
 *	blocks <= BLOCKS_OF_WALK + BLOCKS_OF_FRAME * addresses + BLOCKS_OF_UNIT * units
 *
 * The walk also spends no more units than its budget.
 *
 * Input: a byte, then the input of fuzz-nocfi.c, or of fuzz-walk.c if the byte's
 * bit 0 is set. Bit 1: the walk has the urgent budget. Both fuzzers are linked
 * here and make the walks; --wrap redirects their calls of kunwind_walk() and
 * kunwind_walk_i386() to this file, and also __sanitizer_cov_trace_pc(),
 * because libFuzzer has a function of that name. The fuzzer keeps an input if
 * its work comes closer to the bound than that of inputs before. With DEAREST
 * in the environment, each new maximum is printed.
 */
#include "../../kmod/core/walk/mem.h"
#include "fuzz.h"

/* 20 % above the maximum of 16 minutes of fuzzing: 100 for a unit, with gcc. */
#define BLOCKS_OF_WALK	300
#define BLOCKS_OF_FRAME	60
#define BLOCKS_OF_UNIT	120

int fuzz_nocfi(const u8 *data, size_t size);
int fuzz_walk(const u8 *data, size_t size);
enum kunwind_reason __real_kunwind_walk(struct kunwind_walk *walk);
enum kunwind_reason __real_kunwind_walk_i386(struct kunwind_walk *walk);
enum kunwind_reason __wrap_kunwind_walk(struct kunwind_walk *walk);
enum kunwind_reason __wrap_kunwind_walk_i386(struct kunwind_walk *walk);
void __wrap___sanitizer_cov_trace_pc(void);

#define CLASSES		1024
__attribute__((__section__("__libfuzzer_extra_counters"))) static u8 classes[CLASSES];

static u64 blocks, dearest;
static bool urgent;

void __wrap___sanitizer_cov_trace_pc(void)
{
	blocks++;
}

static enum kunwind_reason counted(struct kunwind_walk *walk,
				   enum kunwind_reason (*make)(struct kunwind_walk *walk))
{
	u32 budget = urgent ? KUNWIND_BUDGET_URGENT : KUNWIND_BUDGET, units;
	enum kunwind_reason reason;
	u64 work, bound, share;

	walk->budget = urgent ? KUNWIND_BUDGET_URGENT : 0;
	blocks = 0;
	reason = make(walk);
	work = blocks;
	property(walk->mem.left <= budget, "walk has %u units left of a budget of %u", walk->mem.left,
		 budget);
	units = budget - walk->mem.left;
	bound = BLOCKS_OF_WALK + BLOCKS_OF_FRAME * walk->count + BLOCKS_OF_UNIT * (u64)units;
	/*
	 * One class for each 1 % of the bound and each power of 4 of units
	 * spent.
	 */
	share = min(100 * work / bound, (u64)100);
	classes[min(share * 8 + (units ? (u64)(63 - __builtin_clzll(units)) / 2 : 0),
		    (u64)CLASSES - 1)] = 1;
	if (share > dearest && getenv("DEAREST")) {
		dearest = share;
		fprintf(stderr, "# %llu blocks for %u addresses and %u units\n",
			(unsigned long long)work, walk->count, units);
	}
	property(work <= bound, "walk runs %llu blocks for %u addresses and %u units",
		 (unsigned long long)work, walk->count, units);
	return reason;
}

enum kunwind_reason __wrap_kunwind_walk(struct kunwind_walk *walk)
{
	return counted(walk, __real_kunwind_walk);
}

enum kunwind_reason __wrap_kunwind_walk_i386(struct kunwind_walk *walk)
{
	return counted(walk, __real_kunwind_walk_i386);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (!size)
		return 0;
	urgent = *data & 2;
	return *data & 1 ? fuzz_walk(data + 1, size - 1) : fuzz_nocfi(data + 1, size - 1);
}

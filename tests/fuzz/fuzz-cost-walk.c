/* SPDX-License-Identifier: MIT */
/*
 * Property: a walk does no more work than its bound, whatever the code, the stack and
 * the table. Work is counted in basic blocks of the core, which is compiled with
 * -fsanitize-coverage=trace-pc: the count is the same on every machine, whatever else
 * runs. The bound goes by what the walk spent, so that one kind of unit that costs
 * more than others is found even if the rest of the walk is cheap:
 *
 *	blocks <= BLOCKS_OF_WALK + BLOCKS_OF_FRAME * addresses + BLOCKS_OF_UNIT * units
 *
 * The walk may also spend no more units than it has.
 *
 * Input: a byte, then the input of fuzz-bare.c, or of fuzz-walk.c if the byte's bit 0
 * is set. Bit 1: the walk is urgent. Both are linked here and make the walks; the
 * linker sends their calls of kunwind_walk() and kunwind_walk_i386() here, and
 * those that count blocks (--wrap), because libFuzzer has a function of that name.
 * An input that costs more a unit than those before is kept.
 */
#include "../../kmod/core/walk/mem.h"
#include "fuzz.h"

/* A fifth above the highest that 16 minutes of fuzzing found: 100 for a unit, by gcc. */
#define BLOCKS_OF_WALK	300
#define BLOCKS_OF_FRAME	60
#define BLOCKS_OF_UNIT	120

int fuzz_bare(const u8 *data, size_t size);
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
	property(walk->mem.left <= budget, "%u units left of %u", walk->mem.left, budget);
	units = budget - walk->mem.left;
	bound = BLOCKS_OF_WALK + BLOCKS_OF_FRAME * walk->count + BLOCKS_OF_UNIT * (u64)units;
	/* a new class for each 1 % of the bound, apart by how much was spent */
	share = min(100 * work / bound, (u64)100);
	classes[min(share * 8 + (units ? (u64)(63 - __builtin_clzll(units)) / 2 : 0),
		    (u64)CLASSES - 1)] = 1;
	if (share > dearest && getenv("DEAREST")) {
		dearest = share;
		fprintf(stderr, "# %llu blocks for %u addresses and %u units\n",
			(unsigned long long)work, walk->count, units);
	}
	property(work <= bound, "%llu blocks for %u addresses and %u units",
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
	return *data & 1 ? fuzz_walk(data + 1, size - 1) : fuzz_bare(data + 1, size - 1);
}

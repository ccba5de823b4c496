/* SPDX-License-Identifier: MIT */
/*
 * Property: a walk by a table, for any table (bytes of it are overwritten after
 * the build), registers and memory:
 *  - reads nothing outside the memory that it was given and the table
 *  - ends with a reason, within its capacity and in bounded time (libFuzzer's
 *    -timeout)
 *  - finds equal addresses without a cache, with an empty cache, with the cache
 *    that it filled, and with the note of the last walk.
 *
 * Input: 17 numbers for the registers; a byte with the number of words of
 * memory, and a number for each word; four offsets of two bytes in the table,
 * each with a byte to write there; then the input of fuzz.h. A number has two
 * bytes. Its low two bits select the kind: zero (for a register: not known), an
 * address in memory, an address in the code, upper bits spread over 64 bits.
 */
#include "../../kmod/core/table/table.h"
#include "found.h"

#define MEM		0x7ffd00000000ULL
#define BIAS		0x555500000000ULL
#define PATCHES		4

static u64 word(u32 number)
{
	u64 n = number >> 2;

	switch (number & 3) {
	case 0:
		return 0;
	case 1:
		return MEM - 64 + n;
	case 2:
		return BIAS + n * 8 + (n & 7);
	}
	return n * 0x9e3779b97f4a7c15ULL;
}

static void table_damage(struct kunwind_table *table, struct fuzz_input *in)
{
	u64 size = table->bytes - sizeof(*table);
	int i;

	for (i = 0; i < PATCHES; i++) {
		u32 at = fuzz_number(in, 2), val = fuzz_number(in, 1);

		if (val)
			((u8 *)(table + 1))[at % size] = val;
	}
}

/* Addresses of 32-bit code are the low halves of those of 64-bit code. */
static u64 here(bool i386, u64 addr)
{
	return i386 ? (u32)addr : addr;
}

static void walk(const struct kunwind_regs *regs, const struct kunwind_ranges *ranges, bool i386,
		 struct kunwind_rule_cache *cache, struct kunwind_replay *replay, const u8 *memory,
		 size_t size, struct found *found)
{
	const u64 mem = here(i386, MEM);
	struct kunwind_walk walk = {
		.ranges = ranges, .cache = cache, .replay = replay, .regs = *regs, .i386 = i386,
		.mem = { .lo = mem, .hi = mem + size, .delta = (uintptr_t)memory - mem },
		.addresses = found->addresses, .capacity = MOST_FOUND,
	};

	found_take(&walk, found);
}

static void walks(struct kunwind_table *table, const struct kunwind_regs *regs, const u8 *memory,
		  size_t size)
{
	const bool i386 = kunwind_table_i386(table);
	const u64 bias = here(i386, BIAS);
	static struct kunwind_rule_cache cache;
	static struct found none, cold, warm, noted, taken;
	static struct kunwind_replay replay;
	struct kunwind_ranges *ranges = calloc(1, sizeof(*ranges) + 2 * sizeof(ranges->range[0]));

	ranges->id = 1;
	ranges->nr = 2;
	ranges->range[0] = (struct kunwind_range){
		.start = bias, .end = bias + 0x9000, .bias = bias, .table = table,
	};
	ranges->range[1] = (struct kunwind_range){
		.start = bias + 0x9000, .end = bias + FUZZ_HI, .bias = bias, .table = table,
	};
	memset(&cache, 0, sizeof(cache));
	replay.id = 0;
	walk(regs, ranges, i386, NULL, NULL, memory, size, &none);
	walk(regs, ranges, i386, &cache, NULL, memory, size, &cold);
	walk(regs, ranges, i386, &cache, NULL, memory, size, &warm);
	walk(regs, ranges, i386, &cache, &replay, memory, size, &noted);
	walk(regs, ranges, i386, &cache, &replay, memory, size, &taken);
	found_compare(&none, &cold, "with an empty cache");
	found_compare(&none, &warm, "with its own cache");
	found_compare(&none, &noted, "that is noted");
	found_compare(&none, &taken, "with a note");
	free(ranges);
}

static void one(const u8 *data, size_t size, bool i386)
{
	struct fuzz_input in = { data, data + size }, patches;
	struct kunwind_regs regs = { .valid = 0 };
	struct kunwind_section section[2];
	struct kunwind_table *table;
	u32 i, nr, how;
	u64 *memory;

	for (i = 0; i < KUNWIND_NR_REGS; i++) {
		u32 n = fuzz_number(&in, 2);

		regs.r[i] = word(n);
		if (n & 3)
			regs.valid |= KUNWIND_REG(i);
	}
	regs.valid |= KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA);
	nr = 1 + fuzz_number(&in, 1);
	memory = malloc(nr * sizeof(*memory));
	for (i = 0; i < nr; i++) {
		memory[i] = word(fuzz_number(&in, 2));
		if (i386)
			memory[i] = (u32)memory[i] * 0x100000001ULL;
	}
	patches = in;
	fuzz_number(&in, 3 * 2);
	fuzz_number(&in, 3 * 2);
	how = fuzz_number(&in, 1);
	fuzz_section(how, i386, in.at, in.end - in.at, section);
	if (!kunwind_table_build(section, fuzz_keep(how), 1 << 20, NULL, NULL, &table)) {
		walks(table, &regs, (u8 *)memory, nr * sizeof(*memory));
		table_damage(table, &patches);
		walks(table, &regs, (u8 *)memory, nr * sizeof(*memory));
		kunwind_table_free(table);
	}
	free(memory);
}

/* Walks with tables of 64-bit code, and of 32-bit code. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	one(data, size, false);
	one(data, size, true);
	return 0;
}

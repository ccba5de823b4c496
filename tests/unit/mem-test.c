// SPDX-License-Identifier: MIT
/*
 * mem-test.c - reads of single words of the walked process: values, ends, cost
 *
 * Memory is one buffer of 64 bytes at MEM; byte n of it is n.
 */
#include "../../kmod/core/walk/mem.h"
#include "eh.h"
#include "tap.h"

#define MEM	0x7000ULL
#define OLD	0x1111111111111111ULL
#define LEFT	1000U

static u8 memory[64] __attribute__((__aligned__(8)));

static struct kunwind_mem reader(u32 left)
{
	return (struct kunwind_mem){
		.lo = MEM, .hi = MEM + sizeof(memory), .delta = (uintptr_t)memory - MEM, .left = left,
	};
}

static u64 bytes_at(u32 at, u32 size)
{
	u64 value = 0;

	memcpy(&value, memory + at, size);
	return value;
}

static void test_pay(void)
{
	struct kunwind_mem mem = reader(10);

	tap_ok(kunwind_pay(&mem, 9) && mem.left == 1, "pay: all but one unit of the budget");
	tap_ok(!kunwind_pay(&mem, 1) && !mem.left, "pay: the last unit is not enough, the budget is spent");
	tap_ok(!kunwind_pay(&mem, 0) && !mem.left, "pay: a spent budget stays spent");
	mem.left = 3;
	tap_ok(!kunwind_pay(&mem, ~0U) && !mem.left, "pay: a cost above the budget spends it");
}

static void test_word(void)
{
	struct kunwind_mem mem = reader(LEFT);
	u64 value = OLD;

	tap_ok(kunwind_read_word(&mem, MEM + 56, &value) && value == bytes_at(56, 8) &&
	       mem.left == LEFT - 1, "word: the last word, for one unit");
	value = OLD;
	tap_ok(!kunwind_read_word(&mem, MEM + 57, &value) && value == OLD &&
	       mem.left == LEFT - 2 - KUNWIND_COST_FAULT,
	       "word: across the end, for a fault more; the value is unchanged");
	mem = reader(1);
	tap_ok(!kunwind_read_word(&mem, MEM, &value) && value == OLD && !mem.left,
	       "word: the budget is spent, nothing is read");
	mem = reader(2 + KUNWIND_COST_FAULT);
	tap_ok(!kunwind_read_word(&mem, MEM - 1, &value) && mem.left == 1,
	       "word: a fault may leave one unit");
	mem = reader(1 + KUNWIND_COST_FAULT);
	tap_ok(!kunwind_read_word(&mem, MEM - 1, &value) && !mem.left,
	       "word: a fault that costs the rest spends the budget");
	mem = reader(LEFT);
	mem.hi = mem.lo;
	tap_ok(!kunwind_read_word(&mem, MEM, &value) && value == OLD && mem.left == LEFT - 1,
	       "word: no window can be opened, which is no fault");
}

static void test_words(void)
{
	struct kunwind_mem mem = reader(LEFT);
	u64 words[KUNWIND_CHUNK + 1];
	u32 most, bad = 0, i, n;

	for (most = 0; most <= KUNWIND_CHUNK; most++) {
		memset(words, 0x11, sizeof(words));
		n = kunwind_read_words(&mem, MEM, words, most);
		bad += n != most;
		for (i = 0; i < ARRAY_SIZE(words); i++)
			bad += words[i] != (i < most ? bytes_at(8 * i, 8) : OLD);
	}
	tap_ok(!bad && mem.left == LEFT, "words: as many as are asked for, without charge");
	memset(words, 0x11, sizeof(words));
	n = kunwind_read_words(&mem, MEM + 40, words, KUNWIND_CHUNK);
	tap_ok(n == 3 && words[2] == bytes_at(56, 8) && words[3] == OLD,
	       "words: those before the end of the memory");
	tap_ok(!kunwind_read_words(&mem, MEM - 8, words, KUNWIND_CHUNK),
	       "words: none if the first cannot be read");
	mem.hi = mem.lo;
	tap_ok(!kunwind_read_words(&mem, MEM, words, KUNWIND_CHUNK), "words: no window can be opened");
}

static void test_size(void)
{
	static const u8 sizes[] = { 1, 2, 4, 8 };
	struct kunwind_mem mem = reader(LEFT);
	u32 i, at, bad = 0;
	u64 value;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (at = 0; at <= sizeof(memory); at++) {
			/* In one aligned word, or at least eight bytes before the end. */
			const bool readable = at % 8 + sizes[i] <= 8 ? at < sizeof(memory) :
								       at + 8 <= sizeof(memory);

			value = OLD;
			bad += kunwind_read_size(&mem, MEM + at, sizes[i], &value) != readable ||
			       value != (readable ? bytes_at(at, sizes[i]) : OLD);
		}
	tap_ok(!bad && mem.left == LEFT, "size: 1, 2, 4 and 8 bytes at each address, without charge");
	tap_ok(kunwind_read_word32(&mem, 0x100000000ULL + MEM + 60, &value) && value == bytes_at(60, 4),
	       "word of 32-bit code: the address is modulo 2^32");
}

int main(void)
{
	u32 i;

	for (i = 0; i < sizeof(memory); i++)
		memory[i] = i;
	test_pay();
	test_word();
	test_words();
	test_size();
	return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * function-entry-test.c - the entry of a function, by the padding before it or
 * by Go's check of the stack
 */
#include "../../kmod/core/nocfi/function_entry.h"
#include "../../kmod/core/walk/mem.h"
#include "tap.h"

#define AT	0x10000ULL
#define BYTES	0x8000ULL

static u8 code[BYTES];

static void fill(u64 from, u64 to, u8 byte)
{
	memset(code + from, byte, to - from);
}

/* The distance from AT; or -1: none was found. */
static s64 entry_of(u64 lo, u64 at, u32 budget)
{
	struct kunwind_mem mem = {
		.lo = AT, .hi = AT + BYTES, .delta = (u64)(uintptr_t)code - AT, .left = budget,
	};
	u64 entry;

	return kunwind_code_entry(&mem, AT + lo, AT + at, &entry) ? (s64)(entry - AT) : -1;
}

static void is(s64 got, s64 want, const char *name)
{
	if (!tap_ok(got == want, "function entry: %s", name))
		printf("# got %ld, wanted %ld\n", (long)got, (long)want);
}

int main(void)
{
	u64 n, bad = 0;

	fill(0, BYTES, 0x90);
	is(entry_of(0, 0x4000, KUNWIND_BUDGET), -1, "none is found in code without a mark");
	fill(0x1ff7, 0x2000, 0xcc);
	for (n = 0x2000; n < 0x3000; n++)
		bad += entry_of(0, n, KUNWIND_BUDGET) != 0x2000;
	is(bad, 0, "nine bytes of int3 show the entry of each address of the function");
	is(entry_of(0, 0x1fff, KUNWIND_BUDGET), -1, "an address in the padding has no entry");
	is(entry_of(0x1fc0, 0x2040, KUNWIND_BUDGET), 0x2000, "the search includes the chunk at its end");
	is(entry_of(0x2000, 0x2040, KUNWIND_BUDGET), -1, "the search ends at the start of the mapping");
	is(entry_of(0, 0x2000 + (16 << 10) - 16, KUNWIND_BUDGET), 0x2000, "the search goes back 16 KiB");
	is(entry_of(0, 0x2010 + (16 << 10), KUNWIND_BUDGET), -1, "the search ends after 16 KiB");
	is(entry_of(0, 0x2000 + (8 << 10), 200), -1, "the search ends with the budget");
	code[0x2000] = 0xcc;
	is(entry_of(0, 0x2100, KUNWIND_BUDGET), 0x2000, "a breakpoint at the entry is no padding");
	code[0x2001] = 0xcc;
	is(entry_of(0, 0x2100, KUNWIND_BUDGET), -1, "padding that goes on at the address is no entry");
	fill(0x2000, 0x2002, 0x90);
	code[0x1ff7] = 0x90;
	is(entry_of(0, 0x2100, KUNWIND_BUDGET), -1, "eight bytes of int3 may be part of an instruction");
	fill(0x1ff0, 0x2008, 0xcc);
	is(entry_of(0, 0x2100, KUNWIND_BUDGET), -1, "padding that ends at no multiple of 16 is no entry");
	fill(0x1ff0, 0x2008, 0x90);
	memcpy(code + 0x2020, "\x49\x3b\x66\x10", 4);
	is(entry_of(0, 0x2100, KUNWIND_BUDGET), 0x2020, "Go's check of the stack is an entry");
	code[0x2020] = 0xcc;
	is(entry_of(0, 0x2100, KUNWIND_BUDGET), 0x2020,
	   "Go's check of the stack under a breakpoint is an entry");
	code[0x2020] = 0x4d;
	is(entry_of(0, 0x2100, KUNWIND_BUDGET), -1, "a comparison of another register is no entry");
	memcpy(code + 0x2028, "\x49\x3b\x66\x10", 4);
	is(entry_of(0, 0x2100, KUNWIND_BUDGET), -1, "a check at no multiple of 16 is no entry");
	return tap_done();
}

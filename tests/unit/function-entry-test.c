/* SPDX-License-Identifier: MIT */
/*
 * function-entry-test.c - the entry of a function, by the padding before it or
 * by Go's check of the stack; and the entry of main()
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

/* The address of main() that the code at the entry point passes to libc. */
static void test_main(void)
{
	static const struct {
		const char *name, *hex;
		s64 want;	/* from AT; -1: none */
	} starts[] = {
		/* xor %ebp, %ebp; mov %rdx, %r9; pop %rsi; lea 0x100(%rip), %rdi; call *n(%rip) */
		{ "glibc, PIE", "31 ed 49 89 d1 5e 48 8d 3d 00 01 00 00 ff 15 00 00 00 00", 0x10d },
		{ "glibc, direct call", "31 ed 48 8d 3d 00 01 00 00 e8 00 10 00 00", 0x109 },
		{ "glibc, mov of four bytes to %rdi", "48 c7 c7 00 02 01 00 e8 00 10 00 00", 0x200 },
		{ "mov to %edi", "bf 00 02 01 00 e8 00 10 00 00", 0x200 },
		{ "a jump through memory", "48 8d 3d 00 01 00 00 ff 25 00 00 00 00", 0x107 },
		/* xor %ebp, %ebp; lea n(%rip), %rsi; call; ud2; lea 0x100(%rip), %rdi; jmp */
		{ "musl, whose code calls C code",
		  "31 ed 48 8d 35 00 01 00 00 e8 02 00 00 00 0f 0b 48 8d 3d 00 01 00 00 e9 00 10 00 00",
		  0x117 },
		{ "musl, whose code jumps to C code",
		  "31 ed e9 02 00 00 00 0f 0b 48 8d 3d 00 01 00 00 e9 00 10 00 00", 0x110 },
		{ "a second call without an address ends the search",
		  "e8 01 00 00 00 90 e8 01 00 00 00 90 48 8d 3d 00 01 00 00 e8 00 10 00 00", -1 },
		{ "lea to %rsi does not count", "48 8d 35 00 01 00 00 ff 15 00 00 00 00", -1 },
		{ "lea to %r15 does not count", "4c 8d 3d 00 01 00 00 ff 15 00 00 00 00", -1 },
		{ "mov to %r15 does not count", "49 c7 c7 00 02 01 00 ff 15 00 00 00 00", -1 },
		{ "mov to %r15d does not count", "41 bf 00 02 01 00 ff 15 00 00 00 00", -1 },
		{ "lea relative to a register does not count", "48 8d 7e 08 ff 15 00 00 00 00", -1 },
		{ "a return ends the search", "c3 48 8d 3d 00 01 00 00 e8 00 10 00 00", -1 },
		{ "an unknown instruction ends the search", "06 48 8d 3d 00 01 00 00 e8 00 10 00 00", -1 },
	};
	struct kunwind_mem mem = { .lo = AT, .hi = AT + BYTES, .delta = (u64)(uintptr_t)code - AT };
	const char *hex;
	u64 entry;
	u32 i, at;
	s64 got;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		fill(0, BYTES, 0x90);
		for (hex = starts[i].hex, at = 0; *hex; hex += 2 + (hex[2] == ' '))
			sscanf(hex, "%2hhx", &code[at++]);
		mem.left = KUNWIND_BUDGET;
		got = kunwind_code_main(&mem, AT, &entry) ? (s64)(entry - AT) : -1;
		if (!tap_ok(got == starts[i].want, "main(): %s", starts[i].name))
			printf("# got %ld, wanted %ld\n", (long)got, (long)starts[i].want);
	}
	fill(0, BYTES, 0x90);
	memcpy(code + 31, "\x48\x8d\x3d\0\x01\0\0\xff\x15\0\0\0\0", 13);
	mem.left = KUNWIND_BUDGET;
	tap_ok(!kunwind_code_main(&mem, AT, &entry) && mem.left >= KUNWIND_BUDGET - 48,
	       "main(): the search ends after 32 instructions");
	mem.left = KUNWIND_BUDGET;
	tap_ok(!kunwind_code_main(&mem, 0, &entry) && mem.left == KUNWIND_BUDGET,
	       "main(): nothing is read if the entry point is not known");
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
	test_main();
	return tap_done();
}

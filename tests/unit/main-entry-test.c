/* SPDX-License-Identifier: MIT */
/*
 * main-entry-test.c - the address of main() that the code at the entry point passes to libc
 */
#include "../../kmod/core/nocfi/main_entry.h"
#include "../../kmod/core/walk/mem.h"
#include "tap.h"

#define AT	0x10000ULL
#define BYTES	0x8000ULL

static u8 code[BYTES];

static void fill(u64 from, u64 to, u8 byte)
{
	memset(code + from, byte, to - from);
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
	test_main();
	return tap_done();
}

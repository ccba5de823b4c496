/* SPDX-License-Identifier: MIT */
/*
 * nocfi-bytes-test.c - frames without unwind information: all forms of an
 * instruction that calls, and random code (nocfi-scene.h)
 */
#include "nocfi-scene.h"

/*
 * Each ff /2, by the manual's table of ModRM and SIB; the same bytes as /3 are
 * no call.
 */
static void test_forms(void)
{
	unsigned int modrm, sib, bad = 0, forms = 0;
	unsigned long addresses[2];
	u8 trust[2];

	for (modrm = 0; modrm < 256; modrm++)
		for (sib = 0; sib < 256; sib += 1) {
			unsigned int mod = modrm >> 6, rm = modrm & 7, reg = modrm >> 3 & 7;
			u8 bytes[7] = { 0xff, modrm, 0x90, 0x90, 0x90, 0x90, 0x90 };
			struct kunwind_walk walk;
			unsigned int len = 2;

			if ((reg != 2 && reg != 3) || (mod != 3 && rm == 4 ? false : sib))
				continue;
			if (mod != 3 && rm == 4)
				bytes[len++] = sib;
			len += mod == 1;
			if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
				len += 4;
			clear();
			put(LIB + 0x200, bytes, len);
			stack[3] = LIB + 0x200 + len;
			walk = walk_from(IN_F, 0, true, addresses, trust, 2);
			kunwind_walk(&walk);
			forms++;
			if ((walk.count == 2) != (reg == 2) && bad++ < 3)
				printf("# ff %02x %02x, %u bytes: %u frames\n", modrm, sib, len,
				       walk.count);
			if (modrm != 0x14 || len != 7)
				continue;
			/* Its first three bytes are no call. */
			stack[3] = LIB + 0x203;
			walk = walk_from(IN_F, 0, true, addresses, trust, 2);
			kunwind_walk(&walk);
			bad += walk.count == 2;
		}
	tap_ok(!bad && forms == 2 * (8 + 3 * 7 + 3 * 256),
	       "no CFI: calls are recognized among %u forms of the opcode ff", forms);
}

static u64 random_number(void)
{
	static u64 seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 33;
}

static u64 random_code(void)
{
	return LIB + random_number() % 3 * (JIT - LIB) + random_number() % MAPPED;
}

/* Random code and stack: each walk ends, reads in bounds, and has a reason. */
static void test_random(void)
{
	static unsigned long addresses[256];
	static u8 trust[256];
	unsigned int round, i, frames = 0, bad = 0;

	for (round = 0; round < 3000; round++) {
		struct kunwind_walk walk;

		if (!(round % 16)) {
			for (i = 0; i < sizeof(code); i++)
				code[i] = "\xe8\xff\xff\xd0\x15\xe9\xeb\xff\x00\x00\x00\x00\xf3"
					  "\x0f\x05\x48\x10\x55\xc3\x25"[random_number() % 20];
		}
		for (i = 0; i < WORDS; i++)
			stack[i] = random_number() % 2 ? random_code() :
				   random_number() % 4 ? AT(random_number() % WORDS) :
							 random_number();
		walk = walk_from(random_code(), AT(random_number() % WORDS), round & 1, addresses,
				 trust, 256);
		if (kunwind_walk(&walk) >= KUNWIND_NR_REASONS || walk.count < 1 || walk.count > 256)
			bad++;
		for (i = 1; i < walk.count; i++) {
			bad += trust[i] == REGS || trust[i] >= KUNWIND_NR_TRUSTS ||
			       (!(round & 1) && trust[i] == SCAN);
			frames += trust[i] != CFI;
		}
		for (i = walk.count + 1; i < 256; i++)
			bad += trust[i] != CFI;
	}
	if (!tap_ok(!bad && frames > 1000, "no CFI: walks of random code and stacks end in bounds"))
		printf("# %u bad, %u frames\n", bad, frames);
}

int main(void)
{
	if (!nocfi_begin())
		return 1;
	test_forms();
	test_random();
	nocfi_end();
	return tap_done();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * original.c - the bytes of code that breakpoints hide
 *
 * A walk in code without unwind information reads code, and cannot look up a
 * byte over which an int3 was written. breakpoint.c looks such bytes up before
 * a task returns to user mode, and stores them here for the next walk.
 *
 * There is one table for all processes. An entry is one word, the byte and a
 * hash of its address, so readers need no lock and run in any context. The hash
 * has a random part, so that nobody can choose addresses with the same hash as
 * those of another process. When mappings change, the ranges get a new id, and
 * the old entries are overwritten in time.
 *
 * Memory: 32 KB.
 */
#include <linux/compiler.h>
#include <linux/random.h>

#include "original.h"

#define BITS		12
#define FACTOR		0x9e3779b97f4a7c15ULL

static u64 originals[1 << BITS];	/* bits 8-63: of the hash; 0-7: the byte */
static u64 salt[2];

void kunwind_original_init(void)
{
	get_random_bytes(salt, sizeof(salt));
}

static __always_inline u64 hash(u64 id, u64 addr)
{
	u64 h = (id ^ salt[0]) * FACTOR;

	h = ((h << 29 | h >> 35) ^ addr) * FACTOR;
	return (h ^ h >> 32 ^ salt[1]) * FACTOR;
}

bool notrace kunwind_original_find(u64 id, u64 addr, u8 *byte)
{
	const u64 h = hash(id, addr);
	const u64 word = READ_ONCE(originals[h >> (64 - BITS)]);

	*byte = word;
	return !((word ^ h) >> 8);
}

void kunwind_original_keep(u64 id, u64 addr, u8 byte)
{
	const u64 h = hash(id, addr);

	WRITE_ONCE(originals[h >> (64 - BITS)], (h & ~0xffULL) | byte);
}

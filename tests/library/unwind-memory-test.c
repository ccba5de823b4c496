/* SPDX-License-Identifier: MIT */
/*
 * unwind-memory-test.c - the two chunks of memory that a walk keeps: after reads that fail, each
 * word that is read has its value
 *
 * The memory is that of a function: the pages of which the number is even are there, and each word
 * has its address as its value. A read that fails leaves other bytes in the buffer, as a copy that
 * ends in its middle does.
 */
#include "../../libkunwind/unwind/memory.c"
#include "../unit/tap.h"

/* No code is known here. */
const struct kunwind_range *unwind_range_known(const struct kunwind_ranges *ranges, u64 addr)
{
	(void)ranges, (void)addr;
	return NULL;
}
const struct unwind_range *unwind_range_info(const struct unwind_snapshot *snapshot,
					     const struct kunwind_range *range)
{
	(void)snapshot, (void)range;
	return NULL;
}

#define PAGE	4096ULL
#define LOW	0x10000ULL

static u32 calls;

static bool is_there(u64 addr) { return addr >= LOW && !(addr / PAGE % 2); }

static size_t reads(void *data, uint64_t addr, void *buf, size_t len)
{
	u8 *to = buf;
	size_t n;

	(void)data;
	calls++;
	memset(buf, 0xee, len);
	for (n = 0; n + sizeof(u64) <= len && is_there(addr + n); n += sizeof(u64))
		memcpy(to + n, &(u64){ addr + n }, sizeof(u64));
	return n;
}

int main(void)
{
	struct unwind_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	struct unwind_memory memory = { .snapshot = snapshot, .read = reads };
	struct kunwind_mem mem = { .memory = &memory };
	u32 i, wrong = 0, failed = 0, found = 0;
	u64 addr, value, seed = 1;

	for (i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		/* words of four pages: often those of a chunk that was read before */
		addr = LOW + (seed >> 33) % 4 * PAGE + (seed >> 40) % 32 * 8;
		value = 0;
		if (kunwind_unwind_read(&mem, addr, &value)) {
			found++;
			wrong += value != addr || !is_there(addr);
		} else {
			failed++;
			wrong += is_there(addr);
		}
	}
	tap_ok(!wrong && found > 10000 && failed > 10000,
	       "chunks: after %u reads that failed, all of %u words have their values", failed, found);
	tap_ok(calls < found + failed, "chunks: %u of %u words need no call", found + failed - calls,
	       found + failed);
	calls = 0;
	tap_ok(!kunwind_unwind_read(&mem, 1ULL << 63, &value) &&
	       !kunwind_unwind_read(&mem, ~0ULL - 7, &value) &&
	       !kunwind_unwind_read(&mem, (1ULL << 63) - 8, &value) && !calls,
	       "addresses of the kernel, and words that reach them, are not read");
	free(snapshot);
	return tap_done();
}

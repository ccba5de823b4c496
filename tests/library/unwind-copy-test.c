/* SPDX-License-Identifier: MIT */
/*
 * unwind-copy-test.c - which words of this process's memory a walk reads, by which system calls:
 * chunks at the ends of mappings, code that may go away, code in files
 *
 * The memory has two pages, without a page before and after them; each word has its address as
 * its value. The system calls are the test's.
 */
#define _UNWIND_SYSCALL_H
#include <stdbool.h>
static long unwind_syscall(long number, long a, long b, long c, long d, long e, long f);

#include "../../libkunwind/unwind/memory.c"
#include <sys/mman.h>
#include "../unit/tap.h"

#define PAGE	4096ULL

static u8 *memory_at;
static u32 pids, copies, checks, file_reads;
static long refused;			/* result of process_vm_readv(), or 0 */
static struct iovec asked;		/* of the last process_vm_readv() */
static long file_offset, file_gives;

static bool is_there(u64 from, u64 len)
{
	return from >= (u64)memory_at && from + len <= (u64)memory_at + 2 * PAGE;
}

static long unwind_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const struct iovec *here = (void *)b, *there = (void *)d;
	size_t len;

	(void)f;
	switch (number) {
	case SYS_getpid:
		pids++;
		return 77;
	case SYS_process_vm_readv:
		copies++;
		asked = *there;
		if (refused)
			return refused;
		if (a != 77 || c != 1 || e != 1 || here->iov_len != there->iov_len)
			return -EINVAL;
		if (!is_there((u64)there->iov_base, 1))
			return -EFAULT;
		len = min(here->iov_len, (size_t)((u64)memory_at + 2 * PAGE - (u64)there->iov_base));
		memcpy(here->iov_base, there->iov_base, len);
		return len;
	case SYS_rt_sigprocmask:
		checks++;
		return is_there(b, 8) && a == -1 ? -EINVAL : -EFAULT;
	case SYS_pread64:
		file_reads++;
		file_offset = d;
		memset((void *)b, 0x5a, file_gives);
		return file_gives;
	default:
		return -ENOSYS;
	}
}

/* One range of code, or none. */
static struct kunwind_range range;
static struct unwind_range info;
static bool late;			/* the range is in no snapshot */

const struct kunwind_range *unwind_range_known(const struct kunwind_ranges *ranges, u64 addr)
{
	(void)ranges;
	return addr - range.start < range.end - range.start ? &range : NULL;
}

const struct unwind_range *unwind_range_info(const struct unwind_snapshot *snapshot,
					     const struct kunwind_range *wanted)
{
	(void)snapshot;
	return late || wanted != &range ? NULL : &info;
}

static struct unwind_snapshot *snapshot;
static struct unwind_memory memory;
static struct kunwind_mem mem = { .memory = &memory };

/* As a walk begins. */
static void begin(void)
{
	memset(&memory, 0, sizeof(memory));
	memory.snapshot = snapshot;
	pids = copies = checks = file_reads = 0;
	refused = 0;
}

/* A word of the memory. */
static bool right(u64 addr)
{
	u64 value = 0, want;

	memcpy(&want, (void *)addr, sizeof(want));
	return kunwind_unwind_read(&mem, addr, &value) && value == want;
}

static bool missed(u64 addr)
{
	u64 value = 1;

	memory.missed = 0;
	return !kunwind_unwind_read(&mem, addr, &value);
}

static void test_chunks(void)
{
	const u64 at = (u64)memory_at;
	u32 i, wrong = 0;

	begin();
	tap_ok(right(at + 64) && copies == 1 && (u64)asked.iov_base == at &&
	       asked.iov_len == UNWIND_CHUNK, "a read copies the chunk around the word");
	for (i = 0; i <= UNWIND_CHUNK - 8; i++)
		wrong += !right(at + i);
	tap_ok(!wrong && copies == 1, "all other words of the chunk need no call");
	tap_ok(right(at + UNWIND_CHUNK) && copies == 2, "the word after the chunk is not in it");
	tap_ok(right(at) && right(at + UNWIND_CHUNK) && copies == 2, "two chunks are kept");
	tap_ok(right(at + 2 * UNWIND_CHUNK) && right(at + UNWIND_CHUNK) && copies == 3,
	       "a third one takes the place of the older");
	tap_ok(right(at) && copies == 4, "which is gone");
	tap_ok(pids == 1, "the process number is asked for once in a walk");
	begin();
	tap_ok(right(at + UNWIND_CHUNK - 8) && asked.iov_len == UNWIND_CHUNK && right(at) && copies == 1,
	       "the last word of a chunk is copied with the chunk");
	begin();
	for (i = UNWIND_CHUNK - 7; i < UNWIND_CHUNK; i++)
		wrong += !right(at + i) || copies != i + 8 - UNWIND_CHUNK || asked.iov_len != 8 ||
			 (u64)asked.iov_base != at + i;
	tap_ok(!wrong, "a word across two chunks is copied alone");
}

static void test_ends(void)
{
	const u64 at = (u64)memory_at, end = at + 2 * PAGE;
	u32 i, wrong = 0;

	begin();
	tap_ok(right(at) && right(end - 8) && right(at + PAGE - 4),
	       "the first and the last word of a mapping");
	for (i = 1; i < 8; i++) {
		wrong += !missed(end - i) || memory.missed != end - i;
		wrong += !missed(at - i) || memory.missed != at - i;
	}
	tap_ok(!wrong, "a word that reaches over its end cannot be read, and is what is missed");
	tap_ok(missed(end) && memory.missed == end && missed(at - 8) && memory.missed == at - 8,
	       "nor words beside it");
	tap_ok(right(end - 8), "the last word can be read after that");
}

static void test_refused(void)
{
	static const int errors[] = { EPERM, ENOSYS, EACCES };
	const u64 at = (u64)memory_at, end = at + 2 * PAGE;
	u8 bytes[64], *guard = bytes + 29;
	pid_t pid = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		begin();
		refused = -errors[i];
		tap_ok(right(at) && right(end - 8) && missed(end - 7) && missed(end) && checks,
		       "error %d: words that can be read are loaded", errors[i]);
	}
	begin();
	refused = -ESRCH;
	tap_ok(missed(at) && !checks, "another error: the word cannot be read");
	refused = -EPERM;
	*guard = 1;
	tap_ok(unwind_copy(at + 8, bytes, 29, &pid) && !memcmp(bytes, (void *)(at + 8), 29) && *guard == 1,
	       "29 bytes are copied, and no more");
	checks = 0;
	tap_ok(!unwind_copy(end - 16, bytes, 24, &pid) && checks == 3,
	       "the word after the end is checked before it is loaded");
	tap_ok(!unwind_copy(end - 2, bytes, 4, &pid), "the same for a part of a word");
	refused = 16;
	tap_ok(!unwind_copy(at, bytes, 24, &pid), "a copy of less bytes is none");
}

/* A load of code that is not mapped would end the test. */
static void test_code(void)
{
	static struct unwind_object object = { .own = true, .fd = -1 };
	const u64 at = (u64)memory_at, gone = at + 2 * PAGE;

	info = (struct unwind_range){ .object = &object };
	range = (struct kunwind_range){ .start = at + 8, .end = at + PAGE };
	begin();
	tap_ok(right(at + 8) && right(at + PAGE - 8) && !copies,
	       "code that stays is loaded, to its last word");
	tap_ok(right(at) && right(at + PAGE - 7) && right(at + PAGE) && copies == 3,
	       "words that are not all code are copied");
	begin();
	range = (struct kunwind_range){ .start = gone, .end = gone + PAGE, .dead = 1 };
	tap_ok(missed(gone) && copies == 1, "code that is dead is not loaded");
	range.dead = 0;
	object.loaded.at = gone;
	tap_ok(missed(gone) && copies == 2, "nor code of an object that may be unloaded");
	object.loaded.at = 0;
	object.own = false;
	tap_ok(missed(gone) && copies == 3, "nor code of a mapped file");
	info.object = NULL;
	tap_ok(missed(gone) && copies == 4, "nor code of no file");
	late = true;
	tap_ok(missed(gone) && copies == 5, "nor code that no snapshot knows");
	tap_ok(!memory.missed, "code that cannot be read is not missed");
	late = false;
	memset(&range, 0, sizeof(range));
}

static size_t given;			/* by the caller's function */
static size_t give(void *data, uint64_t addr, void *buf, size_t len)
{
	(void)data, (void)addr;
	memset(buf, 0x11, given < len ? given : len);
	return given;
}

static void test_files(void)
{
	static struct unwind_object object = { .fd = 5 };
	u64 value = 0;

	begin();
	memory.read = give;
	info = (struct unwind_range){ .object = &object, .offset = 0x3000 };
	range = (struct kunwind_range){ .start = 0x10000, .end = 0x11000 };
	given = 0;
	file_gives = 8;
	tap_ok(kunwind_unwind_read(&mem, 0x10ff8, &value) && value == 0x5a5a5a5a5a5a5a5a &&
	       file_offset == 0x3ff8, "code that the function has not is read in the file, at its offset");
	tap_ok(missed(0x10ff9) && file_reads == 1 && !memory.missed, "a word across the range's end is not");
	file_gives = 7;
	tap_ok(missed(0x10000) && file_reads == 2 && !memory.missed, "nor one that the file has not");
	file_gives = 8;
	object.fd = -1;
	tap_ok(missed(0x10000) && file_reads == 2, "nor without a file");
	object.fd = 0;
	tap_ok(kunwind_unwind_read(&mem, 0x10000, &value) && file_reads == 3, "descriptor 0 is one");
	tap_ok(missed(0x20000) && memory.missed == 0x20000 && file_reads == 3,
	       "of a stack, the first byte is missed");
	given = 5;
	tap_ok(missed(0x20000) && memory.missed == 0x20005, "or the one after those that are there");
	given = 8;
	tap_ok(kunwind_unwind_read(&mem, 0x20000, &value) && value == 0x1111111111111111, "eight are enough");
	given = UNWIND_CHUNK + 1;
	tap_ok(missed(0x30000) && memory.missed == 0x30000,
	       "a function that gives more than asked is not believed");
	given = UNWIND_CHUNK;
	tap_ok(kunwind_unwind_read(&mem, 0x30000, &value), "it is if it gives all");
	tap_ok(!copies && !pids, "no memory of this process is read");
}

int main(void)
{
	u64 i;

	snapshot = calloc(1, sizeof(*snapshot));
	memory_at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory_at, PAGE, PROT_NONE);
	mprotect(memory_at + 3 * PAGE, PAGE, PROT_NONE);
	memory_at += PAGE;
	for (i = 0; i < 2 * PAGE; i += 8)
		memcpy(memory_at + i, &(u64){ (u64)memory_at + i }, 8);
	test_chunks();
	test_ends();
	test_refused();
	test_code();
	test_files();
	free(snapshot);
	return tap_done();
}

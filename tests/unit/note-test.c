/* SPDX-License-Identifier: MIT */
/*
 * note-test.c - a walk is not recorded if it depends on an input that a record
 * cannot hold
 *
 * Each walk is complete. Then an input changes that no record contains: a word
 * from which the CFA was computed, a register, the target of a return probe.
 * The next walk must not reuse the record.
 */
#include "scene.h"

static struct kunwind_walk noted(unsigned long *addresses)
{
	return (struct kunwind_walk){
		.ranges = ranges, .cache = &cache, .replay = &replay, .mem = mem, .regs = regs,
		.addresses = addresses, .capacity = room,
	};
}

/* Walks twice, then by the cache; both complete with @count addresses. */
static bool walks(u32 count)
{
	unsigned long addresses[8];
	bool good = true;
	u32 round;

	for (round = 0; round < 2; round++) {
		struct kunwind_walk walk = noted(addresses);

		good &= kunwind_walk(&walk) == KUNWIND_COMPLETE && walk.count == count;
	}
	return good;
}

static bool without_cache(void)
{
	unsigned long addresses[8];
	struct kunwind_walk walk = noted(addresses);

	walk.cache = NULL;
	return kunwind_walk(&walk) == KUNWIND_COMPLETE;
}

static bool taken(void)
{
	unsigned long addresses[8];
	struct kunwind_walk walk = noted(addresses);

	return kunwind_replay_walk(&walk);
}

static void begin(const char *code)
{
	scene();
	object(&(struct function){ 0, 0x100, code }, 1, 0x1000);
	regs.r[KUNWIND_RA] = CODE(1, 0x10);
	regs.r[KUNWIND_RBP] = WORD(4);
	regs.r[KUNWIND_R15] = WORD(8);
	stack[3] = WORD(10);
	stack[9] = 0;
}

/* Code of nops, with a system call that ends at @end. */
static void put_syscall(u32 end)
{
	static u8 code[0x200];

	memset(code, 0x90, sizeof(code));
	memcpy(code + end - 2, "\x0f\x05", 2);
	mem.code_lo = CODE(1, 0);
	mem.code_hi = CODE(1, sizeof(code));
	mem.code_delta = (u64)(uintptr_t)code - CODE(1, 0);
}

int main(void)
{
	begin("0e 50");
	tap_ok(walks(1) && taken(), "CFA from rsp: the walk is recorded and reused");
	stack[9] = CALLER;
	tap_ok(!taken(), "CFA from rsp: the record is not reused after a stack word changed");

	begin("0f 03 76 78 06");
	tap_ok(walks(1), "CFA read from memory: the walk is complete");
	stack[3] = WORD(20);
	tap_ok(!taken(), "CFA read from memory: the walk is not reused");

	begin("0f 05 76 78 06 23 00");
	tap_ok(walks(1), "CFA by a full rule: the walk is complete");
	stack[3] = WORD(20);
	tap_ok(!taken(), "CFA by a full rule: the walk is not reused");

	begin("0c 0f 10");
	tap_ok(walks(1), "CFA from r15: the walk is complete");
	regs.r[KUNWIND_R15] = WORD(20);
	tap_ok(!taken(), "CFA from r15: the walk is not reused");

	begin("");
	stack[0] = 0x123000;		/* the start of a page */
	stack[1] = 0;
	mem.probe_slot = STACK;
	mem.probe_return = CODE(1, 0x20);
	tap_ok(walks(2), "return probe: a walk through its trampoline is complete");
	mem.probe_return = CODE(1, 0x30);
	tap_ok(!taken(), "return probe: the walk is not reused after the target changed");

	begin("");
	tap_ok(!walks(2) && !replay.id, "incomplete walk: not recorded");

	begin("0e 50");
	tap_ok(without_cache() && !replay.id, "a walk without a cache: not recorded");

	/* The buffer is full when the zero is read. */
	begin("0e 50");
	room = 1;
	tap_ok(walks(1) && taken(), "as many addresses as there is room for: the walk is recorded");
	stack[9] = CALLER;
	tap_ok(!taken(), "the zero after the last address is part of the record");

	begin("0e 50");
	put_syscall(0x10);
	tap_ok(walks(1) && taken(), "a system call in the middle of a function: the walk is recorded");

	/* The rule of the system call holds because rcx is the address after it. */
	scene();
	OBJECT(0x200, { 0, 0x100, "07 10" }, { 0x100, 0x100, "0e 50" });
	put_syscall(0x100);
	regs.r[KUNWIND_RA] = regs.r[KUNWIND_RCX] = CODE(1, 0x100);
	tap_ok(walks(1), "a system call at the end of a function: the walk is complete");
	tap_ok(!taken(), "a system call at the end of a function: the walk is not reused");
	return tap_done();
}

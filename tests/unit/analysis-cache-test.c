/* SPDX-License-Identifier: MIT */
/*
 * analysis-cache-test.c - a cached answer about code equals the result of
 * decoding it again
 *
 * A stack is walked without a cache, with an empty one, and with one that holds
 * the answers of the previous walk. Then each bit of the code is changed in
 * turn: a walk with answers about the old code must find what a walk without a
 * cache finds. The same must hold for each question about random code.
 */
#include <stdio.h>
#include <string.h>

#include "../../kmod/core/nocfi/analysis_cache.h"
#include "../../kmod/core/walk/mem.h"
#include "tap.h"

#define CODE	0x10000ULL
#define STACK	0x7000ULL
#define WORDS	32
#define FRAMES	3		/* calls of f() by itself */

static u8 code[512];
static u64 stack[WORDS];
static struct kunwind_analysis_cache cache;
static struct kunwind_ranges *ranges;

struct found {
	unsigned long addresses[16];
	u8 trust[16];
	u32 count, spent;
	enum kunwind_reason reason;
};

static u64 space = 1;

static void walk_from(u64 ip, struct kunwind_analysis_cache *with, struct found *found)
{
	struct kunwind_walk walk = {
		.ranges = ranges, .addresses = found->addresses, .trust = found->trust,
		.capacity = ARRAY_SIZE(found->addresses),
		.mem = { .lo = STACK, .hi = STACK + sizeof(stack),
			 .delta = (u64)(uintptr_t)stack - STACK, .code_lo = CODE,
			 .code_hi = CODE + sizeof(code), .code_delta = (u64)(uintptr_t)code - CODE,
			 .answers = with, .space = space },
	};

	memset(found, 0, sizeof(*found));
	walk.regs.r[KUNWIND_RA] = ip;
	walk.regs.r[KUNWIND_RSP] = STACK;
	walk.regs.valid = KUNWIND_REG(KUNWIND_RA) | KUNWIND_REG(KUNWIND_RSP);
	found->reason = kunwind_walk(&walk);
	found->count = walk.count;
	found->spent = kunwind_budget(&walk) - walk.mem.left;
}

static bool same(const struct found *a, const struct found *b)
{
	return a->reason == b->reason && a->count == b->count &&
	       !memcmp(a->addresses, b->addresses, sizeof(a->addresses)) &&
	       !memcmp(a->trust, b->trust, sizeof(a->trust));
}

static void call_at(u32 at, u32 to)
{
	const s32 distance = to - (at + 5);

	code[at] = 0xe8;
	memcpy(code + at + 1, &distance, 4);
}

/*
 * f at 0: push %rbx; sub $16, %rsp; nops; then add $16, %rsp; pop %rbx; ret. A
 * jump in its middle skips invalid bytes, so its code is read in two pieces. f
 * calls itself at 0x40. main at 0x100 calls f by a stub at 0xc0, which jumps to
 * f.
 */
static void scene(void)
{
	u32 i;

	memset(code, 0x90, sizeof(code));
	memcpy(code, "\x53\x48\x83\xec\x10", 5);
	call_at(0x40, 0);
	memcpy(code + 0x50, "\xeb\x3e", 2);
	memset(code + 0x52, 0x06, 0x3e);			/* invalid */
	memcpy(code + 0x90, "\x48\x83\xc4\x10\x5b\xc3", 6);
	memcpy(code + 0xc0, "\x50\x58\xe9", 3);
	memcpy(code + 0xc3, "\x39\xff\xff\xff", 4);
	memset(code + 0xf0, 0x06, 16);
	call_at(0x110, 0xc0);
	memset(stack, 0, sizeof(stack));
	for (i = 0; i < FRAMES; i++)
		stack[4 * i + 3] = CODE + 0x45;
	stack[4 * i + 3] = CODE + 0x115;
}

/*
 * Questions about the code at @from, and about one of its instructions at @to.
 */
enum { READ, AHEAD, TAIL, QUESTIONS };

struct answer {
	struct kunwind_code code;
	u64 tail;
	u32 left, spent;
	bool yes;
};

static u32 tail_left = 100;	/* instructions that TAIL may read */

/* @with: NULL, or a cache for the walk with number with->walk. */
static struct answer ask(u32 question, u64 from, u64 to, struct kunwind_analysis_cache *with,
			 u32 budget)
{
	struct kunwind_mem mem = { .lo = STACK, .hi = STACK + sizeof(stack),
				   .delta = (u64)(uintptr_t)stack - STACK, .code_lo = CODE,
				   .code_hi = CODE + sizeof(code),
				   .code_delta = (u64)(uintptr_t)code - CODE,
				   .answers = with, .asked = with, .left = budget };
	struct answer answer = { .left = tail_left };

	switch (question) {
	case READ:
		kunwind_cached_code_read(&mem, from, to, &answer.code);
		break;
	case AHEAD:
		answer.yes = kunwind_cached_code_ahead(&mem, from, 0, &answer.code);
		if (!answer.yes)
			answer.code = (struct kunwind_code){ };
		break;
	default:
		answer.tail = kunwind_cached_code_tail(&mem, from, CODE, to, &answer.left);
	}
	answer.spent = budget - mem.left;
	return answer;
}

static bool same_answers(const struct answer *a, const struct answer *b)
{
	return a->code.depth == b->code.depth && a->code.frame == b->code.frame &&
	       a->code.rbp_at == b->code.rbp_at && a->tail == b->tail && a->left == b->left &&
	       a->yes == b->yes;
}

/* Asks each question with a budget of @left, then again: no wrong answer. */
static bool same_after(u32 left)
{
	struct answer want, got;
	u32 question, bad = 0;

	memset(&cache, 0, sizeof(cache));
	cache.id = cache.walk = cache.space = 1;
	for (question = 0; question < QUESTIONS; question++) {
		const u64 from = question == READ ? CODE : question == TAIL ? CODE + 0xc0 : CODE + 0x45;

		ask(question, from, CODE + 0x45, &cache, left);
		got = ask(question, from, CODE + 0x45, &cache, KUNWIND_BUDGET);
		want = ask(question, from, CODE + 0x45, NULL, KUNWIND_BUDGET);
		bad += !same_answers(&want, &got);
	}
	return !bad;
}

/* Pieces of code of 1 to 15 bytes; the longest ones end a window of reading. */
static const struct {
	u8 size;
	u8 bytes[15];
} insns[] = {
	{ 1, "\x90" }, { 1, "\x53" }, { 1, "\x5b" }, { 1, "\x55" }, { 1, "\x5d" }, { 1, "\xc9" },
	{ 1, "\xc3" }, { 2, "\x75\x20" }, { 2, "\xeb\x30" }, { 2, "\x74\x48" },
	{ 3, "\x48\x89\xe5" }, { 4, "\x48\x83\xec\x10" }, { 4, "\x48\x83\xc4\x10" },
	{ 5, "\xe9\x28\x00\x00\x00" }, { 5, "\xe9\xb0\xff\xff\xff" },
	{ 6, "\x0f\x85\x38\x00\x00\x00" }, { 7, "\x48\x81\xec\x00\x01\x00\x00" },
	{ 10, "\x2e\x2e\x2e\x48\x81\xec\x08\x00\x00\x00" },
	{ 13, "\x2e\x2e\x2e\x2e\x2e\x2e\x48\x81\xc4\x08\x00\x00\x00" },
	{ 15, "\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x48\x81\xec\x08\x00\x00\x00" },
	{ 15, "\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x48\x81\xc4\x08\x00\x00\x00" },
};

static u32 drawn(u32 below)
{
	static u64 state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

/* Fills the code. Returns the address of one of its instructions. */
static u64 random_code(void)
{
	u32 at, i, to = 0;

	memset(code, 0x90, sizeof(code));
	for (at = 0; at + 15 < sizeof(code); at += insns[i].size) {
		i = drawn(ARRAY_SIZE(insns));
		memcpy(code + at, insns[i].bytes, insns[i].size);
		if (at < 160)
			to = at;
	}
	return CODE + to;
}

static bool found_nothing(u32 question, const struct answer *answer)
{
	return question == TAIL ? !answer->tail : question == AHEAD && !answer->yes;
}

/* One bit of the code changes between two walks. */
static void test_changes(void)
{
	u32 round, question, at, bad = 0, differ = 0, kept = 0;

	for (round = 0; round < 300; round++) {
		const u64 to = random_code();

		for (question = 0; question < QUESTIONS; question++) {
			const struct answer before = ask(question, CODE, to, NULL, KUNWIND_BUDGET);

			for (at = 0; at < sizeof(code); at++) {
				const u8 flip = 1U << drawn(8);
				struct answer want, got;

				memset(&cache, 0, sizeof(cache));
				cache.id = cache.walk = 1;
				ask(question, CODE, to, &cache, KUNWIND_BUDGET);
				cache.walk++;
				code[at] ^= flip;
				got = ask(question, CODE, to, &cache, KUNWIND_BUDGET);
				want = ask(question, CODE, to, NULL, KUNWIND_BUDGET);
				code[at] ^= flip;
				differ += !same_answers(&want, &before);
				/* valid if the first pieces are equal */
				if (found_nothing(question, &got) && same_answers(&got, &before))
					kept += !same_answers(&want, &got);
				else
					bad += !same_answers(&want, &got);
			}
		}
	}
	printf("# %u changed answers, %u wrong, %u times nothing was found again\n", differ, bad,
	       kept);
	tap_ok(!bad && differ > 1000 && kept < differ / 10,
	       "analysis cache: a change of random code discards the answer of each question");
}

/*
 * Code of @nr pieces, each a jump to the next, and then @last, @times. Returns
 * the answer to AHEAD in a second walk; *@cost: the units that it cost.
 */
static struct answer ask_again(u32 nr, u8 last, u32 times, u32 *cost)
{
	struct answer answer;
	u32 i;

	memset(code, 0x06, sizeof(code));			/* invalid */
	for (i = 0; i < nr; i++)
		memcpy(code + 64 * i, "\xeb\x3e", 2);
	memset(code + 64 * nr, last, times);
	memset(&cache, 0, sizeof(cache));
	cache.id = cache.walk = 1;
	ask(AHEAD, CODE, 0, &cache, KUNWIND_BUDGET);
	cache.walk++;
	answer = ask(AHEAD, CODE, 0, &cache, KUNWIND_BUDGET);
	*cost = answer.spent;
	return answer;
}

static void test_nothing(void)
{
	const u32 all = 6, few = 1 + 2 * KUNWIND_ANALYSIS_CACHE_PIECES;	/* units */
	u32 cost;

	tap_ok(ask_again(all, 0xc3, 1, &cost).yes && cost > few,
	       "analysis cache: an answer from too much code is valid for one walk only");
	tap_ok(!ask_again(all, 0x06, 1, &cost).yes && cost <= few,
	       "analysis cache: \"nothing found\" in much code is valid for the next walk");
	code[0] = 0xc3;
	cache.walk++;
	tap_ok(ask(AHEAD, CODE, 0, &cache, KUNWIND_BUDGET).yes,
	       "analysis cache: \"nothing found\" is discarded if the code's first pieces change");
	tap_ok(!ask_again(all, 0xcc, 1, &cost).yes && cost > few,
	       "analysis cache: \"nothing found\" is not kept if a breakpoint hides an instruction");
	tap_ok(!ask_again(2, 0xcc, 1, &cost).yes && cost > 3,
	       "analysis cache: \"nothing found\" is not kept if a breakpoint is in the first pieces");
	code[64 * 2 + 1] = 0xcc;
	ask(AHEAD, CODE, 0, &cache, KUNWIND_BUDGET);
	cache.walk++;
	tap_ok(!ask(AHEAD, CODE, 0, &cache, KUNWIND_BUDGET).yes &&
	       ask(AHEAD, CODE, 0, &cache, KUNWIND_BUDGET).spent == 1,
	       "analysis cache: \"nothing found\" is kept if a run of breakpoints is padding");
	tap_ok(!ask_again(7, 0x90, 64, &cost).yes && cost > few,
	       "analysis cache: \"nothing found\" is not kept if code could not be read");
}

/* No code can be read at first, so there is nothing to compare later. */
static void test_unreadable(void)
{
	const struct answer far = ask(AHEAD, CODE + (1 << 20), 0, &cache, KUNWIND_BUDGET);
	struct kunwind_mem mem = { .lo = STACK, .hi = STACK + sizeof(stack),
				   .delta = (u64)(uintptr_t)stack - STACK, .code_lo = CODE + (1 << 20),
				   .code_hi = CODE + (1 << 20) + sizeof(code),
				   .code_delta = (u64)(uintptr_t)code - CODE - (1 << 20),
				   .answers = &cache, .left = KUNWIND_BUDGET };
	struct kunwind_code found;

	mem.asked = true;
	memset(code, 0xc3, sizeof(code));
	cache.walk++;
	tap_ok(!far.yes && kunwind_cached_code_ahead(&mem, CODE + (1 << 20), 0, &found),
	       "analysis cache: \"nothing found\" in code that was not there is not kept");
}

/* An answer for fewer instructions says nothing about more of them. */
static void test_left(void)
{
	u32 left, before, bad = 0, differ = 0;
	struct answer want, got;

	memset(code, 0x90, sizeof(code));
	call_at(0x60, 0);
	code[0x60] = 0xe9;		/* a jump */
	for (before = 1; before < 128; before += 9) {
		for (left = 1; left < 128; left += 7) {
			memset(&cache, 0, sizeof(cache));
			cache.id = cache.walk = cache.space = 1;
			tail_left = before;
			got = ask(TAIL, CODE, CODE + 0x65, &cache, KUNWIND_BUDGET);
			tail_left = left;
			want = ask(TAIL, CODE, CODE + 0x65, NULL, KUNWIND_BUDGET);
			differ += !same_answers(&want, &got);
			got = ask(TAIL, CODE, CODE + 0x65, &cache, KUNWIND_BUDGET);
			bad += !same_answers(&want, &got);
		}
	}
	tail_left = 100;
	tap_ok(!bad && differ > 50,
	       "analysis cache: how many instructions may be read is part of the question");
}

/* All questions about all places, in two walks: many use the same entry. */
static void test_places(void)
{
	u32 round, question, at, walk, bad = 0;

	for (round = 0; round < 20; round++) {
		random_code();
		memset(&cache, 0, sizeof(cache));
		cache.id = 1;
		for (walk = 1; walk <= 2; walk++) {
			cache.walk = walk;
			for (at = 0; at < sizeof(code) - 4; at++)
				for (question = 0; question < 2 * QUESTIONS; question++) {
					const u64 to = CODE + at + drawn(3);
					const struct answer got = ask(question % QUESTIONS, CODE + at,
								      to, &cache, KUNWIND_BUDGET);
					const struct answer want = ask(question % QUESTIONS, CODE + at,
								       to, NULL, KUNWIND_BUDGET);

					bad += !same_answers(&want, &got);
				}
		}
	}
	tap_ok(!bad, "analysis cache: no question gets the answer of another");
}

static void test_cost(void)
{
	const u64 to = CODE + 320;
	struct answer first, same_walk, next;

	memset(code, 0x90, sizeof(code));
	memset(&cache, 0, sizeof(cache));
	cache.id = cache.walk = 1;
	first = ask(READ, CODE, to, &cache, KUNWIND_BUDGET);
	same_walk = ask(READ, CODE, to, &cache, KUNWIND_BUDGET);
	cache.walk++;
	next = ask(READ, CODE, to, &cache, KUNWIND_BUDGET);
	printf("# 320 instructions: %u units, %u in the same walk, %u in the next\n", first.spent,
	       same_walk.spent, next.spent);
	tap_ok(first.spent > 320 && same_walk.spent == 1 && next.spent >= 2 + 320 / 64,
	       "analysis cache: the budget pays for a question and for each 64 bytes compared");
	cache.walk++;
	tap_ok(ask(READ, CODE, to, &cache, 4).spent == 4,
	       "analysis cache: comparing the code can spend the whole budget");
}

/*
 * Code with the same hash: the top bit of a word changes, and bit 28 of the
 * next word. A forked process may write this over code that it shares with its
 * parent.
 */
static void test_spaces(void)
{
	const u64 to = CODE + 32;
	struct answer first, own, other, want;

	memset(code, 0x90, sizeof(code));
	memcpy(code + 3, "\x48\x81\xec\x08\x00\x00\x00", 7);	/* sub $8, %rsp */
	memcpy(code + 10, "\xb8\x00\x00\x00\x00", 5);		/* mov $0, %eax */
	memset(&cache, 0, sizeof(cache));
	cache.id = cache.walk = cache.space = 1;
	first = ask(READ, CODE, to, &cache, KUNWIND_BUDGET);
	code[7] ^= 0x80;
	code[11] ^= 0x10;
	want = ask(READ, CODE, to, NULL, KUNWIND_BUDGET);
	cache.walk++;
	own = ask(READ, CODE, to, &cache, KUNWIND_BUDGET);
	cache.walk++;
	cache.space = 2;
	other = ask(READ, CODE, to, &cache, KUNWIND_BUDGET);
	tap_ok(first.code.depth == 8 && want.code.depth == 0x8008 && own.code.depth == 8,
	       "analysis cache: a process can make its own code collide");
	tap_ok(other.code.depth == 0x8008,
	       "analysis cache: code that collides does not change answers in another address space");
	/*
	 * Without a number of its own, a walk might use what another walk
	 * found.
	 */
	kunwind_cached_code_read(&(struct kunwind_mem){ .lo = STACK, .hi = STACK + sizeof(stack),
		.delta = (u64)(uintptr_t)stack - STACK, .code_lo = CODE,
		.code_hi = CODE + sizeof(code), .code_delta = (u64)(uintptr_t)code - CODE,
		.answers = &cache, .left = KUNWIND_BUDGET }, CODE + 32, CODE + 33, &own.code);
	for (u32 i = 0; i < ARRAY_SIZE(cache.entry); i++)
		if (cache.entry[i].from == CODE + 32)
			other.yes = true;
	tap_ok(!other.yes && !own.code.depth, "analysis cache: a walk without a number stores none");
}

int main(void)
{
	struct found none, first, again, other;
	u32 i, bad = 0, differ = 0, flip;

	ranges = calloc(1, sizeof(*ranges) + sizeof(ranges->range[0]));
	ranges->id = 1;
	ranges->nr = 1;
	ranges->range[0] = (struct kunwind_range){
		.start = CODE, .end = CODE + sizeof(code), .reason = KUNWIND_NO_OBJECT };
	scene();
	walk_from(CODE + 0x45, NULL, &none);
	walk_from(CODE + 0x45, &cache, &first);
	walk_from(CODE + 0x45, &cache, &again);
	for (i = 0; i < none.count; i++)
		printf("# %lx %s\n", none.addresses[i], kunwind_trust_name(none.trust[i]));
	printf("# %u units without a cache, %u with an empty one, %u with a filled one\n", none.spent,
	       first.spent, again.spent);
	tap_ok(none.count == FRAMES + 2,
	       "analysis cache: a walk without it finds each call of the test's code");
	tap_ok(same(&none, &first) && same(&none, &again),
	       "analysis cache: a walk with it finds what a walk without it finds");
	tap_ok(first.spent < none.spent && again.spent < first.spent,
	       "analysis cache: a walk with it costs less, the next walk even less");

	for (i = 0; i < sizeof(code); i++)
		for (flip = 1; flip < 256; flip <<= 1) {
			memset(&cache, 0, sizeof(cache));
			walk_from(CODE + 0x45, &cache, &first);
			code[i] ^= flip;
			walk_from(CODE + 0x45, NULL, &other);
			walk_from(CODE + 0x45, &cache, &again);
			code[i] ^= flip;
			bad += !same(&other, &again);
			differ += !same(&other, &none);
		}
	printf("# %u changes of a bit, %u of them change what is found, %u unseen\n", 8 * i,
	       differ, bad);
	tap_ok(!bad && differ > 50, "analysis cache: no answer about changed code is used");

	memset(&cache, 0, sizeof(cache));
	walk_from(CODE + 0x45, &cache, &first);
	walk_from(CODE + 0x45, &cache, &first);
	ranges->id = 2;
	walk_from(CODE + 0x45, &cache, &again);
	tap_ok(same(&none, &again) && again.spent > first.spent,
	       "analysis cache: an answer for other ranges is not used");
	ranges->id = 1;
	walk_from(CODE + 0x45, &cache, &first);
	walk_from(CODE + 0x45, &cache, &first);
	space = 2;
	walk_from(CODE + 0x45, &cache, &again);
	space = 1;
	tap_ok(same(&none, &again) && again.spent > first.spent,
	       "analysis cache: an answer for another address space is not used");

	/*
	 * Wherever the budget ends, no answer may come from code that was not
	 * read.
	 */
	for (i = bad = 0; i < 100; i++)
		bad += !same_after(i);
	tap_ok(!bad, "analysis cache: a question that spends the budget stores none");

	test_changes();
	test_nothing();
	test_unreadable();
	test_left();
	test_places();
	test_cost();
	test_spaces();
	free(ranges);
	return tap_done();
}

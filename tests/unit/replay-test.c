// SPDX-License-Identifier: MIT
/*
 * replay-test.c - the record of the last walk is reused while none of its
 * inputs has changed
 *
 * A copy of this process's own stack is walked with a record and without. Both
 * walks must give the same result, after any change of the copy or the
 * registers and after none. If any recorded word or the mappings' id differs,
 * the walk must not reuse the record.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "../bench/self.h"
#include "tap.h"
#include "kunwind_core.h"

#define ROUNDS	60000

static struct kunwind_ranges *ranges;
static struct kunwind_rule_cache cache;
static struct kunwind_replay replay;
static u64 lo, hi;		/* the stack that was copied */
static u8 *copy;

struct found {
	unsigned long addresses[KUNWIND_REPLAY_FRAMES];
	u32 count;
	enum kunwind_reason reason;
};

static struct kunwind_walk walk_of(const struct kunwind_regs *regs, struct found *found, u32 capacity)
{
	return (struct kunwind_walk){
		.ranges = ranges, .cache = &cache, .regs = *regs,
		.mem = { .lo = lo, .hi = hi, .delta = (u64)copy - lo },
		.addresses = found->addresses, .capacity = capacity,
	};
}

static void walk(const struct kunwind_regs *regs, struct kunwind_replay *note, u32 capacity,
		 struct found *found)
{
	struct kunwind_walk walk = walk_of(regs, found, capacity);

	memset(found, 0xee, sizeof(*found));
	walk.replay = note;
	found->reason = note && kunwind_replay_walk(&walk) ? KUNWIND_COMPLETE : kunwind_walk(&walk);
	found->count = walk.count;
}

static bool taken(const struct kunwind_regs *regs, u32 capacity)
{
	static struct found found;
	struct kunwind_walk walk = walk_of(regs, &found, capacity);

	walk.replay = &replay;
	return kunwind_replay_walk(&walk);
}

static bool same(const struct found *a, const struct found *b)
{
	return a->reason == b->reason && a->count == b->count &&
	       !memcmp(a->addresses, b->addresses, a->count * sizeof(a->addresses[0]));
}

/* Changes and restores each recorded word. Returns their number. */
static u32 each_word(const struct kunwind_regs *regs, bool *good)
{
	u32 i, nr = replay.words - 1 + replay.rbps;

	for (i = 0; i < nr; i++) {
		u64 slot = i < replay.rbps ? replay.rbp[i].at : replay.cfa[i - replay.rbps + 1] - 8;
		u64 *word = (u64 *)(copy + (slot - lo));

		*word ^= 1ULL << i % 48;
		*good &= !taken(regs, KUNWIND_REPLAY_FRAMES);
		*word ^= 1ULL << i % 48;
	}
	*good &= taken(regs, KUNWIND_REPLAY_FRAMES);
	return nr;
}

static void holds(const struct kunwind_regs *regs)
{
	static struct found plain, noted, again, less;
	struct kunwind_regs other;
	bool good = true;
	u32 nr, reg;

	walk(regs, NULL, KUNWIND_REPLAY_FRAMES, &plain);
	walk(regs, &replay, KUNWIND_REPLAY_FRAMES, &noted);
	tap_ok(plain.reason == KUNWIND_COMPLETE && same(&plain, &noted),
	       "record: a walk of %u frames is equal with and without a record", plain.count);
	tap_ok(replay.id && taken(regs, KUNWIND_REPLAY_FRAMES),
	       "record: reused when nothing has changed");
	walk(regs, &replay, KUNWIND_REPLAY_FRAMES, &again);
	tap_ok(same(&plain, &again), "record: reuse gives the same stack");
	tap_ok(taken(regs, plain.count) && !taken(regs, plain.count - 1),
	       "record: not reused if the capacity is too small");
	walk(regs, &replay, plain.count - 1, &less);
	tap_ok(less.reason == KUNWIND_BUFFER_FULL && !replay.id,
	       "record: a stack that the capacity cuts off is not recorded");

	walk(regs, &replay, KUNWIND_REPLAY_FRAMES, &noted);
	nr = each_word(regs, &good);
	tap_ok(good && nr > plain.count, "record: not reused if any of its %u words has changed", nr);
	for (reg = 0; reg < KUNWIND_NR_REGS; reg++) {
		other = *regs;
		other.r[reg] ^= 8;
		good &= taken(&other, KUNWIND_REPLAY_FRAMES) !=
			(reg == KUNWIND_RA || reg == KUNWIND_RSP || reg == KUNWIND_RBP);
	}
	tap_ok(good,
	       "record: not reused if rip, rsp or rbp has changed, reused if any other register has");
	good = true;
	for (reg = 0; reg < KUNWIND_NR_REGS; reg++) {
		other = *regs;
		other.valid &= ~KUNWIND_REG(reg);
		good &= taken(&other, KUNWIND_REPLAY_FRAMES) !=
			(reg == KUNWIND_RA || reg == KUNWIND_RSP || reg == KUNWIND_RBP);
	}
	tap_ok(good, "record: not reused if rip, rsp or rbp is unknown");
	ranges->id++;
	tap_ok(!taken(regs, KUNWIND_REPLAY_FRAMES), "record: not reused if the mappings have changed");
	walk(regs, &replay, KUNWIND_REPLAY_FRAMES + 1, &noted);
	tap_ok(replay.id != ranges->id && same(&plain, &noted),
	       "record: a walk with a capacity above %u frames is not recorded",
	       KUNWIND_REPLAY_FRAMES);
}

/* Changes words, registers and capacity at random, with one record. */
static void by_chance(const struct kunwind_regs *from)
{
	static struct found plain, noted;
	u32 round, takes = 0, bad = 0, words = (hi - lo) / 8;
	struct kunwind_regs regs = *from;
	u64 seed = 1, was = 0;
	u8 *good = malloc(hi - lo);

	memcpy(good, copy, hi - lo);
#define RANDOM() (seed = seed * 6364136223846793005ULL + 1442695040888963407ULL, seed >> 33)
	for (round = 0; round < ROUNDS; round++) {
		u32 what = RANDOM() % 16, at = RANDOM() % words, k;
		u32 capacity = RANDOM() % 8 ? KUNWIND_REPLAY_FRAMES : 1 + RANDOM() % 40;

		if (what < 3)		/* another word of the stack there */
			((u64 *)copy)[at] = ((u64 *)copy)[RANDOM() % words];
		else if (what == 3)
			((u64 *)copy)[at] = 0;
		else if (what == 4)
			regs.r[KUNWIND_RSP] = lo + RANDOM() % words * 8;
		else if (what == 5)
			regs.r[KUNWIND_RBP] = lo + RANDOM() % words * 8;
		else if (what == 6 && was)
			regs.r[KUNWIND_RA] = was;
		if (what > 12)
			for (k = 0, regs = *from; k < hi - lo; k++)
				copy[k] = good[k];
		walk(&regs, NULL, capacity, &plain);
		takes += taken(&regs, capacity);
		walk(&regs, &replay, capacity, &noted);
		bad += !same(&plain, &noted);
		was = plain.addresses[plain.count / 2];
	}
	free(good);
	tap_ok(!bad && takes > ROUNDS / 8 && takes < ROUNDS,
	       "record: %u walks with a record find what walks without one find; %u reuse it",
	       ROUNDS, takes);
}

/* Other functions' frames: AddressSanitizer does not let memcpy() copy them. */
__attribute__((no_sanitize("address"))) static noinline void stack_copy(void)
{
	const volatile u64 *from = (const volatile u64 *)lo;
	u64 i;

	for (i = 0; i < (hi - lo) / 8; i++)
		((volatile u64 *)copy)[i] = from[i];
}

static noinline int deep(int left)
{
	volatile char room[64];
	struct kunwind_regs regs;
	u64 base;

	room[left] = left;
	if (left)
		return deep(left - 1) + room[left];
	self_regs(&regs);
	self_stack(&base, &hi);
	lo = regs.r[KUNWIND_RSP];
	copy = malloc(hi - lo);
	stack_copy();
	holds(&regs);
	by_chance(&regs);
	free(copy);
	return 0;
}

static int from_qsort(const void *a, const void *b)
{
	if (!copy)
		deep(20);
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int pair[2] = { 2, 1 };

	ranges = self_ranges();
	qsort(pair, 2, sizeof(pair[0]), from_qsort);
	return tap_done();
}

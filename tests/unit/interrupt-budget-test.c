/* SPDX-License-Identifier: MIT */
/*
 * interrupt-budget-test.c - the budget of walks in interrupts: on average, of one
 * walk, and when an NMI interrupts the accounting
 */
#include "kernel.h"
#include "tap.h"

/* One CPU. If @nmi is set, an NMI comes before the next cmpxchg. */
static void (*nmi)(void);

#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define this_cpu_read(x)		(x)
#define this_cpu_write(x, v)		((x) = (v))
#define this_cpu_add(x, n)		((x) += (n))
#define this_cpu_cmpxchg(x, old, new)						\
({										\
	void (*nmi_)(void) = nmi;						\
	__typeof__(x) old_ = (old), new_ = (new), is_;				\
										\
	nmi = NULL;								\
	if (nmi_)								\
		nmi_();								\
	is_ = (x);								\
	if (is_ == old_)							\
		(x) = new_;							\
	is_;									\
})

#include "../../kmod/stack/interrupt_budget.c"

#define URGENT	KUNWIND_BUDGET_URGENT
#define WALKS	1000
#define WINDOW	128		/* walks over which perf averages */

static u32 spent[WALKS], least;

/* Makes a walk that wants to spend @wanted. Returns what it spent. */
static u32 walk(u32 wanted)
{
	const u32 budget = kunwind_interrupt_budget_take(URGENT);
	const u32 used = min(wanted, budget);

	least = min(least, budget);
	kunwind_interrupt_budget_return(budget - used);
	return used;
}

/* Returns the most that WINDOW consecutive walks spent. */
static u32 most_of_window(void)
{
	u32 i, j, sum, most = 0;

	for (i = 0; i + WINDOW <= WALKS; i++) {
		for (sum = j = 0; j < WINDOW; j++)
			sum += spent[i + j];
		most = max(most, sum);
	}
	return most;
}

static void begin(void)
{
	tokens = CAPACITY;
	least = ~0U;
	nmi = NULL;
}

static void test_average(void)
{
	u32 i;

	begin();
	for (i = 0; i < WALKS; i++)
		spent[i] = walk(~0U);
	tap_ok(spent[0] == URGENT && least == REFILL && spent[WALKS - 1] == REFILL,
	       "expensive walks: the first has the whole budget, each has at least REFILL units");
	tap_ok(most_of_window() <= WINDOW * REFILL + CAPACITY, "expensive walks: the average is limited");
	for (i = 0; i < WALKS; i++)
		spent[i] = walk(i % 3 ? ~0U : 100);
	tap_ok(least == REFILL && most_of_window() <= WINDOW * REFILL + CAPACITY,
	       "alternating expensive and cheap walks: the average is limited");
	for (i = 0; i < 100; i++)
		walk(REFILL / 2);
	tap_ok(tokens >= CAPACITY - REFILL && tokens <= CAPACITY && walk(~0U) == URGENT,
	       "cheap walks: the bucket fills up again, to its capacity");
}

static void test_cheap(void)
{
	u32 i;

	begin();
	for (i = 0; i < WALKS; i++)
		spent[i] = walk(REFILL);
	tap_ok(least == URGENT && tokens == CAPACITY - REFILL,
	       "walks that spend REFILL units: each has the whole budget");
}

static u32 nmi_spent;

static void expensive_nmi(void)
{
	nmi_spent = walk(~0U);
}

static void cheap_nmi(void)
{
	nmi_spent = walk(0);
}

static void test_nmi(void)
{
	u32 i, sum, before;

	begin();
	for (i = sum = 0; i < WALKS; i++) {
		nmi = expensive_nmi;
		sum += walk(~0U) + nmi_spent;
	}
	tap_ok(least == REFILL && sum <= 2 * WALKS * REFILL + CAPACITY,
	       "an expensive NMI during the accounting: no token is taken twice");
	for (i = 0; i < WALKS; i++) {
		nmi = cheap_nmi;
		spent[i] = walk(~0U);
	}
	tap_ok(most_of_window() <= 2 * WINDOW * REFILL + CAPACITY,
	       "a cheap NMI during the accounting: the average is limited");
	for (i = 0; i < WALKS; i++) {
		before = kunwind_interrupt_budget_take(URGENT);
		spent[i] = walk(~0U);
		kunwind_interrupt_budget_return(before);
	}
	tap_ok(least == REFILL && most_of_window() <= 2 * WINDOW * REFILL + CAPACITY,
	       "an NMI during a walk: both take from the same bucket");
}

#define BURST	10000		/* walks while interrupts are off */
#define UNIT_NS	47		/* 141 instructions at 3 GHz */
#define OTHER_NS 1500		/* the rest of an event, for example of a wakeup */

/* A walk with interrupts off, and the rest of its event. Returns what it spent. */
static u32 burst_walk(u32 wanted, u64 other_ns)
{
	const u32 budget = kunwind_burst_budget_take(URGENT);
	const u32 used = min(wanted, budget);

	least = min(least, budget);
	now_ns += used * UNIT_NS + other_ns;
	kunwind_burst_budget_spend(used);
	return used;
}

static void test_burst(void)
{
	const u64 start = now_ns;
	u64 other;
	u32 i, first;

	begin();
	burst_tokens = CAPACITY;
	burst_filled = now_ns;
	first = burst_walk(~0U, OTHER_NS);
	for (i = 1; i < BURST; i++)
		burst_walk(~0U, OTHER_NS);
	other = (u64)BURST * (OTHER_NS + LEAST * UNIT_NS);
	tap_ok(first == URGENT && least == LEAST && now_ns - start < 2 * other,
	       "a burst of %u expensive walks takes %u us; with the least budget, it would take %u us",
	       BURST, (u32)((now_ns - start) / 1000), (u32)(other / 1000));
	for (i = 0; i < BURST && burst_tokens < 100; i++)
		burst_walk(0, 100);
	tap_ok(i > 200 && i < 400, "a burst of cheap walks 100 ns apart: tokens are added");
	now_ns += CAPACITY << TOKEN_SHIFT;
	least = ~0U;
	for (i = 0; i < BURST; i++)
		burst_walk(100, 50000);
	tap_ok(least == URGENT, "walks with interrupts off that are not expensive have the whole budget");
	tap_ok(burst_walk(~0U, 0) == URGENT, "an expensive walk after them has the whole budget");
}

/* Time without walks adds no more than the bucket holds. */
static void test_pause(void)
{
	u32 i, sum = 0;

	begin();
	burst_tokens = 10;
	burst_filled = now_ns;
	now_ns += 1000000000ULL * 3600;
	for (i = 0; i < 100; i++) {
		sum += kunwind_burst_budget_take(URGENT);
		kunwind_burst_budget_spend(URGENT);
	}
	tap_ok(sum == CAPACITY + (100 - CAPACITY / URGENT) * LEAST && burst_tokens == 0,
	       "a burst after an hour without walks: it spends what the bucket holds");
	burst_tokens = 0;
	now_ns += 1ULL << TOKEN_SHIFT;
	tap_ok(kunwind_burst_budget_take(URGENT) == LEAST && burst_tokens == 1,
	       "one token in the bucket: the walk has the least budget, and the token stays");
	kunwind_burst_budget_spend(LEAST);
	tap_ok(!burst_tokens, "walk that spends more than the bucket has: the bucket is empty");
}

int main(void)
{
	test_average();
	test_cheap();
	test_nmi();
	test_burst();
	test_pause();
	return tap_done();
}

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

int main(void)
{
	test_average();
	test_cheap();
	test_nmi();
	return tap_done();
}

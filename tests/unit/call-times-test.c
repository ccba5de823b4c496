/* SPDX-License-Identifier: MIT */
/*
 * call-times-test.c - begin times of system calls: each task gets its own back,
 * and tasks without room are refused
 */
#include "kernel.h"
#include "tap.h"

/* Another task takes the free entry first, once. */
static void (*in_claim)(void);
static const void *claim(const void **place, const void *old, const void *new)
{
	void (*once)(void) = in_claim;
	const void *found;

	in_claim = NULL;
	if (once)
		once();
	found = *place;
	if (found == old)
		*place = new;
	return found;
}
#undef cmpxchg
#define cmpxchg(place, old, new)	claim(place, old, new)
static bool collide;		/* all tasks are in one bucket */
static u32 hash_of(const void *task, unsigned int bits)
{
	return collide ? 5 : (u32)((unsigned long)task >> 6) & ((1U << bits) - 1);
}
#undef hash_ptr
#define hash_ptr(task, bits)	hash_of(task, bits)

#include "../../kmod/trace/call_times.c"

static struct kunwind_call_times *times;
static const void *task(unsigned long i) { return (const void *)(i << 6); }

static void other_task(void) { kunwind_call_times_begin(times, task(77), 7700); }

int main(void)
{
	bool room = true, right = true;
	unsigned long i;
	u64 began = 0;

	times = kunwind_call_times_alloc();
	tap_ok(times && !kunwind_call_times_end(times, task(1), &began),
	       "no call began: its end has no time");
	kunwind_call_times_begin(times, task(1), 100);
	tap_ok(kunwind_call_times_end(times, task(1), &began) && began == 100,
	       "end of a call: its begin is returned");
	tap_ok(!kunwind_call_times_end(times, task(1), &began), "second end: it has no time");
	kunwind_call_times_begin(times, task(1), 100);
	kunwind_call_times_begin(times, task(1), 200);
	tap_ok(kunwind_call_times_end(times, task(1), &began) && began == 200 &&
	       !kunwind_call_times_end(times, task(1), &began),
	       "two begins without an end: the later one counts");

	for (i = 1; i <= 20000; i++)
		room = kunwind_call_times_begin(times, task(i), i) && room;
	for (i = 20000; i; i--)
		right = kunwind_call_times_end(times, task(i), &began) && began == i && right;
	tap_ok(room && right, "20,000 tasks in a call: each gets its own time");

	collide = true;
	for (i = 1; i <= WAYS; i++)
		room = kunwind_call_times_begin(times, task(i), i) && room;
	tap_ok(room && !kunwind_call_times_begin(times, task(99), 9),
	       "full bucket: one more task is refused");
	tap_ok(!kunwind_call_times_end(times, task(99), &began),
	       "refused task: its end has no time");
	tap_ok(kunwind_call_times_begin(times, task(3), 33) &&
	       kunwind_call_times_end(times, task(3), &began) && began == 33,
	       "full bucket: a task in it begins again");
	tap_ok(kunwind_call_times_begin(times, task(99), 9) &&
	       kunwind_call_times_end(times, task(99), &began) && began == 9,
	       "full bucket: an entry that became free is used");
	for (i = 1; i <= WAYS; i++)
		kunwind_call_times_end(times, task(i), &began);
	in_claim = other_task;
	tap_ok(kunwind_call_times_begin(times, task(1), 1) &&
	       kunwind_call_times_end(times, task(77), &began) && began == 7700 &&
	       kunwind_call_times_end(times, task(1), &began) && began == 1,
	       "two tasks want one entry: both keep their times");
	kunwind_call_times_free(times);
	return tap_done();
}

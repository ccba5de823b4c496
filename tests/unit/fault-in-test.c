/* SPDX-License-Identifier: MIT */
/*
 * fault-in-test.c - requests of walks: which are accepted, when the task's next
 * one is accepted, which pages are faulted in; walks during a task work request
 * nothing
 */
#include "fault-in-scene.h"

/* ------------------------------------------------------------------- tests */

static void test_pages(void)
{
	unsigned int i, there = 0;

	begin();
	tap_ok(asks(STACK + 10 * PAGE_SIZE + 8) && faults == PAGES, "stack pages: %u are faulted in", PAGES);
	for (i = 0; i < 64; i++)
		there += present[i];
	tap_ok(there == PAGES && present[10] && present[9 + PAGES],
	       "stack pages: the first one is that of the frame");
	tap_ok(!asks(STACK), "stack pages: a second request in the same jiffy is refused");
	jiffies++;
	tap_ok(asks(STACK + 60 * PAGE_SIZE) && faults == PAGES + 4,
	       "stack pages: a request in the next jiffy is accepted, up to the mapping's end");
	jiffies++;
	present[0] = true;
	faults = 0;
	asks(STACK);
	/* 1 to 9 of the first 16 */
	tap_ok(faults == 9, "stack pages: no resident page is faulted in");
	begin();
	kunwind_fault_in(STACK, STACK + 30 * PAGE_SIZE);
	heard();
	returns();
	tap_ok(faults == PAGES + 1 && present[30],
	       "stack pages: the page where a register was saved is faulted in");
	begin();
	for (i = 0; i < PAGES; i++)
		present[i] = true;
	for (i = 0; i < 6; i++, jiffies++) {
		kunwind_fault_in(STACK, STACK + (30 + i) * PAGE_SIZE);
		heard();
		returns();
	}
	tap_ok(faults == 6, "stack pages: that page helps, so the next request is accepted a jiffy later");
}

static void grows(void) { area.vm_start -= PAGE_SIZE; }
static void is_replaced(void) { area.vm_start += PAGE_SIZE; }
static void becomes_a_file(void) { area.anonymous = false; }
static void is_armed(void) { area.armed = true; }
static void is_protected(void) { area.vm_flags = 0; }

/* The mappings change while mmap_lock is released. */
static void test_swap(void)
{
	static const struct { const char *what; void (*changes)(void); unsigned int faults; } cases[] = {
		{ "the stack grows", grows, PAGES },
		{ "another mapping takes the place of the first page", is_replaced, 1 },
		{ "it becomes a file's", becomes_a_file, 1 },
		{ "it becomes a userfaultfd's", is_armed, 1 },
		{ "it becomes unreadable", is_protected, 1 },
	};
	unsigned int i;

	begin();
	asks(STACK);
	tap_ok(!waits_with_lock && !mmap_held,
	       "stack pages in swap: mmap_lock is not held while they are read");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		area.vm_start += PAGE_SIZE;
		while_swapping = cases[i].changes;
		asks(STACK + PAGE_SIZE);
		tap_ok(faults == cases[i].faults && !mmap_held,
		       "stack pages in swap, meanwhile %s: %u faulted in", cases[i].what, cases[i].faults);
	}
}

static void test_not_helped(void)
{
	begin();
	area.anonymous = false;
	asks(STACK);
	tap_ok(!faults, "not faulted in: pages of a file");
	begin();
	area.armed = true;
	asks(STACK);
	tap_ok(!faults, "not faulted in: pages of a userfaultfd");
	begin();
	area.vm_flags = 0;
	asks(STACK);
	tap_ok(!faults, "not faulted in: pages that the user may not read");
	begin();
	mmap_locked = true;
	asks(STACK);
	tap_ok(!faults, "not faulted in: any page while mmap_lock is taken");
	begin();
	asks(STACK - PAGE_SIZE);
	tap_ok(!faults, "not faulted in: addresses below the mapping");
	begin();
	me.prio = 50;
	tap_ok(!asks(STACK), "request refused: of a real-time task");
	begin();
	me.flags = PF_EXITING;
	tap_ok(!asks(STACK), "request refused: of a task that is exiting");
	begin();
	part_missing = false;
	tap_ok(!asks_part(), "request refused: for a part that is not missing");
	begin();
	task_gone = true;
	tap_ok(!asks(STACK) && !module_refs, "request dropped: its task has ended");
	task_gone = false;
	begin();
	me.flags = PF_KTHREAD;
	kunwind_fault_in(STACK, 0);
	tap_ok(!heard() && !module_refs, "request dropped: a kernel thread has the number of its task");
	begin();
	module_goes = true;
	tap_ok(!asks(STACK) && !module_refs, "request dropped: the module is being unloaded");
	begin();
	no_memory = 1;
	tap_ok(!asks(STACK) && !module_refs && counters.dropped == 1,
	       "request dropped and counted: no memory for the task work");
}

static void test_again(void)
{
	unsigned int n, before = 0, sum = 0;
	bool good = true;

	begin();
	tap_ok(asks_part() && asks_part() && asks_part(),
	       "next request: accepted at once after the part was built");
	begin();
	part_answer = -ETIME;
	tap_ok(asks_part() && !asks_part(),
	       "next request: refused at once after the wait for a part timed out");
	/* without success: after one jiffy, two, four ... up to a second */
	begin();
	asks(STACK - PAGE_SIZE);
	for (n = 0; n < 12; n++) {
		unsigned int now = silence(3 * HZ);

		good &= now >= before && now <= HZ + 1 && now;
		before = now;
		sum += now;
	}
	tap_ok(good && before >= HZ && sum > 4 * HZ,
	       "next request: after each failure refused for longer, up to a second (%u jiffies)", before);
	tap_ok(asks(STACK) == false, "next request: refused during this time");
	jiffies += HZ + 1;
	faults = 0;
	asks(STACK);
	jiffies++;
	tap_ok(faults && asks(STACK - PAGE_SIZE) && silence(3) == 1,
	       "next request: accepted soon after a success");
}

static void test_breakpoint(void)
{
	begin();
	learns = true;
	tap_ok(asks_breakpoint() && learned_id == 7 && learned_at == 0x401000 && !faults,
	       "breakpoint: the original byte is looked up, no page is faulted in");
	jiffies++;
	tap_ok(asks_breakpoint(), "breakpoint: the next request is accepted soon after a success");
	begin();
	learns = false;
	asks_breakpoint();
	jiffies += 2;
	asks_breakpoint();
	jiffies++;
	tap_ok(!asks_breakpoint(), "breakpoint: the next request is refused for longer after each failure");
	begin();
	learned_at = 0;
	mmap_locked = true;
	asks_breakpoint();
	tap_ok(!learned_at, "breakpoint: no byte is looked up while mmap_lock is taken");
}

static void test_own(void)
{
	/* kunwind_part_wait() above makes a request */
	begin();
	kunwind_fault_in_part(NULL, 0x1000);
	heard();
	returns();
	tap_ok(!raised && !slots.busy, "task work: walks during it request nothing");
	tap_ok(kunwind_request_limit_own_begin(),
	       "task work of another file: the task gets a slot");
	tap_ok(!asks(STACK), "task work of another file: walks during it request nothing");
	kunwind_request_limit_own_end();
	tap_ok(asks(STACK), "task work of another file: a request after its end is accepted");
	/* an event in the irq_work takes the stack of another task */
	begin();
	while_queueing = other_asks;
	tap_ok(asks(STACK) && !raised && !slots.busy, "irq_work: walks during it request nothing");
	while_queueing = NULL;
	returns();
	/* before the irq_work has run: one request for each CPU */
	begin();
	kunwind_fault_in(STACK, 0);
	me.pid = 101;
	kunwind_fault_in(STACK + 1, 0);
	tap_ok(slots.request.pid == 100 && slots.request.at == STACK, "CPU: it has one request at a time");
	me.pid = 100;
	heard();
	tap_ok(slots.request.pid == 100 && !slots.busy,
	       "CPU: its request is that of the first walk");
	/*
	 * the task has not returned to user mode yet: it is refused for one
	 * second
	 */
	kunwind_fault_in(STACK, 0);
	tap_ok(!raised, "task: it has one request at a time");
	jiffies += HZ + 1;
	kunwind_fault_in(STACK, 0);
	{
		struct callback_head *first = queued_work;

		heard();
		tap_ok(queued_work == first && module_refs == 1,
		       "task: it has one task work at a time, also after a second");
	}
	returns();
	tap_ok(!module_refs, "task work: its reference to the module is dropped");
}

/* Returns how many of @nr tasks from number @pid on are accepted. */
static unsigned int many(int pid, unsigned int nr, unsigned int *twice)
{
	unsigned int i, was = 0;

	for (i = 0; i < nr; i++) {
		me.pid = pid + i;
		was += asks(STACK);
		*twice += asks(STACK);
	}
	return was;
}

/* Each task has a slot of its own in request_limit.c. */
static void test_tasks(void)
{
	const unsigned int nr_slots = ARRAY_SIZE(limits) * GROUP;
	unsigned int was, twice = 0;

	begin();
	area.anonymous = false;
	was = many(1000, nr_slots / 4, &twice);
	tap_ok(was > nr_slots / 4 * 9 / 10 && !twice,
	       "many tasks: requests of %u of %u are accepted, each once", was, nr_slots / 4);
	was = many(10000, 3 * nr_slots, &twice);
	tap_ok(was < nr_slots && !twice, "many tasks: no more requests than slots are accepted");
	jiffies += 2 * HZ;
	was = many(50000, 2 * nr_slots, &twice);
	tap_ok(was > nr_slots * 9 / 10 && !twice, "many tasks: old slots are taken over later");
}

/* All slots that a task may use belong to other tasks. */
static void test_taken(void)
{
	unsigned int i, round, lost = 0;
	bool changed = false;
	u64 refused;

	begin();
	area.anonymous = false;
	for (round = 0; round <= OFTEN; round++) {
		jiffies += 1 << OFTEN;
		for (i = 0; i < GROUP; i++) {
			me.pid = alike(i, GROUP_BITS);
			asks(STACK);
		}
		me.pid = alike(GROUP, GROUP_BITS);
		if (!round)
			tap_ok(!asks(STACK),
			       "slot of a task with one failed request: not taken over");
	}
	tap_ok(asks(STACK), "slot of a task with many failed requests: taken over");

	/* tasks that sleep before their requests run */
	begin();
	for (i = 0; i < GROUP; i++) {
		me.pid = alike(i, GROUP_BITS);
		kunwind_request_limit_begin();
	}
	me.pid = alike(GROUP, GROUP_BITS);
	tap_ok(kunwind_request_limit_begin(), "slot of a task whose request has not run: taken over");
	tap_ok(!kunwind_request_limit_begin(),
	       "slot taken over before the request ran: the new task keeps it");

	begin();
	for (i = 0; i < GROUP; i++) {
		me.pid = alike(i, GROUP_BITS);
		kunwind_request_limit_own_begin();
	}
	me.pid = alike(GROUP, GROUP_BITS);
	jiffies += HZ;
	refused = kunwind_request_limit_refused();
	tap_ok(!asks(STACK), "slot of a task in a task work: not taken over within a second");
	tap_ok(kunwind_request_limit_refused() == refused + 1,
	       "no slot is free: the request is counted as refused");
	jiffies += 2;
	area.anonymous = false;
	tap_ok(asks(STACK), "slot of a task in a task work: taken over after more than a second");
	for (i = 0; i < GROUP; i++) {
		u64 before[GROUP], *group = limits[hash_32((u32)alike(i, GROUP_BITS), GROUP_BITS)];
		bool had = false;
		unsigned int j;

		memcpy(before, group, sizeof(before));
		me.pid = alike(i, GROUP_BITS);
		for (j = 0; j < GROUP; j++)
			had |= (before[j] & LIMIT_PID) == limit_pid();
		kunwind_request_limit_own_end();
		if (!had) {
			lost++;
			changed |= memcmp(before, group, sizeof(before));
		}
	}
	tap_ok(lost == 1, "slot taken over: one task in a task work has lost its slot");
	tap_ok(!changed, "slot taken over: the end of that task work changes no other slot");
	me.pid = alike(GROUP, GROUP_BITS);
	tap_ok(!asks(STACK), "slot taken over: the new task keeps it after the end of that task work");
}

/*
 * The tasks sleep, so their task works stay queued. Last test: nothing frees
 * them.
 */
static void test_sleepers(void)
{
	unsigned int i, was = 0;

	begin();
	module_refs = 0;
	for (i = 0; i < 2 * MAX_CHAIN; i++) {
		jiffies += 2 * HZ;
		me.pid = 1000 + 256 * i;
		queued_work = NULL;
		kunwind_fault_in(STACK, 0);
		was += heard();
	}
	tap_ok(was == MAX_CHAIN && module_refs == MAX_CHAIN,
	       "sleeping tasks: at most %u task works in one bucket of the hash", was);
}

int main(void)
{
	current = &me;
	test_pages();
	test_swap();
	test_not_helped();
	test_again();
	test_breakpoint();
	test_own();
	test_tasks();
	test_taken();
	test_sleepers();
	return tap_done();
}

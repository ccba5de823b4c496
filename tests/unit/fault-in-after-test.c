/* SPDX-License-Identifier: MIT */
/*
 * fault-in-after-test.c - what is left of a request: the counters, the time until
 * the next one; tasks that exit before their task work
 */
#include "fault-in-scene.h"

/* Returns whether the status has the line "stat NAME @n". */
static bool shows(const char *name, u64 n)
{
	static struct seq_file m;
	char line[64];

	memset(&m, 0, sizeof(m));
	kunwind_fault_in_show(&m);
	snprintf(line, sizeof(line), "stat\tfault_in_%s\t%llu\n", name, (unsigned long long)n);
	return strstr(m.text, line);
}

/* The counters of all that can happen to a request. */
static void test_counters(void)
{
	unsigned int i;
	u64 refused;

	begin();
	refused = kunwind_request_limit_refused();
	asks(STACK);
	tap_ok(shows("requests", 1) && shows("works", 1) && shows("pages", PAGES) &&
	       shows("dropped", refused),
	       "status: a request, its task work and its pages");
	jiffies += HZ;
	task_gone = true;
	asks(STACK);
	tap_ok(shows("requests", 2) && shows("works", 1) && shows("pages", PAGES) &&
	       shows("dropped", refused + 1), "status: a request whose task has ended");
	/* All slots of the task belong to tasks in a task work. */
	begin();
	kunwind_fault_in(STACK, 0);
	heard();
	memset(limits, 0, sizeof(limits));
	for (i = 0; i < GROUP; i++) {
		me.pid = alike(i + 1, GROUP_BITS);
		kunwind_request_limit_own_begin();
	}
	me.pid = 1000;
	refused = kunwind_request_limit_refused();
	queued_work->func(queued_work);
	tap_ok(shows("requests", 1) && shows("works", 1) && shows("pages", 0) &&
	       shows("dropped", refused + 1),
	       "status: a task work of a task without a slot ran, and did nothing");
}

/* The task work runs when the task exits. */
static void test_exits(void)
{
	begin();
	kunwind_fault_in(STACK, 0);
	heard();
	me.flags = PF_EXITING;
	returns();
	tap_ok(!faults && !module_refs, "task that exits before its task work: no page is faulted in");
	begin();
	kunwind_fault_in(STACK, 0);
	heard();
	me.mm = NULL;
	returns();
	tap_ok(!faults && !module_refs, "task that has no memory any more: no page is faulted in");
}

/* What is left of failed requests after a success, and of the limit after own work. */
static void test_after(void)
{
	unsigned int i, now = 0;

	begin();
	for (i = 0; i < 4; i++)
		now = silence(HZ);
	tap_ok(now >= 4, "requests in vain: the task waits for longer each time");
	jiffies += HZ;
	asks(STACK);
	jiffies++;
	asks(STACK - PAGE_SIZE);
	tap_ok(silence(HZ) == 1, "request in vain after a success: the task waits as after the first");
	begin();
	for (i = 0; i < 4; i++)
		now = silence(HZ);
	jiffies += HZ;
	kunwind_request_limit_own_begin();
	kunwind_request_limit_own_end();
	asks(STACK - PAGE_SIZE);
	tap_ok(silence(HZ) > now, "own work between requests in vain: they count on");
	for (i = 0; i < 40; i++) {
		jiffies += 2 * HZ;
		asks(STACK - PAGE_SIZE);
	}
	tap_ok(silence(3 * HZ) == HZ, "40 requests in vain: the next one is accepted after a second");
}

int main(void)
{
	current = &me;
	test_counters();
	test_exits();
	test_after();
	return tap_done();
}

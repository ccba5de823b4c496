/* SPDX-License-Identifier: MIT */
/*
 * mappings-wait-test.c - a task that reads its mappings waits for tables: how
 * long, and what it announces then
 */
#include "mappings-scene.h"

/* Another thread unmaps the file for which a task waits, and maps data there. */
static void is_replaced(void)
{
	nr_vmas = 1;
	kunwind_space_mapped(space, AT(1), AT(1) + 0x2000, 0, false);
	objects[1].state = KUNWIND_OBJECT_READY;
}

/* Reads mappings of code; @during runs while the task waits for the second one's table. */
static void read_and_wait(unsigned int nr, void (*during)(void))
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		map(AT(i), 0x2000, VM_EXEC, &files[i], 0);
	objects[1].state = KUNWIND_OBJECT_PENDING;
	during_wait = during;
	reads(false);
}

static void test_wait_announces(void)
{
	begin();
	read_and_wait(2, is_replaced);
	tap_ok(told == 1, "mapping replaced during a wait for its table: it is not announced");
	end("mapping replaced during a wait");
}

static unsigned int told_before;

static void other_task(void)
{
	told_before = told;
}

/* The table is ready. From now on, other_task() runs when the task lets others run. */
static void is_ready(void)
{
	objects[1].state = KUNWIND_OBJECT_READY;
	meanwhile = other_task;
}

static void test_announces_long(void)
{
	begin();
	read_and_wait(2, is_ready);
	tap_ok(told == 2 && told_before == 1, "announce: other tasks may run after each mapping");
	meanwhile = NULL;
	end("announce");
}

/* While the task announces its mappings, another thread replaces the second one, */
static void is_replaced_late(void)
{
	kunwind_space_mapped(space, AT(1), AT(1) + 0x2000, 0, false);
}

/* and, in the other test, does so again after each mapping. */
static unsigned int replaced;
static void replaces_always(void)
{
	struct kunwind_snapshot *copy;

	spin_lock(&space->lock);
	copy = kunwind_snapshot_copy(of(space));
	DETAIL(copy, 0).announced = DETAIL(copy, 1).announced = false;
	kunwind_space_publish(space, copy);
	spin_unlock(&space->lock);
	if (++replaced == 1000)
		abort();		/* it would never end */
	meanwhile = replaces_always;
}

static void then_replaced(void)
{
	objects[1].state = KUNWIND_OBJECT_READY;
	meanwhile = is_replaced_late;
}

static void then_replaced_always(void)
{
	objects[1].state = KUNWIND_OBJECT_READY;
	meanwhile = replaces_always;
}

static void test_announces_replaced(void)
{
	begin();
	read_and_wait(3, then_replaced);
	tap_ok(told == 2 && told_start == AT(2),
	       "announce: a mapping that is replaced meanwhile is left out, those after it are not");
	end("announce, replaced");

	begin();
	replaced = 0;
	read_and_wait(2, then_replaced_always);
	tap_ok(replaced == ANNOUNCE_TRIES + 1, "announce: ends although mappings are replaced all the time");
	meanwhile = NULL;
	end("announce, replaced always");
}

static void test_waits(void)
{
	unsigned int stalls;

	begin();
	map(AT(0), 0x2000, VM_EXEC, &files[0], 0);
	objects[0].state = KUNWIND_OBJECT_PENDING;
	tap_ok(!reads(false) && waited == 100 && objects[0].stalls == 1 && stalled == 1,
	       "wait: for a pending object at most the timeout, and it is counted");
	hangs = true;
	waited = 0;
	reads(false);
	tap_ok(!waited, "wait: none for a file system that hangs");
	kunwind_space_read_mappings(space, &mm, false, 100, true);
	tap_ok(waited == 100, "wait: a registration waits for a file system that hangs");
	hangs = false;
	objects[0].stalls = MAX_OBJECT_STALLS;
	waited = 0;
	reads(false);
	tap_ok(!waited, "wait: none for an object after many timeouts");
	objects[0].stalls = 0;
	kunwind_enabled = false;
	reads(false);
	tap_ok(!waited, "wait: none while the module is switched off");
	kunwind_enabled = true;
	killed = true;
	tap_ok(reads(false) == -EINTR, "wait: a killed task gets EINTR");
	killed = false;
	objects[0].state = KUNWIND_OBJECT_READY;
	objects[0].building_parts = true;
	stalls = stalled;
	reads(false);
	tap_ok(!waited, "wait: none for the second stage of a build");
	kunwind_space_read_mappings(space, &mm, false, 100, true);
	tap_ok(waited == 100 && !objects[0].stalls && stalled == stalls,
	       "wait: a registration waits for the second stage of a build, which is no stall");

	/*
	 * another process's mappings: a task waits only a limited time for the
	 * lock
	 */
	me.mm = NULL;
	mmap_taken = true;
	jiffies = 1000;
	tap_ok(kunwind_space_read_mappings(space, &mm, true, 50, true) == -EAGAIN &&
		       jiffies - 1000 >= 50 && jiffies - 1000 < 100 && !space->read_mutex.held,
	       "wait: for another process's mmap_lock at most the timeout");
	tap_ok(kunwind_space_read_mappings(space, &mm, true, 0, true) == -EAGAIN,
	       "wait: none for another process's mmap_lock with timeout 0");
	mmap_taken = false;
	objects[0].state = KUNWIND_OBJECT_PENDING;
	waited = 0;
	tap_ok(!kunwind_space_read_mappings(space, &mm, true, 100, true) && waited == 100 && !kept &&
	       mm.users == 1,
	       "wait: another process's memory is not held during it");
	objects[0].state = KUNWIND_OBJECT_READY;
	mm.users = 0;
	tap_ok(kunwind_space_read_mappings(space, &mm, true, 100, true) == -ESRCH &&
	       !space->read_mutex.held && !mm.users,
	       "mappings of a process that has ended: not read");
	end("wait");
}

int main(void)
{
	kunwind_space_init();
	test_wait_announces();
	test_announces_long();
	test_announces_replaced();
	test_waits();
	return tap_done();
}

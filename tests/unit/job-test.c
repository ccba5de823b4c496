/* SPDX-License-Identifier: MIT */
/*
 * job-test.c - a build's processor time: which user is charged, the limit, the
 * priority, and which user's turn the build takes
 */
#include "kernel.h"
#include "tap.h"

#include "../../kmod/object/job.c"
#include "../../kmod/base/quota.c"

#define MS	NSEC_PER_MSEC

static struct cred cred = { &init_user_ns, { 0 }, 0 };
static struct mm_struct mm;
static struct task_struct worker = { .cred = &cred, .pid_ns = &init_pid_ns, .mm = &mm };
static struct kunwind_object object, other;
static struct kunwind_quota *alice, *bob;
static bool unwanted;

struct kunwind_quota *kunwind_object_time_quota(struct kunwind_object *of)
{
	return kunwind_quota_get(of->time_quota);
}

bool kunwind_object_take_turn(struct kunwind_object *of, enum kunwind_turn turn,
			      struct kunwind_quota **quota)
{
	bool taken = kunwind_quota_take_turn(of->time_quota, turn);

	*quota = taken ? kunwind_quota_get(of->time_quota) : NULL;
	return taken;
}

bool kunwind_object_unwanted(struct kunwind_object *of)
{
	(void)of;
	return unwanted;
}

static struct kunwind_quota *user(u32 uid)
{
	cred.uid.val = uid;
	return kunwind_quota_of(&mm);
}

/* The worker runs for @ns; @ticks: the scheduler's clock counts that time. */
static void runs(u64 ns, bool ticks)
{
	now_ns += ns;
	if (ticks)
		worker.se.sum_exec_runtime += ns;
}

static void ticks(void) { jiffies++; }

static void test_time(void)
{
	struct kunwind_job job;
	u64 before = alice->time;

	worker.nice = 3;
	kunwind_job_begin(&job, &object, 20 * MS);
	runs(5 * MS, true);
	tap_ok(kunwind_job_may_go_on(&job) && alice->time == before,
	       "time: nothing is charged within the same jiffy");
	ticks();
	tap_ok(kunwind_job_may_go_on(&job) && alice->time == before + 5 * MS,
	       "time: the worker's time is charged to the object's user");
	runs(5 * MS, true);
	object.time_quota = bob;
	ticks();
	kunwind_job_may_go_on(&job);
	tap_ok(alice->time == before + 5 * MS && bob->time == 5 * MS,
	       "time: a user who took over the build is charged");
	object.time_quota = alice;
	runs(10 * MS, true);
	ticks();
	tap_ok(!kunwind_job_may_go_on(&job) && !kunwind_job_may_go_on(&job),
	       "time: a job ends when its time is used");
	kunwind_job_end(&job);
	before = alice->time;
	kunwind_job_begin(&job, &object, 20 * MS);
	runs(MS, false);
	kunwind_job_end(&job);
	tap_ok(alice->time == before + MS, "time: a job shorter than a tick is charged by the clock");
	before = alice->time;
	kunwind_job_begin(&job, &object, 20 * MS);
	runs(100 * MS, false);
	kunwind_job_end(&job);
	tap_ok(alice->time == before + TICK_NSEC,
	       "time: at most one tick of other tasks' time is charged");
	kunwind_job_begin(&job, &object, 20 * MS);
	runs(100 * MS, false);
	ticks();
	kunwind_job_may_go_on(&job);
	before = alice->time;
	runs(MS, false);
	kunwind_job_end(&job);
	tap_ok(alice->time == before + MS, "time: other tasks' time before the last charge is not charged");
	before = alice->time;
	kunwind_job_begin(&job, &object, 20 * MS);
	runs(8 * MS, true);
	kunwind_job_end(&job);
	tap_ok(alice->time == before + 8 * MS && job.left == 12 * MS,
	       "time: the end charges only the rest, and job.left is the unused time");
	unwanted = true;
	kunwind_job_begin(&job, &object, 20 * MS);
	tap_ok(kunwind_job_may_go_on(&job), "unwanted build: it continues within the same jiffy");
	ticks();
	tap_ok(!kunwind_job_may_go_on(&job), "unwanted build: it ends at the next jiffy");
	kunwind_job_end(&job);
	unwanted = false;
}

static void test_priority(void)
{
	struct kunwind_job job;

	now_ns += 100000 * MS;
	worker.nice = 3;
	kunwind_job_begin(&job, &object, 100000 * MS);
	tap_ok(worker.nice == 3, "priority: within the user's budget, the worker keeps its own");
	kunwind_job_set_background(&job, true);
	tap_ok(worker.nice == 10, "priority: lower for a build that no task waits for");
	kunwind_job_set_background(&job, false);
	tap_ok(worker.nice == 3, "priority: restored when a task waits again");
	kunwind_job_end(&job);
	worker.nice = 15;
	kunwind_job_begin(&job, &object, 100000 * MS);
	kunwind_job_set_background(&job, true);
	tap_ok(worker.nice == 15, "priority: a worker that has a lower one keeps it");
	kunwind_job_end(&job);
	worker.nice = 3;
	kunwind_job_begin(&job, &object, 100000 * MS);
	kunwind_quota_add_time(alice, 1000 * MS);
	ticks();
	kunwind_job_may_go_on(&job);
	tap_ok(worker.nice == 19, "priority: the lowest when the user's budget is spent");
	object.time_quota = bob;
	ticks();
	kunwind_job_may_go_on(&job);
	tap_ok(worker.nice == 3, "priority: that of the user who took over the build");
	object.time_quota = alice;
	kunwind_job_end(&job);
	tap_ok(worker.nice == 3, "priority: the worker's own is restored at the end");
	kunwind_job_begin(&job, &object, MS);
	tap_ok(worker.nice == 19, "priority: the lowest from the start if the budget is already spent");
	kunwind_job_end(&job);
	object.time_quota = NULL;
	kunwind_job_begin(&job, &object, 100000 * MS);
	tap_ok(worker.nice == 3, "priority: a job of CAP_SYS_ADMIN is not lowered");
	kunwind_job_end(&job);
	object.time_quota = alice;
	now_ns += 100000 * MS;
}

static struct kunwind_job first, second;
static bool wish;

static bool urgent(void *data) { return *(bool *)data; }
static void wishes(void) { wish = true; }
static void first_ends(void) { kunwind_job_end(&first); }
static void other_takes_over(void) { other.time_quota = bob; }
static void module_goes(void) { kunwind_jobs_stop(); }
static void nobody_wants(void) { unwanted = true; }

static void test_turns(void)
{
	unsigned int woken;

	kunwind_job_begin(&first, &object, MS);
	kunwind_job_begin(&second, &other, MS);
	tap_ok(kunwind_job_take_turn(&first, KUNWIND_TURN_COMPILE, NULL, NULL) && first.has_turn,
	       "turns: the first job gets its turn at once");
	while_waiting = first_ends;
	woken = kunwind_quota_turns.woken;
	tap_ok(kunwind_job_take_turn(&second, KUNWIND_TURN_COMPILE, NULL, NULL) && second.has_turn &&
	       kunwind_quota_turns.woken > woken,
	       "turns: a user's second job gets its turn when the first ends and wakes it");
	kunwind_job_begin(&first, &object, MS);
	tap_ok(kunwind_job_take_turn(&first, KUNWIND_TURN_PARTS, NULL, NULL),
	       "turns: a build of parts has a separate turn");
	kunwind_job_end(&first);
	kunwind_job_end(&second);

	kunwind_job_begin(&first, &object, MS);
	kunwind_job_begin(&second, &other, MS);
	(void)!kunwind_job_take_turn(&first, KUNWIND_TURN_PARTS, NULL, NULL);
	wish = false;
	while_waiting = wishes;
	tap_ok(kunwind_job_take_turn(&second, KUNWIND_TURN_PARTS, urgent, &wish) && !second.has_turn,
	       "turns: an urgent build goes on without a turn");
	while_waiting = other_takes_over;
	tap_ok(kunwind_job_take_turn(&second, KUNWIND_TURN_PARTS, NULL, NULL) && second.has_turn &&
	       second.turn == bob, "turns: a build that another user takes over has that user's turn");
	other.time_quota = alice;
	kunwind_job_end(&second);
	kunwind_job_begin(&second, &other, MS);
	other.time_quota = bob;
	tap_ok(kunwind_job_take_turn(&second, KUNWIND_TURN_PARTS, NULL, NULL),
	       "turns: the turn of the user who took over is free again");
	kunwind_job_end(&second);
	other.time_quota = alice;
	kunwind_job_begin(&second, &other, MS);
	while_waiting = nobody_wants;
	tap_ok(!kunwind_job_take_turn(&second, KUNWIND_TURN_PARTS, NULL, NULL) && !second.has_turn,
	       "turns: an unwanted build does not wait for a turn");
	unwanted = false;
	while_waiting = module_goes;
	tap_ok(!kunwind_job_take_turn(&second, KUNWIND_TURN_PARTS, NULL, NULL),
	       "module unload: no build waits for a turn");
	tap_ok(!kunwind_job_may_go_on(&first), "module unload: running builds end");
	kunwind_job_end(&second);
	kunwind_job_end(&first);
}

static void test_memory(void)
{
	static struct mem_cgroup own, mappers;
	struct kunwind_job job;

	active_memcg = &own;
	object.memcg = &mappers;
	kunwind_job_begin(&job, &object, 20 * MS);
	tap_ok(active_memcg == &mappers,
	       "memory: a job's is charged to the control group of the mapping process");
	kunwind_job_stop_charging_memory();
	tap_ok(!active_memcg, "memory: a job can stop charging it");
	kunwind_job_end(&job);
	tap_ok(active_memcg == &own, "memory: after the job, the worker's is charged as before");
	object.memcg = NULL;
	kunwind_job_begin(&job, &object, 20 * MS);
	tap_ok(!active_memcg, "memory: the vDSO's is charged to no control group");
	kunwind_job_end(&job);
	active_memcg = NULL;
}

int main(void)
{
	current = &worker;
	alice = user(1001);
	bob = user(1002);
	object.time_quota = alice;
	other.time_quota = alice;
	test_time();
	test_priority();
	test_turns();
	test_memory();
	tap_ok(alice->refs == 1 && bob->refs == 1 && !alice->turns && !bob->turns,
	       "end: all references and turns are released");
	kunwind_quota_put(alice);
	kunwind_quota_put(bob);
	now_ns += 100000 * MS;
	kunwind_quota_exit();
	return tap_done();
}

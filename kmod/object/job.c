// SPDX-License-Identifier: GPL-2.0-only
/*
 * job.c - charge the processor time of builds to users, and set its priority
 *
 * Workers build tables outside the control groups of the processes that cause
 * the builds. So the processor time of each build is charged to a user, the one
 * of object->time_quota. If that user is over the budget (quota.c), the worker
 * has the lowest priority, nice 19: the scheduler then runs the workers of all
 * other users first, also in the middle of a long build.
 *
 * Each user has one compilation and one slice of a second stage
 * (part_builder.c) at a time, so most work on the files of one user takes at
 * most two processors. Reads of files, and parts of tables that a walk has
 * missed, need no turn. Builds of CAP_SYS_ADMIN (no quota) are not charged, and
 * any number of them may compile at a time. If several users map the file,
 * object.c may choose another time_quota at any time.
 *
 * A job also acts for the memory control group of the process that mapped the
 * file first (object->memcg): the worker's page cache, and its allocations with
 * KUNWIND_GFP_CHARGED, are charged to that group. The kernel has nothing like
 * that for processor time.
 *
 * A job checks itself once a jiffy: it charges the time that it used, adapts
 * the worker's priority, and ends if its time is used up, if the module is
 * being unloaded, or if no process uses its object any more and the file has
 * gone or the user is over the budget. Within the budget the job goes on,
 * because the next process can use the table.
 *
 * The scheduler updates se.sum_exec_runtime at each tick. Therefore the last
 * charge of a job takes the clock time since the charge before it instead, but
 * at most one tick more than the scheduler's figure. Otherwise, many jobs
 * shorter than a tick would cost nothing.
 *
 * Context: workers, which may sleep.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/wait.h>

#include "job.h"
#include "object.h"
#include "../base/quota.h"

#define NICE_BACKGROUND	10
#define NICE_OVER	MAX_NICE

static bool stopping;

static void set_nice(const struct kunwind_job *job, struct kunwind_quota *quota)
{
	int nice = job->background ? max(job->nice, NICE_BACKGROUND) : job->nice;

	set_user_nice(current, kunwind_quota_over_budget(quota) ? NICE_OVER : nice);
}

/* Processor time of this worker, ns. A tick may write it at the same time. */
static u64 used_cpu(void)
{
	return READ_ONCE(current->se.sum_exec_runtime);
}

/* @extra: most ns of clock time that may be added to the processor time. */
static void charge(struct kunwind_job *job, u64 extra)
{
	struct kunwind_quota *quota = kunwind_object_time_quota(job->object);
	u64 cpu = used_cpu(), clock = ktime_get_ns();
	u64 used = cpu - job->cpu;

	if (extra)
		used = max(used, min(used + extra, clock - job->clock));
	job->cpu = cpu;
	job->clock = clock;
	job->left -= min(job->left, used);
	kunwind_quota_add_time(quota, used);
	set_nice(job, quota);
	kunwind_quota_put(quota);
}

void kunwind_job_begin(struct kunwind_job *job, struct kunwind_object *object, u64 left)
{
	struct kunwind_quota *quota = kunwind_object_time_quota(object);

	*job = (struct kunwind_job){
		.object = object,
		.left = left,
		.cpu = used_cpu(),
		.clock = ktime_get_ns(),
		.jiffy = jiffies,
		.nice = task_nice(current),
	};
	set_nice(job, quota);
	kunwind_quota_put(quota);
	job->outer_memcg = set_active_memcg(object->memcg);
}

void kunwind_job_stop_charging_memory(void)
{
	set_active_memcg(NULL);
}

static void give_turn(struct kunwind_job *job)
{
	if (!job->has_turn)
		return;
	job->has_turn = false;
	kunwind_quota_give_turn(job->turn, job->kind);
	kunwind_quota_put(job->turn);
}

void kunwind_job_end(struct kunwind_job *job)
{
	set_active_memcg(job->outer_memcg);
	charge(job, TICK_NSEC);
	set_user_nice(current, job->nice);
	give_turn(job);
}

void kunwind_job_set_background(struct kunwind_job *job, bool background)
{
	if (job->background == background)
		return;
	job->background = background;
	charge(job, 0);
}

bool kunwind_job_take_turn(struct kunwind_job *job, enum kunwind_turn kind,
			   bool (*urgent)(void *data), void *data)
{
	job->kind = kind;
	/* Timeout: nothing wakes a job when its object becomes unwanted. */
	while (!wait_event_timeout(kunwind_quota_turns,
				   kunwind_jobs_stopping() || (urgent && urgent(data)) ||
				   (job->has_turn = kunwind_object_take_turn(job->object, kind,
									     &job->turn)),
				   HZ / 10))
		if (kunwind_object_unwanted(job->object))
			return false;
	return !kunwind_jobs_stopping();
}

bool kunwind_job_may_go_on(struct kunwind_job *job)
{
	if (kunwind_jobs_stopping())
		return false;
	if (job->jiffy == jiffies)
		return job->left;
	job->jiffy = jiffies;
	charge(job, 0);
	return job->left && !kunwind_object_unwanted(job->object);
}

void kunwind_jobs_stop(void)
{
	WRITE_ONCE(stopping, true);
	kunwind_quota_wake_turns();
}

bool kunwind_jobs_stopping(void)
{
	return READ_ONCE(stopping);
}

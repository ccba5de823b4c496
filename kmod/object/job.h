/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * job.h - charge the processor time of builds to users, and set its priority
 */
#ifndef _KUNWIND_JOB_H
#define _KUNWIND_JOB_H

#include <linux/types.h>

#include "../base/quota.h"

struct kunwind_object;
struct mem_cgroup;

/**
 * struct kunwind_job - work of the current worker on one object
 * @left: ns of processor time that the job may still use
 * @cpu, @clock: processor time and clock at the last charge, ns
 * @jiffy: of the last check
 * @nice: the worker's own nice value
 * @outer_memcg: the worker's own memory control group
 * @background: low priority, because no task waits for the result
 * @has_turn: the job has a turn, of the kind @kind
 * @turn: quota of the user whose turn it is, with a reference; NULL: nobody is
 *	charged
 */
struct kunwind_job {
	struct kunwind_object *object;
	u64 left;
	u64 cpu, clock;
	unsigned long jiffy;
	int nice;
	struct mem_cgroup *outer_memcg;
	bool background;
	bool has_turn;
	enum kunwind_turn kind;
	struct kunwind_quota *turn;
};

/*
 * From begin to end, the current worker's time is charged to the user of
 * object->time_quota, and the worker has that user's priority. Its memory and
 * page cache are charged to object->memcg. @left: ns.
 * kunwind_job_end() gives the turn back, if the job has one.
 */
void kunwind_job_begin(struct kunwind_job *job, struct kunwind_object *object, u64 left);
void kunwind_job_end(struct kunwind_job *job);

/*
 * Nothing more is charged to object->memcg, because it has no room. More page
 * cache could call its OOM killer.
 */
void kunwind_job_stop_charging_memory(void);

void kunwind_job_set_background(struct kunwind_job *job, bool background);

/**
 * kunwind_job_take_turn() - wait for a turn of a user who maps the file
 * @urgent: NULL, or returns whether the job has work that needs no turn
 * Sleeps. Return: true with the turn, or without it as soon as @urgent returns
 * true; false: the job must end.
 */
bool __must_check kunwind_job_take_turn(struct kunwind_job *job, enum kunwind_turn kind,
					bool (*urgent)(void *data), void *data);

/*
 * Returns false when the job must end: its time is used up, its object is
 * unwanted, or the module is being unloaded. Charges time: call it often.
 */
bool kunwind_job_may_go_on(struct kunwind_job *job);

/* All jobs end soon, and later ones at their first check. */
void kunwind_jobs_stop(void);
bool kunwind_jobs_stopping(void);

#endif /* _KUNWIND_JOB_H */

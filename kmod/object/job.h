/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * job.h - charge the processor time of builds to users, and set its priority
 */
#ifndef _KUNWIND_JOB_H
#define _KUNWIND_JOB_H

#include <linux/types.h>

struct kunwind_object;
struct kunwind_payer;

/* What one user has only one of at a time. */
enum kunwind_turn {
	KUNWIND_TURN_COMPILE,	/* the table, or its first stage */
	KUNWIND_TURN_FILL,	/* its second stage */
	KUNWIND_NR_TURNS,
};

/**
 * struct kunwind_job - work of the current worker on one object
 * @left: ns of processor time that the job may still use
 * @cpu, @clock: processor time and clock when the job was last charged, ns
 * @jiffy: when it was last checked
 * @nice: the worker's own
 * @background: nobody waits for the result
 * @turn: whose turn the job has; @has_turn: it has one
 */
struct kunwind_job {
	struct kunwind_object *object;
	u64 left;
	u64 cpu, clock;
	unsigned long jiffy;
	int nice;
	bool background;
	bool has_turn;
	enum kunwind_turn kind;
	struct kunwind_payer *turn;
};

/* Starts to charge the current worker's time to the object's user, with that user's priority. */
void kunwind_job_begin(struct kunwind_job *job, struct kunwind_object *object, u64 left);
/* Charges the rest, and gives the worker its own priority back. */
void kunwind_job_end(struct kunwind_job *job);

void kunwind_job_set_background(struct kunwind_job *job, bool background);

/**
 * kunwind_job_take_turn() - wait until no other job of the same user has the turn
 * @urgent: NULL, or whether the job has work that needs no turn
 * Returns true, without the turn, as soon as @urgent is true. kunwind_job_end()
 * gives the turn back. Return: false if the job is to end.
 */
bool __must_check kunwind_job_take_turn(struct kunwind_job *job, enum kunwind_turn kind,
					bool (*urgent)(void *data), void *data);

/*
 * Whether the job may go on: false once its time is used up, nobody wants its
 * object any more, or the module is being unloaded. To be called often.
 */
bool kunwind_job_may_go_on(struct kunwind_job *job);

/* Jobs that wait for a turn look again whether it is their object's, or they are urgent. */
void kunwind_jobs_wake(void);

/* All jobs end soon, and no job begins any more. */
void kunwind_jobs_stop(void);
bool kunwind_jobs_stopping(void);

#endif /* _KUNWIND_JOB_H */

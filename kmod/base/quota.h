/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quota.h - count what each user has: processes, objects, bytes, processor time
 *
 * A struct kunwind_quota counts what one user has, for comparison with the
 * limits of one user. @quota may be NULL in each function: nobody is charged,
 * and no limit of a user applies.
 *
 * Process context; preemption may be off (not on PREEMPT_RT). No function
 * sleeps.
 */
#ifndef _KUNWIND_QUOTA_H
#define _KUNWIND_QUOTA_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/wait.h>

struct kunwind_quota;
struct mm_struct;
struct seq_file;
struct task_struct;

/*
 * Returns the quota of the user to charge for what is built for @mm's process,
 * with a reference; NULL: nobody is charged, because the process has
 * CAP_SYS_ADMIN in the initial user namespace.
 */
struct kunwind_quota *kunwind_quota_of(struct mm_struct *mm);

struct kunwind_quota *kunwind_quota_get(struct kunwind_quota *quota);
void kunwind_quota_put(struct kunwind_quota *quota);

/*
 * Counts one more registration by hand for @uid, the registrar; for user 0, in
 * the container of the current task (the registrar, or a parent that forks).
 * @unlimited: do not apply max_user_processes. Returns the user's quota with a
 * reference, which kunwind_quota_remove_process() drops; or ERR_PTR(-ENOSPC),
 * ERR_PTR(-ENOMEM).
 */
struct kunwind_quota *kunwind_quota_add_process(kuid_t uid, bool unlimited);
void kunwind_quota_remove_process(struct kunwind_quota *quota);

/* Resources that all users share. */
enum kunwind_share {
	KUNWIND_SHARE_RECORD,	/* processes registered system-wide */
	KUNWIND_SHARE_UNMAP,	/* work items that may have to unmap an ended process (system_wide.c) */
	KUNWIND_SHARE_THREAD,	/* threads that are asked for their stack (thread.c) */
	KUNWIND_NR_SHARES
};

/*
 * Counts one more @share for the real user of @task, except for root with
 * CAP_SYS_ADMIN. @free: how many are left for all users. Refuses a user who has
 * @free already, so one user has at most half of all. Inside rcu_read_lock().
 * Returns the user's quota with a reference, which kunwind_quota_remove_share()
 * drops; NULL: nobody is charged; or ERR_PTR(-ENOSPC), ERR_PTR(-ENOMEM).
 */
struct kunwind_quota *kunwind_quota_add_share(const struct task_struct *task,
					      enum kunwind_share share, unsigned int free);
/*
 * Returns whether kunwind_quota_add_share() would now charge @task to @quota.
 * Inside rcu_read_lock().
 */
bool kunwind_quota_shares(const struct kunwind_quota *quota, const struct task_struct *task);
void kunwind_quota_remove_share(struct kunwind_quota *quota, enum kunwind_share share);

/* Counts one more object. False: not counted; the user has @limit already. */
bool __must_check kunwind_quota_add_object(struct kunwind_quota *quota, unsigned int limit);
void kunwind_quota_remove_object(struct kunwind_quota *quota);

/*
 * A user's idle objects. The first is freed next. Under kunwind_objects_lock.
 */
struct kunwind_idle {
	struct list_head objects;
	unsigned int nr;
};

struct kunwind_idle *kunwind_quota_idle(struct kunwind_quota *quota);

/*
 * Returns the total use, by all users, from which on the user of @quota gets no
 * more: three quarters of @limit. If @quota is NULL (CAP_SYS_ADMIN), it is @limit.
 * The last quarter is reserved because the root of a container can become any
 * number of users.
 */
static inline u64 kunwind_quota_part(const struct kunwind_quota *quota, u64 limit)
{
	return quota ? limit - limit / 4 : limit;
}

/*
 * Adds @bytes, and returns the user's sum (0 if @quota is NULL). Any context
 * except NMI, both functions.
 */
u64 kunwind_quota_add_bytes(struct kunwind_quota *quota, size_t bytes);
void kunwind_quota_remove_bytes(struct kunwind_quota *quota, size_t bytes);

/*
 * Counts @nr more mappings of the user, which the dump with the number @dump
 * has reported. Returns how many more mappings of the user this dump may
 * report, if @limit is the most for one user.
 */
u32 kunwind_quota_dump(struct kunwind_quota *quota, u32 dump, u32 nr, u32 limit);

/* Charges @ns of processor time. */
void kunwind_quota_add_time(struct kunwind_quota *quota, u64 ns);
/* Returns whether the user's builds get the lowest priority. */
bool kunwind_quota_over_budget(struct kunwind_quota *quota);

/* Rights of jobs. Each user has one of each, which one job has at a time. */
enum kunwind_turn {
	KUNWIND_TURN_COMPILE,	/* compile a table, or its first stage */
	KUNWIND_TURN_PARTS,	/* build the parts of a table: its second stage */
	KUNWIND_NR_TURNS,
};

/*
 * False: another job has the turn. Without a quota, compiling needs no turn,
 * and there is one turn to build parts.
 */
bool __must_check kunwind_quota_take_turn(struct kunwind_quota *quota, enum kunwind_turn turn);
/* Gives the turn back, and wakes the jobs that wait for one. */
void kunwind_quota_give_turn(struct kunwind_quota *quota, enum kunwind_turn turn);

/* Where jobs wait for a turn (job.c). */
extern struct wait_queue_head kunwind_quota_turns;
/* Wakes these jobs: a turn may be free, or a job may need none any more. */
void kunwind_quota_wake_turns(void);

/* Call it before all other functions. */
void kunwind_quota_init(void);
/* Frees all quotas. No references may be left, only debts. */
void kunwind_quota_exit(void);

void kunwind_quota_show(struct seq_file *m);
void kunwind_quota_show_params(struct seq_file *m);

#endif /* _KUNWIND_QUOTA_H */

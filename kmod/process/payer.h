/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * payer.h - count what each user has: processes, objects, bytes, processor time
 */
#ifndef _KUNWIND_PAYER_H
#define _KUNWIND_PAYER_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "../object/job.h"

struct kunwind_payer;
struct mm_struct;
struct seq_file;
struct task_struct;

/*
 * The user to whom is charged what @mm's process has built, with a reference.
 * NULL: nobody, it has CAP_SYS_ADMIN in the initial user namespace. No sleep.
 */
struct kunwind_payer *kunwind_payer_of(struct mm_struct *mm);

/* @payer may be NULL in all of these. No sleep. */
struct kunwind_payer *kunwind_payer_get(struct kunwind_payer *payer);
void kunwind_payer_put(struct kunwind_payer *payer);

/*
 * One more registration by @uid, the current task's real user. @unlimited: counted, not refused. No sleep.
 * Returns what to give to kunwind_payer_remove_process() (for which NULL is
 * none), or ERR_PTR(-ENOSPC), ERR_PTR(-ENOMEM).
 */
struct kunwind_payer *kunwind_payer_add_process(kuid_t uid, bool unlimited);
void kunwind_payer_remove_process(struct kunwind_payer *payer);

/* What auto gives to users in shares. */
enum kunwind_share {
	KUNWIND_SHARE_RECORD,	/* processes that are registered */
	KUNWIND_SHARE_UNMAP,	/* processes that ended while they were read, or may yet */
	KUNWIND_NR_SHARES
};

/*
 * One more for @task. @free: how many more there can be in all. The real user of
 * @task has at most as many as are free then, so half of all at most; root with
 * CAP_SYS_ADMIN any number. Inside rcu_read_lock(). No sleep.
 * Returns what to give to kunwind_payer_remove_share(), NULL for nobody, or
 * ERR_PTR(-ENOSPC), ERR_PTR(-ENOMEM).
 */
struct kunwind_payer *kunwind_payer_add_share(const struct task_struct *task,
					      enum kunwind_share share, unsigned int free);
/* Whether @payer is whose share @task is in by now. Inside rcu_read_lock(). No sleep. */
bool kunwind_payer_shares(const struct kunwind_payer *payer, const struct task_struct *task);
void kunwind_payer_remove_share(struct kunwind_payer *payer, enum kunwind_share share);

/* One more object, or one less. False: the user's share of them is used up. */
bool __must_check kunwind_payer_add_object(struct kunwind_payer *payer, unsigned int limit);
void kunwind_payer_remove_object(struct kunwind_payer *payer);

/*
 * The user's objects that no process uses, the next one to free first. Under the
 * caller's lock.
 */
struct kunwind_idle {
	struct list_head objects;
	unsigned int nr;
};

struct kunwind_idle *kunwind_payer_idle(struct kunwind_payer *payer);

/* Adds @bytes; returns the user's total. Any context but NMI. */
u64 kunwind_payer_add_bytes(struct kunwind_payer *payer, size_t bytes);
void kunwind_payer_remove_bytes(struct kunwind_payer *payer, size_t bytes);

/*
 * @nr more mappings of the user were reported in the dump @dump. Returns how
 * many more may follow, up to @limit of them.
 */
u32 kunwind_payer_dump(struct kunwind_payer *payer, u32 dump, u32 nr, u32 limit);

/* @ns of processor time were used. */
void kunwind_payer_add_time(struct kunwind_payer *payer, u64 ns);
/* Whether the user gets the lowest priority. */
bool kunwind_payer_over_budget(struct kunwind_payer *payer);

/* False: another job of the user has this turn. */
bool __must_check kunwind_payer_take_turn(struct kunwind_payer *payer, enum kunwind_turn turn);
void kunwind_payer_give_turn(struct kunwind_payer *payer, enum kunwind_turn turn);

/* Frees the records of users who have nothing but a debt. Nobody may have a reference. */
void kunwind_payer_exit(void);

void kunwind_payer_show(struct seq_file *m);
void kunwind_payer_show_params(struct seq_file *m);

#endif /* _KUNWIND_PAYER_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process_record.h - the records of registered processes, for process.c
 *
 * process.h declares the functions of process_record.c for other files.
 */
#ifndef _KUNWIND_PROCESS_RECORD_H
#define _KUNWIND_PROCESS_RECORD_H

#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "../uapi/kunwind.h"

struct kunwind_quota;
struct kunwind_space;
struct pid;
struct seq_file;
struct task_struct;

/* Why a process is registered: bits. */
enum {
	BY_HAND = 1,		/* a user registered it, or its parent with its children */
	BY_SYSTEM = 2,		/* the whole system is registered (system_wide.c) */
};

/* The user who registered a process by hand; children inherit it. */
struct kunwind_registrar {
	kuid_t uid;		/* real user */
	bool unlimited;		/* had CAP_SYS_ADMIN */
	bool ptrace;		/* had CAP_SYS_PTRACE */
};

/* Under kunwind_processes_lock; the status reads some fields under RCU. */
struct kunwind_process_record {
	struct hlist_node node;
	struct pid *pid;	/* key, with a reference */
	u8 owners;		/* BY_*, never 0 */
	u32 flags;		/* KUNWIND_REGISTER_*; 0 if not by hand */
	struct kunwind_registrar registrar;	/* valid if by hand */
	struct kunwind_quota *quota;	/* of the registrar; NULL: not by hand */
	/*
	 * Of the real user of the process; NULL: not by system_wide, or not
	 * charged.
	 */
	struct kunwind_quota *system_quota;
	struct kunwind_space __rcu *space;	/* with a reference; or NULL */
	u32 dump;			/* number of the last dump that visited it, or 0 */
	union {
		struct rcu_head rcu;
		/* of those dropped under the lock that is still held */
		struct kunwind_process_record *next_dropped;
	};
};

/*
 * Of all records. Process context; preemption may be off (docs/locking.md).
 * kunwind_process_unlock() also emits kunwind_exit for the records that were
 * dropped under the lock.
 */
extern spinlock_t kunwind_processes_lock;
void kunwind_process_lock(void);
void kunwind_process_unlock(void);

/* Returns whether there is any record. Without the lock. */
bool kunwind_process_any(void);

/*
 * Returns memory for kunwind_process_insert(), or NULL. The caller does not hold
 * the lock: allocations have events, too (trace/emit.h). Freed by kfree().
 */
struct kunwind_process_record *kunwind_process_alloc(gfp_t gfp);

/* Refuses new records from now on. Takes the lock. */
void kunwind_process_close(void);

void kunwind_process_show_limit(struct seq_file *m);

/*
 * Returns the record of a process, or NULL: it has none. The caller holds the
 * lock; or only rcu_read_lock(), to find out that there is none.
 */
struct kunwind_process_record *kunwind_process_find(const struct pid *pid);

/* The caller of each function below holds the lock. None sleeps. */

static inline struct kunwind_space *
kunwind_process_space(const struct kunwind_process_record *process)
{
	return rcu_dereference_protected(process->space, lockdep_is_held(&kunwind_processes_lock));
}

/* Returns whether the children of the process are registered. */
static inline bool kunwind_process_wants_children(const struct kunwind_process_record *process)
{
	return (process->flags & KUNWIND_REGISTER_CHILDREN) || (process->owners & BY_SYSTEM);
}

/*
 * Moves a process to another space, or to none (NULL). The caller has linked it
 * to @space; this function unlinks it from the old space.
 */
void kunwind_process_set_space(struct kunwind_process_record *process, struct kunwind_space *space);

/*
 * Makes a record for @owners (BY_*), in the memory *@new, which it sets to NULL.
 * @flags and @registrar: only for BY_HAND. @space: the caller has linked the
 * process to it; may be NULL. Return: 0, the link now belongs to the record; or,
 * with nothing changed, -ENOSPC (a limit, or after kunwind_process_close()),
 * -ENOMEM (also if *@new is NULL), -ESRCH (the process has ended).
 */
int kunwind_process_insert(struct kunwind_process_record **new, struct pid *pid, u8 owners,
			   u32 flags, const struct kunwind_registrar *registrar,
			   struct kunwind_space *space);

/*
 * Adds the registration @owner to a record, and @flags to its flags. The record
 * keeps its registrar, if it has one. Return: 0; -EACCES: the registrar is
 * another user, some of @flags are new, and the caller has no CAP_SYS_ADMIN;
 * -ENOSPC, -ENOMEM, -ESRCH as above.
 */
int kunwind_process_claim(struct kunwind_process_record *process, u8 owner, u32 flags,
			  const struct kunwind_registrar *registrar);

/*
 * If the process is registered system-wide and its real user has changed,
 * charges the record to the new user. @task: the leader. Return: 0; or, with
 * nothing changed, -ENOSPC, -ENOMEM, -ESRCH.
 */
int kunwind_process_recharge(struct kunwind_process_record *process,
			     const struct task_struct *task);

/* Ends @owner's registration. Drops the record if no other is left. */
void kunwind_process_release(struct kunwind_process_record *process, u8 owner);

/*
 * Takes the record out of the hash. kunwind_process_unlock() emits its
 * kunwind_exit; it is freed after an RCU grace period.
 */
void kunwind_process_drop(struct kunwind_process_record *process);

/*
 * Counts a process that a hook or system_wide failed to register, by the error.
 */
void kunwind_process_missed(int err);

#endif /* _KUNWIND_PROCESS_RECORD_H */

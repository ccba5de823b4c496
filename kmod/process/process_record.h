/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process_record.h - the records of registered processes, for process.c
 *
 * What process_record.c does for other files is declared in process.h.
 */
#ifndef _KUNWIND_PROCESS_RECORD_H
#define _KUNWIND_PROCESS_RECORD_H

#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "../uapi/kunwind.h"

struct kunwind_payer;
struct kunwind_space;
struct pid;
struct seq_file;
struct task_struct;

/* Why a process is registered: bits. */
enum {
	BY_HAND = 1,
	BY_AUTO = 2,
};

/* Who registered by hand; inherited by children. */
struct kunwind_registrar {
	kuid_t uid;
	bool unlimited;		/* had CAP_SYS_ADMIN */
	bool ptrace;		/* had CAP_SYS_PTRACE */
};

/* Read and changed under kunwind_processes_lock; the status reads some under RCU. */
struct kunwind_process_record {
	struct hlist_node node;
	struct pid *pid;
	u8 owners;		/* BY_*, never none */
	u32 flags;		/* KUNWIND_REGISTER_*, by hand */
	struct kunwind_registrar registrar;	/* by hand */
	struct kunwind_payer *payer;	/* by hand */
	struct kunwind_payer *auto_payer;	/* by auto; NULL: nobody */
	struct kunwind_space __rcu *space;
	u32 dump;			/* the last one that reported it, or 0 */
	struct rcu_head rcu;
};

/* All records. Process context; preemption may be off. Order: docs/locking.md. */
extern spinlock_t kunwind_processes_lock;

/* Whether there is any record. Without the lock. */
bool kunwind_process_any(void);

/* No record is made from now on. Takes the lock. */
void kunwind_process_close(void);

void kunwind_process_show_limit(struct seq_file *m);

/* All of the following need the lock. None sleeps. */

/* The record of a process; NULL: it has none. */
struct kunwind_process_record *kunwind_process_find(const struct pid *pid);

static inline struct kunwind_space *
kunwind_process_space(const struct kunwind_process_record *process)
{
	return rcu_dereference_protected(process->space, lockdep_is_held(&kunwind_processes_lock));
}

/* Whether its children share what is known of its space. */
static inline bool kunwind_process_wants_children(const struct kunwind_process_record *process)
{
	return (process->flags & KUNWIND_REGISTER_CHILDREN) || (process->owners & BY_AUTO);
}

/* Moves a process to another space (with its reference), or to none (NULL). */
void kunwind_process_set_space(struct kunwind_process_record *process, struct kunwind_space *space);

/*
 * Makes a record, for @owners (BY_*), and takes over the reference of its space.
 * @flags and @registrar: by hand. Frees nothing on failure: -ENOSPC; -ENOMEM; -ESRCH,
 * the process has ended.
 */
int kunwind_process_insert(struct pid *pid, u8 owners, u32 flags,
			   const struct kunwind_registrar *registrar, struct kunwind_space *space);

/*
 * A record that is there already becomes @owner's too. Another user's flags are
 * changed by CAP_SYS_ADMIN only, others get -EACCES. Else as above.
 */
int kunwind_process_claim(struct kunwind_process_record *process, u8 owner, u32 flags,
			  const struct kunwind_registrar *registrar);

/*
 * @task, the leader, may be another user's by now, who is to pay for the record by
 * auto. On failure nothing is changed: -ENOSPC, -ENOMEM, -ESRCH.
 */
int kunwind_process_recharge(struct kunwind_process_record *process,
			     const struct task_struct *task);

/* @owner does not register it any more. It may be freed. */
void kunwind_process_release(struct kunwind_process_record *process, u8 owner);

/* Nobody registers it any more. Freed after a grace period of RCU. */
void kunwind_process_drop(struct kunwind_process_record *process);

/* Somebody should have been registered by itself, and was not. */
void kunwind_process_missed(int err);

#endif /* _KUNWIND_PROCESS_RECORD_H */

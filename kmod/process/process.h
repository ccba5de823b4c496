/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.h - registered processes, from registration to exit
 *
 * Process context. A function sleeps only if its comment says so.
 */
#ifndef _KUNWIND_PROCESS_H
#define _KUNWIND_PROCESS_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct kunwind_snapshot;
struct kunwind_stats;
struct mm_struct;
struct pid;
struct pid_namespace;
struct seq_file;

/* Enables the hooks, all required: see kunwind_hooks_require(). May sleep. */
void kunwind_process_init(void);
/*
 * Refuses new records from now on, and removes the hooks. May sleep. False:
 * ftrace kept a hook, and the module must stay.
 */
bool __must_check kunwind_process_stop(void);
/* Drops all records. The hooks must have been removed. */
void kunwind_process_exit(void);

/**
 * kunwind_process_register() - register a process by hand, read its mappings
 * @mm: the caller has a reference (mmgrab)
 * @tgid: process, which uses @mm
 * @flags: KUNWIND_REGISTER_*
 * @nr_maps, @nr_ready: out: ranges that have an object; of these, with a table
 * Waits for tables at most register_timeout_ms; not all may be ready then. May
 * sleep, killably. On failure, a new registration ends, an earlier one stays.
 * Return: 0; -ESRCH: the process has ended or uses another mm; -ENOMEM;
 * -ENOSPC: too many processes; -EINTR; -EACCES: another user registered it
 * without these flags, and the caller has no CAP_SYS_ADMIN; -EAGAIN: @mm is not
 * the current task's, and its locks were taken for register_timeout_ms.
 */
int kunwind_process_register(struct mm_struct *mm, struct pid *tgid, u32 flags,
			     u32 *nr_maps, u32 *nr_ready);

/*
 * Ends a registration by hand. Return: 0; -ENOENT: there is none; -EACCES:
 * another user registered the process, and the caller has no CAP_SYS_ADMIN.
 */
int kunwind_process_unregister(struct pid *tgid);

/*
 * Sets whether the hooks register each process. After on, the caller calls
 * synchronize_rcu(), then kunwind_process_adopt() for each process that runs.
 * After off, adopt() refuses, and the caller calls kunwind_process_disown().
 */
void kunwind_process_whole_system(bool on);

/**
 * kunwind_process_adopt() - register a process as one of the whole system
 * @mm: the caller has a reference (mmgrab); not the current task's
 * @tgid: process, which uses @mm
 * @read: read its mappings now; then the caller also keeps its memory (mmget)
 * Does not wait for tables or for locks of the process. May sleep. Counts
 * refused records (missed_limit, missed_memory). Return: 0; -EAGAIN:
 * registered, but its mappings were not read, call again; -ENOMEM: not read, or
 * also not registered; -ENOSPC: too many processes; -ESRCH: it has ended or
 * uses another mm; -ECANCELED: the whole system is not registered any more.
 */
int kunwind_process_adopt(struct mm_struct *mm, struct pid *tgid, bool read);

/* Ends all system-wide registrations. May sleep (cond_resched() only). */
struct kunwind_process_record;

/*
 * The caller passes the records that were dropped to kunwind_process_ended(), when it
 * holds no lock of this module any more: for each, kunwind_exit is emitted.
 */
struct kunwind_process_record *__must_check kunwind_process_disown(void);
void kunwind_process_ended(struct kunwind_process_record *list);

/* Returns the parameter register_timeout_ms, in jiffies. */
unsigned long kunwind_process_timeout(void);

/* Sets processes, missed_limit, missed_memory. */
void kunwind_process_stats(struct kunwind_stats *stats);

/*
 * Finds the next registered process that the dump @dump (never 0) has not
 * visited yet. *@bucket: where to go on; the caller sets 0 for the first call.
 * Returns a reference (put_pid()), or NULL: no more. May sleep.
 */
struct pid *kunwind_process_next(unsigned int *bucket, u32 dump);

/* Returns the snapshot with a reference; NULL: none, or not registered. */
struct kunwind_snapshot *kunwind_process_snapshot(struct pid *tgid);

void kunwind_process_show_params(struct seq_file *m);
void kunwind_process_show_hooks(struct seq_file *m);
/*
 * Writes a line "process" for each process (@all), or for those that @uid has
 * registered by hand. Numbers are those in @ns; a process without one there is
 * left out. Ends early if @m is full, or on a fatal signal. May sleep.
 */
void kunwind_process_show(struct seq_file *m, struct pid_namespace *ns, kuid_t uid, bool all);

#endif /* _KUNWIND_PROCESS_H */

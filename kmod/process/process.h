/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.h - registered processes, from registration to exit
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

/* Enables its hooks, all required: see kunwind_hooks_require(). May sleep. */
void kunwind_process_init(void);
/*
 * No registration or event of a process comes after this. May sleep. False:
 * ftrace would not let go of a hook, the module must stay.
 */
bool __must_check kunwind_process_stop(void);
/* Drops all processes. All hooks must be gone. */
void kunwind_process_exit(void);

/**
 * kunwind_process_register() - register a process, read its mappings
 * @mm: the caller holds the structure (mmgrab)
 * @tgid: process, which uses @mm
 * @flags: KUNWIND_REGISTER_*
 * @nr_maps, @nr_ready: out
 * May sleep, killably. Return: 0, -ESRCH, -ENOMEM, -ENOSPC, -EINTR; -EACCES:
 * another user registered it, without these flags; -EAGAIN: it is another's, and
 * its mmap_lock was taken for register_timeout_ms.
 */
int kunwind_process_register(struct mm_struct *mm, struct pid *tgid, u32 flags,
			     u32 *nr_maps, u32 *nr_ready);

/* Of what was registered by hand. 0, -ENOENT, -EACCES. */
int kunwind_process_unregister(struct pid *tgid);

/*
 * Whether the hooks register every process. After on, the caller waits for
 * synchronize_rcu(), then adopts the processes that run. After off, nothing is
 * adopted any more, and the caller disowns. No sleep.
 */
void kunwind_process_whole_system(bool on);

/**
 * kunwind_process_adopt() - register a process as one of the whole system
 * @mm: the caller holds the structure (mmgrab); not the current task's
 * @tgid: process, which uses @mm
 * @read: the caller also keeps its memory (mmget), and its mappings are read now
 * Waits for nobody: its tables are queued. May sleep. Return: 0, -ESRCH, -ENOSPC,
 * -ENOMEM (both counted), -ECANCELED (the whole system is not to be registered);
 * -EAGAIN: registered, but its mappings were not read; to be called again.
 */
int kunwind_process_adopt(struct mm_struct *mm, struct pid *tgid, bool read);

/* Drops what was registered as part of the whole system only. May sleep; waits for nobody. */
void kunwind_process_disown(void);

/* The parameter register_timeout_ms, in jiffies. */
unsigned long kunwind_process_timeout(void);

/* Sets processes, missed_limit, missed_memory. */
void kunwind_process_stats(struct kunwind_stats *stats);

/*
 * A process that does not have the mark @dump (never 0), and gets it; with a
 * reference. *bucket: from there on, 0 at first. NULL: all have it. May sleep.
 */
struct pid *kunwind_process_next(unsigned int *bucket, u32 dump);

/* What is known of its mappings, with a reference; NULL: nothing. No sleep. */
struct kunwind_snapshot *kunwind_process_snapshot(struct pid *tgid);

void kunwind_process_show_params(struct seq_file *m);
void kunwind_process_show_hooks(struct seq_file *m);
/*
 * Lines "process" for all (@all), or those registered by @uid. Numbers are
 * those of @ns; processes that have none there are left out. Ends early when @m
 * is full, or by a fatal signal.
 */
void kunwind_process_show(struct seq_file *m, struct pid_namespace *ns, kuid_t uid, bool all);

#endif /* _KUNWIND_PROCESS_H */

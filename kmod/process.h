/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.h - registered processes, from registration to exit
 */
#ifndef _KUNWIND_PROCESS_H
#define _KUNWIND_PROCESS_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct mm_struct;
struct pid;
struct pid_namespace;
struct seq_file;

int kunwind_process_init(void);
/* No registration or event of a process comes after this. May sleep. */
void kunwind_process_stop(void);
/* Drops all processes. The tracepoints' readers must be gone. */
void kunwind_process_exit(void);

/**
 * kunwind_process_register() - register a process, read its mappings
 * @mm: the caller holds it (mmget)
 * @tgid: process, which uses @mm
 * @flags: KUNWIND_REGISTER_*
 * @nr_maps, @nr_ready: out
 * May sleep, killably. Return: 0, -ESRCH, -ENOMEM, -ENOSPC, -EINTR.
 */
int kunwind_process_register(struct mm_struct *mm, struct pid *tgid, u32 flags,
			     u32 *nr_maps, u32 *nr_ready);

/* 0, -ENOENT, -EACCES. */
int kunwind_process_unregister(struct pid *tgid);

/* Registered now. */
unsigned int kunwind_process_count(void);

void kunwind_process_show_params(struct seq_file *m);
/*
 * Lines "process" for all (@all), or those registered by @uid. Numbers are
 * those of @ns; processes that have none there are left out.
 */
void kunwind_process_show(struct seq_file *m, struct pid_namespace *ns, kuid_t uid, bool all);

#endif /* _KUNWIND_PROCESS_H */

/* SPDX-License-Identifier: MIT */
/*
 * workload.h - hold the recorded command at its first instruction until tracing runs
 */
#ifndef KUNWIND_RECORD_WORKLOAD_H
#define KUNWIND_RECORD_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "owner.h"

struct workload {
	pid_t pid;
	int channel;			/* socket to the child; -1: none */
	unsigned long cgroup_ns;	/* inode of its own cgroup namespace; 0: it has none */
	const char *name;
	bool stopped;			/* by ptrace(2), in execve(2) */
};

/*
 * Forks a child that registers itself, with @module, and executes @argv with the signal mask
 * @mask, as the user @owner. With @ust, its events of LTTng-UST have stacks. Returns 0 when the
 * child is stopped in execve(2), else the exit status to end with (125 to 127), after a message
 * on stderr. Call workload_abandon() in both cases.
 */
int workload_prepare(struct workload *workload, char **argv, const sigset_t *mask,
		     const struct owner *owner, bool module, bool ust);

/* Lets the command run. */
void workload_run(struct workload *workload);

/* Kills and reaps a command that has not been started. A command that runs goes on. */
void workload_abandon(struct workload *workload);

#endif /* KUNWIND_RECORD_WORKLOAD_H */

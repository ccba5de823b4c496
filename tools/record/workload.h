/* SPDX-License-Identifier: MIT */
/*
 * workload.h - start the recorded command only after tracing has started
 */
#ifndef KUNWIND_RECORD_WORKLOAD_H
#define KUNWIND_RECORD_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct workload {
	pid_t pid;
	int channel;			/* socket to the child; -1: none */
	unsigned long cgroup_ns;	/* inode of its own cgroup namespace; 0: it has none */
	const char *name;
};

/*
 * Forks a child that waits for workload_run() and then executes @argv with the
 * signal mask @mask. Returns false after a message on stderr. Call
 * workload_abandon() in both cases.
 */
bool workload_prepare(struct workload *workload, char **argv, const sigset_t *mask);

/*
 * Lets the child register itself and execute the command. Returns 0 if the
 * command runs, else the exit status to end with (125 to 127), after a message
 * on stderr.
 */
int workload_run(struct workload *workload);

/*
 * Ends and reaps a child that does not run the command. Waits for a command
 * that still runs.
 */
void workload_abandon(struct workload *workload);

#endif /* KUNWIND_RECORD_WORKLOAD_H */

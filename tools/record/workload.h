/* SPDX-License-Identifier: MIT */
/*
 * workload.h - the command that is recorded: ready before, running after the start
 */
#ifndef KUNWIND_RECORD_WORKLOAD_H
#define KUNWIND_RECORD_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct workload {
	pid_t pid;
	int channel;			/* to and from the child */
	unsigned long cgroup_ns;	/* a name space of its own; 0 none */
	const char *name;
};

/* A child that waits; it is to become @argv, with signals blocked as in @mask. False: said why. */
bool workload_prepare(struct workload *workload, char **argv, const sigset_t *mask);

/*
 * The child registers itself and becomes the command. Returns 0 when it runs,
 * else the exit status to end with (125 to 127; said why).
 */
int workload_run(struct workload *workload);

/* Ends a child that never ran. */
void workload_abandon(struct workload *workload);

#endif /* KUNWIND_RECORD_WORKLOAD_H */

/* SPDX-License-Identifier: MIT */
/*
 * pids.h - running processes that are recorded: registered for that time
 */
#ifndef KUNWIND_RECORD_PIDS_H
#define KUNWIND_RECORD_PIDS_H

#include <stdbool.h>
#include <stddef.h>

#define PIDS_MAX	64

struct pids {
	int pid[PIDS_MAX];
	int nr;
	bool children;		/* and those that they start */
	/* pids.c's own */
	int nr_done;		/* of pid[], registered so far */
	int *before;		/* registered before any of them was */
	size_t nr_before;
};

/* False: it has said why. */
bool pids_register(struct pids *pids);

/*
 * Those that were not registered before no longer are; nor are their children, if
 * they were to be followed and are still known for theirs.
 */
void pids_unregister(struct pids *pids);

/* Until all of them have ended, or a signal can be read from @signals; @forever: until that. */
void pids_wait(const struct pids *pids, int signals, bool forever);

#endif /* KUNWIND_RECORD_PIDS_H */

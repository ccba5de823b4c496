/* SPDX-License-Identifier: MIT */
/*
 * pids.h - register running processes for the time of a recording
 */
#ifndef KUNWIND_RECORD_PIDS_H
#define KUNWIND_RECORD_PIDS_H

#include <stdbool.h>
#include <stddef.h>

struct pids_claim;

struct pids {
	int *pid;		/* of pids_add() */
	int nr;
	bool children;		/* also register the processes that they start */
	/* private to pids.c */
	int nr_done;		/* how many of pid[] are registered so far */
	struct pids_claim *claim;	/* of each of pid[] */
	int *before;		/* processes that were registered before the recording */
	size_t nr_before;
};

/* Adds a process, once. Returns false if memory is short. */
bool pids_add(struct pids *pids, int pid);
void pids_free(struct pids *pids);

/* For a recording without the module. Returns false, after a message, if a process does not run. */
bool pids_check(const struct pids *pids);

/*
 * Sorts pid[], and registers pid[0] to pid[nr - 1]. Returns false, after a message on stderr, at
 * the first one that fails; call pids_unregister() also then.
 */
bool pids_register(struct pids *pids);

/*
 * Unregisters the processes that pids_register() registered, except those that
 * were registered before all recordings, or that another recording needs. With
 * pids->children also their descendants, as far
 * as the chain of parents still leads to one of pid[].
 */
void pids_unregister(struct pids *pids);

/*
 * Waits until all processes have ended or a signal can be read from the
 * signalfd @signals; with @forever, only for the signal. If memory is short, waits
 * for the signal, too.
 */
void pids_wait(const struct pids *pids, int signals, bool forever);

#endif /* KUNWIND_RECORD_PIDS_H */

/* SPDX-License-Identifier: MIT */
/*
 * claim.h - let several recorders share what the first one prepares and the last one undoes
 */
#ifndef KUNWIND_RECORD_CLAIM_H
#define KUNWIND_RECORD_CLAIM_H

#include <stdbool.h>

enum claim {
	CLAIM_NONE,	/* @fd is -1, or its file has no locks: nothing is shared */
	CLAIM_FIRST,	/* others wait until claim_share() or claim_drop() */
	CLAIM_SHARED,	/* another recorder had it at the same time */
};

/*
 * Claims what the open file @fd stands for. Waits a little for a recorder that
 * begins or ends; a process that keeps the file locked is not waited for.
 */
enum claim claim_take(int fd);

/* The first one: what is shared is prepared. */
void claim_share(int fd);

/* Returns whether no other recorder has the claim. Then others wait until claim_drop(). */
bool claim_is_last(int fd);

/* Ends the claim, and closes @fd. */
void claim_drop(int fd);

#endif /* KUNWIND_RECORD_CLAIM_H */

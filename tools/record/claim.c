// SPDX-License-Identifier: MIT
/*
 * claim.c - let several recorders share what the first one prepares and the last one undoes
 *
 * Each recorder has a shared lock (flock(2)) on one file. The first and the last one
 * find that no other has one, because they get an exclusive lock; they keep it while
 * they prepare or undo. The kernel drops the locks of a recorder that is killed.
 */
#include <errno.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "claim.h"

#define TRIES	200	/* of 10 ms */

enum claim claim_take(int fd)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int tries;

	for (tries = 0; fd >= 0 && tries < TRIES; tries++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return CLAIM_FIRST;
		if (!flock(fd, LOCK_SH | LOCK_NB))
			return CLAIM_SHARED;
		if (errno != EWOULDBLOCK)
			break;
		nanosleep(&pause, NULL);
	}
	return CLAIM_NONE;
}

void claim_share(int fd)
{
	flock(fd, LOCK_SH);
}

bool claim_is_last(int fd)
{
	/* of two that end at once, one may fail and lose its lock; the other one then succeeds */
	return !flock(fd, LOCK_EX | LOCK_NB);
}

void claim_drop(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - write what the buffers of a flight recorder hold
 */
#ifndef KUNWIND_RECORD_SNAPSHOT_H
#define KUNWIND_RECORD_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

struct snapshot {
	int dir;		/* descriptor of the new directory; -1: there is none */
	char path[4608];	/* of it */
};

/**
 * snapshot_take() - write a trace of the last seconds
 * @session: name of the session, which is in snapshot mode
 * @dir: a descriptor; the new directory goes there: snapshot-NUMBER-DATE-TIME-COUNT
 * @path: of @dir, for LTTng and for messages
 * @snapshot: out; the caller closes its descriptor, also after a failure
 * Return: false after a message on stderr. A full disk leaves an incomplete
 * trace.
 */
bool snapshot_take(const char *session, int dir, const char *path, struct snapshot *snapshot);

/*
 * Waits until the module has reported what it knew when tracing started. Returns false after half a
 * minute.
 */
bool snapshot_dumped(void);

/* kunwind snapshot. Returns the exit status. */
int snapshot_command(int argc, char **argv);

/* Returns the number of snapshots in a directory, those that are not complete, too. */
unsigned int snapshot_count(int dir);

#endif /* KUNWIND_RECORD_SNAPSHOT_H */

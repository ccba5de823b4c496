/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - write what the buffers of a flight recorder hold
 */
#ifndef KUNWIND_RECORD_SNAPSHOT_H
#define KUNWIND_RECORD_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * snapshot_take() - write a trace of the last seconds
 * @session: name of the session, which is in snapshot mode
 * @dir: the new directory goes there: snapshot-NUMBER-DATE-TIME-COUNT
 * @path: out: path of the new directory
 * Return: false after a message on stderr. A full disk leaves an incomplete
 * trace.
 */
bool snapshot_take(const char *session, const char *dir, char *path, size_t size);

/* kunwind snapshot. Returns the exit status. */
int snapshot_command(int argc, char **argv);

#endif /* KUNWIND_RECORD_SNAPSHOT_H */

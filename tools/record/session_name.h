/* SPDX-License-Identifier: MIT */
/*
 * session_name.h - the names of recorders' LTTng sessions
 *
 * The name says which process made the session: "kunwind-record-PID", and in a
 * PID namespace other than the first one "kunwind-record-PID-nsINODE".
 */
#ifndef KUNWIND_RECORD_SESSION_NAME_H
#define KUNWIND_RECORD_SESSION_NAME_H

#include <stddef.h>

/* Writes the name that the session of this process has. */
void session_name(char *name, size_t size);

/*
 * Returns the process that made the session of this name; 0: it was no recorder,
 * or one in another PID namespace.
 */
int session_recorder(const char *name);

#endif /* KUNWIND_RECORD_SESSION_NAME_H */

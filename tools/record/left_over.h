/* SPDX-License-Identifier: MIT */
/*
 * left_over.h - find and end LTTng sessions whose recorder was killed
 */
#ifndef KUNWIND_RECORD_LEFT_OVER_H
#define KUNWIND_RECORD_LEFT_OVER_H

#include <stdbool.h>

/*
 * Prints each session that a killed recorder has left, one a line: name, tab,
 * path of its trace. Prints nothing if no session daemon runs.
 */
void left_over_print(void);

/* Returns whether the session of this name has a recorder that runs. */
bool left_over_is_recorder(const char *name);

/*
 * Ends these sessions, with a message on stderr for each. Call it before
 * session_create().
 */
void left_over_end(void);

#endif /* KUNWIND_RECORD_LEFT_OVER_H */

/* SPDX-License-Identifier: MIT */
/*
 * session_ust.h - the part of a session that has events of LTTng-UST
 *
 * As in session.h, functions that return bool return false after a message, or if a signal asks
 * the program to end.
 */
#ifndef KUNWIND_RECORD_SESSION_UST_H
#define KUNWIND_RECORD_SESSION_UST_H

#include <stdbool.h>
#include <stdint.h>

#include "session.h"

/*
 * Makes the channels, one with the context that has the stack, and enables the events that say
 * what programs have loaded. Call it after session_create().
 * @buffer: of a channel of the kernel
 * @filter: LTTng's filter expression, or NULL; also for session_ust_event()
 */
bool session_ust_begin(struct session *session, uint64_t buffer, const char *filter);

/*
 * Enables events by name, which may have wildcards. A name that no program has is no failure,
 * because a program may start later.
 */
bool session_ust_event(struct session *session, const char *name, const char *filter);

#endif /* KUNWIND_RECORD_SESSION_UST_H */

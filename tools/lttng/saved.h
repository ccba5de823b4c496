/* SPDX-License-Identifier: MIT */
/*
 * saved.h - the channels of a session, from its saved configuration
 */
#ifndef KUNWIND_LTTNG_SAVED_H
#define KUNWIND_LTTNG_SAVED_H

#include <stdbool.h>

struct options_general;

/**
 * saved_session() - save the configuration of a session
 * @general: options for "lttng save"; its argv is overwritten from nr on
 * @session: name, or NULL for the current session (.lttngrc)
 * Return: XML, which the caller frees; NULL if it could not be read.
 */
char *saved_session(struct options_general *general, const char *session);

/* Returns whether the session has this kernel channel. @text may be NULL. */
bool saved_channel(const char *text, const char *channel);

/*
 * Returns whether it has the channel with the contexts callstack-user, vpid and
 * vtid; @userspace: the channel of the user-space domain, with $app.kunwind:stack. @text
 * may be NULL.
 */
bool saved_contexts(const char *text, const char *channel, bool userspace);

/* Returns whether the event is enabled in the channel. @text may be NULL. */
bool saved_event(const char *text, const char *channel, const char *event);

#endif /* KUNWIND_LTTNG_SAVED_H */

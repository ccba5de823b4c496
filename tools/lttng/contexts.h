/* SPDX-License-Identifier: MIT */
/*
 * contexts.h - find out whether a channel has the contexts of --callstack
 */
#ifndef KUNWIND_LTTNG_CONTEXTS_H
#define KUNWIND_LTTNG_CONTEXTS_H

#include <stdbool.h>

struct options_general;

/**
 * contexts_present() - check a kernel channel for callstack-user, vpid, vtid
 * @general: options for "lttng save"; its argv is overwritten from nr on
 * @session: name, or NULL for the current session (.lttngrc)
 * Return: true if it has all three; false also if its configuration could not
 * be read.
 */
bool contexts_present(struct options_general *general, const char *session, const char *channel);

/* The same for the XML text of a saved session. Exported for tests. */
bool contexts_in_text(const char *text, const char *channel);

#endif /* KUNWIND_LTTNG_CONTEXTS_H */

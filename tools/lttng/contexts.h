/* SPDX-License-Identifier: MIT */
/*
 * contexts.h - which contexts a channel of a session has
 */
#ifndef KUNWIND_LTTNG_CONTEXTS_H
#define KUNWIND_LTTNG_CONTEXTS_H

#include <stdbool.h>

struct options_general;

/**
 * contexts_present() - has a kernel channel callstack-user, vpid and vtid?
 * @session: NULL: the current one, as ~/.lttngrc names it
 */
bool contexts_present(struct options_general *general, const char *session, const char *channel);

/* Whether the text of a saved session says so; for tests. */
bool contexts_in_text(const char *text, const char *channel);

#endif /* KUNWIND_LTTNG_CONTEXTS_H */

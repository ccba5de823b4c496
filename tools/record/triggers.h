/* SPDX-License-Identifier: MIT */
/*
 * triggers.h - wait for LTTng's triggers
 */
#ifndef KUNWIND_RECORD_TRIGGERS_H
#define KUNWIND_RECORD_TRIGGERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "expression.h"

struct lttng_trigger;
struct lttng_notification_channel;

struct triggers {
	struct expression *expression;
	size_t nr;
	/* private to triggers.c */
	struct lttng_trigger **trigger;
	struct lttng_notification_channel *channel;
	int pipe[2];
	pthread_t thread;
	bool listens;		/* the thread runs, or was not joined */
	atomic_bool ending;
};

/* One firing of a trigger. dropped: some firings before it were not received. */
struct firing {
	enum expression_kind kind;
	bool dropped;
	char what[320];		/* which event, in which process, by which trigger */
};

/*
 * Registers a trigger for each expression, under names that begin with
 * @session, for events that @filter (may be NULL) selects, except those of
 * kunwind-record itself and of LTTng's daemons. Returns a descriptor that has a
 * struct firing to read for each firing, or -1 after a message on stderr.
 */
int triggers_begin(struct triggers *triggers, const char *session, const char *filter);

/*
 * Unregisters them, and ends the thread that uses @triggers. Call it also after a
 * failure. Returns false if the thread does not end: then @triggers and the
 * expressions must stay until this program ends.
 */
bool triggers_end(struct triggers *triggers);

/* Unregisters the triggers of recorders whose session's name is_left_over() accepts. */
void triggers_forget(bool (*is_left_over)(const char *session));

#endif /* KUNWIND_RECORD_TRIGGERS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * result.h - the result of a build: the object's state, and who learns of it
 */
#ifndef _KUNWIND_RESULT_H
#define _KUNWIND_RESULT_H

#include "../core/kunwind_core.h"
#include "../uapi/kunwind.h"

struct kunwind_object;

/*
 * What space.c does about results that concern published snapshots. Process
 * context; no sleep.
 */
struct kunwind_result_listener {
	/* An object is done: ranges that wait for it can be filled in. */
	void (*done)(void);
	/*
	 * A table that walks have used is given up, and its object has failed:
	 * walks of the processes that map it must forget all cached rules.
	 */
	void (*rules_gone)(void);
};

/*
 * Call this once, before the first object is queued. It is never undone,
 * because all builds have ended when @listener's work is given up.
 */
void kunwind_result_listen(const struct kunwind_result_listener *listener);

/* Completes object->done, and calls the listener. */
void kunwind_result_done(struct kunwind_object *object);
/* Calls the listener. */
void kunwind_result_rules_gone(void);

/*
 * Sets the object's state by the @build_error that the build, or its second
 * stage, ended with. Wakes no task.
 */
void kunwind_result_set(struct kunwind_object *object, enum kunwind_build_error build_error);

/* Adds to table_refused: failed builds since loading (second stages, too). */
void kunwind_result_stats(struct kunwind_stats *stats);

#endif /* _KUNWIND_RESULT_H */

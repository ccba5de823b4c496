/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * result.h - the result of a build: the object's state
 */
#ifndef _KUNWIND_RESULT_H
#define _KUNWIND_RESULT_H

#include "../core/kunwind_core.h"

struct kunwind_object;

/*
 * Sets the object's state by the @refusal that the build, or its second stage,
 * ended with. Wakes no task.
 */
void kunwind_result_set(struct kunwind_object *object, enum kunwind_refusal refusal);

/* Adds to table_refused: failed builds since loading (second stages, too). */
void kunwind_result_stats(struct kunwind_stats *stats);

#endif /* _KUNWIND_RESULT_H */

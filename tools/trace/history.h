/* SPDX-License-Identifier: MIT */
/*
 * history.h - one history of mappings for each trace
 */
#ifndef KUNWIND_TRACE_HISTORY_H
#define KUNWIND_TRACE_HISTORY_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "libkunwind-symbolize.h"

struct kunwind_histories;

/*
 * The symbolizer must outlive the histories; NULL: traces have no histories, only keys.
 * Returns NULL if out of memory.
 */
struct kunwind_histories *kunwind_histories_new(struct kunwind_symbolizer *symbolizer);
void kunwind_histories_free(struct kunwind_histories *histories);

/* Returns whether the event is kunwind_*, except kunwind_callstack. */
bool kunwind_history_is_own(const char *event_name);

/*
 * Adds an event for which kunwind_history_is_own() to the history of its trace.
 * Events must come in order of time (nanoseconds). False: out of memory.
 */
bool kunwind_histories_learn(struct kunwind_histories *histories, const bt_event *event,
			     int64_t time);

/* Returns whether the event's trace has any mapping; if @event is NULL, whether any trace has. */
bool kunwind_histories_tell(struct kunwind_histories *histories, const bt_event *event);

/*
 * Returns the history of the event's trace, made if needed. Each trace has its
 * own, because traces of different boots may have the same process ids. NULL:
 * out of memory.
 */
struct kunwind_history *kunwind_histories_of(struct kunwind_histories *histories,
					     const bt_event *event);

/*
 * Returns what identifies the event's trace, also after the trace is opened again; NULL:
 * out of memory.
 */
const void *kunwind_histories_key(struct kunwind_histories *histories, const bt_event *event);

#endif /* KUNWIND_TRACE_HISTORY_H */

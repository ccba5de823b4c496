/* SPDX-License-Identifier: MIT */
/*
 * show_history.h - what each trace tells of its processes
 */
#ifndef KUNWIND_SHOW_HISTORY_H
#define KUNWIND_SHOW_HISTORY_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "libkunwind-symbolize.h"

struct kunwind_histories;

/* NULL when out of memory. */
struct kunwind_histories *kunwind_histories_new(struct kunwind_symbolizer *symbolizer);
void kunwind_histories_free(struct kunwind_histories *histories);

/* Is the event one of kunwind's own about processes, by its name? */
bool kunwind_history_is_own(const char *event_name);

/* Takes in what one of kunwind's own events tells. False: out of memory. */
bool kunwind_histories_learn(struct kunwind_histories *histories, const bt_event *event,
			     const char *name, int64_t time);

/* Has any mapping been learned? */
bool kunwind_histories_tell(const struct kunwind_histories *histories);

/*
 * The history of the trace that an event is from: another trace may be of another
 * boot, with the same numbers. NULL: out of memory.
 */
struct kunwind_history *kunwind_histories_of(struct kunwind_histories *histories,
					     const bt_event *event);

#endif /* KUNWIND_SHOW_HISTORY_H */

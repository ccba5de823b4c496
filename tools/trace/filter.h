/* SPDX-License-Identifier: MIT */
/*
 * filter.h - which part of a trace counts: a window of time, threads, durations
 */
#ifndef KUNWIND_TRACE_FILTER_H
#define KUNWIND_TRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "list.h"

/* A time that the user gives. */
struct kunwind_when {
	enum { WHEN_NONE, WHEN_SECONDS, WHEN_CLOCK } kind;
	int64_t ns;	/* since the trace's beginning, or since midnight */
};

struct kunwind_filter {
	struct kunwind_when from, to;
	struct kunwind_numbers tids;
	struct kunwind_patterns comms;
	int64_t shortest, longest;	/* nanoseconds, inclusive; -1: no limit */
	/* set by kunwind_filter_begin(): nanoseconds since 1970; to is exclusive */
	int64_t begin, end;
};

/* Values of kunwind_filter_take() for help_option(). */
enum { FILTER_FROM = 512, FILTER_TO, FILTER_TID, FILTER_COMM, FILTER_DURATION };

void kunwind_filter_init(struct kunwind_filter *filter);
void kunwind_filter_exit(struct kunwind_filter *filter);

/* Takes the option @c. Returns false after a message if @value is wrong. */
bool kunwind_filter_take(struct kunwind_filter *filter, int c, const char *value);

/*
 * Reads SECONDS since the trace's beginning or HH:MM:SS, both with a fraction. Returns
 * false if the text is neither.
 */
bool kunwind_when_read(const char *text, struct kunwind_when *when);

/*
 * Returns @when in nanoseconds since 1970, or @otherwise for WHEN_NONE. @begin is the
 * beginning of the trace. A clock time is on the day of @begin, or on the next day if
 * that is more than an hour before @begin.
 */
int64_t kunwind_when_resolve(const struct kunwind_when *when, int64_t begin, int64_t otherwise);

/*
 * Call this at the first event of the trace, before the functions below. Returns
 * false after a message if --from is not before --to.
 */
bool kunwind_filter_begin(struct kunwind_filter *filter, int64_t time);

/* Returns whether a time is in the window: not before --from, and before --to. */
static inline bool kunwind_filter_time(const struct kunwind_filter *filter, int64_t time)
{
	return time >= filter->begin && time < filter->end;
}

/*
 * Returns whether something that takes time reaches into the window. @end: INT64_MAX
 * if it has not ended. An end at the window's begin is outside of it.
 */
static inline bool kunwind_filter_span(const struct kunwind_filter *filter, int64_t begin, int64_t end)
{
	return begin < filter->end && (begin >= filter->begin || end > filter->begin);
}

/* Returns the time, or the nearest one in the window. */
int64_t kunwind_filter_clamp(const struct kunwind_filter *filter, int64_t time);

/* Returns whether the event's thread is selected, by its number and name. */
bool kunwind_filter_tid(const struct kunwind_filter *filter, const struct kunwind_head *head);
bool kunwind_filter_comm(struct kunwind_filter *filter, const struct kunwind_head *head);

/* Returns whether any duration is selected. */
static inline bool kunwind_filter_any_duration(const struct kunwind_filter *filter)
{
	return filter->shortest < 0 && filter->longest < 0;
}

bool kunwind_filter_duration(const struct kunwind_filter *filter, int64_t ns);

#endif /* KUNWIND_TRACE_FILTER_H */

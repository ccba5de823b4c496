/* SPDX-License-Identifier: MIT */
/*
 * show_trace.h - read LTTng traces, event by event, through libbabeltrace2
 */
#ifndef KUNWIND_SHOW_TRACE_H
#define KUNWIND_SHOW_TRACE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "show_event.h"

struct kunwind_trace;

/**
 * kunwind_trace_open() - find the traces at and below some directories
 * Says on stderr what is wrong. Return: NULL on failure.
 */
struct kunwind_trace *kunwind_trace_open(char *const *paths, int nr_paths);
void kunwind_trace_close(struct kunwind_trace *trace);

enum kunwind_trace_next { KUNWIND_TRACE_GO_ON, KUNWIND_TRACE_STOP, KUNWIND_TRACE_FAIL };

/* Returns enum kunwind_trace_next. @time: nanoseconds since 1970, or -1 when the event has none. */
typedef int kunwind_trace_event_fn(const bt_event *event, int64_t time, void *data);

/**
 * kunwind_trace_read() - hand over every event of all traces, in order of time
 * May be called again, and reads from the beginning then.
 * @lost: out: events that LTTng discarded for want of buffers; may be NULL
 * Return: false after an error, which was said on stderr.
 */
bool kunwind_trace_read(struct kunwind_trace *trace, kunwind_trace_event_fn *fn, void *data,
			uint64_t *lost);

/* The host that the trace is from; NULL when it does not say. Known once reading began. */
const char *kunwind_trace_hostname(const struct kunwind_trace *trace);

#endif /* KUNWIND_SHOW_TRACE_H */

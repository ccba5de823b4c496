/* SPDX-License-Identifier: MIT */
/*
 * trace.h - read LTTng traces, event by event, with libbabeltrace2
 */
#ifndef KUNWIND_TRACE_H
#define KUNWIND_TRACE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy.h"
#include "event.h"

struct kunwind_trace;

/**
 * kunwind_trace_open() - find the traces in and below some directories
 * Return: NULL after a message on stderr.
 */
struct kunwind_trace *kunwind_trace_open(char *const *paths, int nr_paths);
void kunwind_trace_close(struct kunwind_trace *trace);

enum kunwind_trace_next { KUNWIND_TRACE_GO_ON, KUNWIND_TRACE_STOP, KUNWIND_TRACE_FAIL };

/*
 * Returns enum kunwind_trace_next; kunwind_trace_read() prints no message for
 * KUNWIND_TRACE_FAIL. @time: nanoseconds since 1970; -1 if the event has none.
 */
typedef int kunwind_trace_event_fn(const bt_event *event, int64_t time, void *data);

/**
 * kunwind_trace_read() - call @fn for each event of all traces in order of time
 * Each call reads from the beginning.
 * @lost: out: events that LTTng discarded (full buffers); may be NULL
 * Return: false after an error, which was printed on stderr, and after
 * KUNWIND_TRACE_FAIL.
 */
bool kunwind_trace_read(struct kunwind_trace *trace, kunwind_trace_event_fn *fn, void *data,
			uint64_t *lost);

/*
 * The same for the streams that may have kunwind's events. These are few if the
 * events have a channel of their own.
 */
bool kunwind_trace_read_own(struct kunwind_trace *trace, kunwind_trace_event_fn *fn, void *data);

/*
 * Returns whether an event can have its stack by id (own_events.h). True also after an
 * error, which reading will meet and report.
 */
bool kunwind_trace_has_ids(struct kunwind_trace *trace);

/* What a trace lacks. */
struct kunwind_losses {
	struct {
		char channel[64];	/* the stream files' name without the processor */
		uint64_t events;
	} by[8];			/* in order of the first loss; the last is of all others */
	size_t nr;
	uint64_t packets;		/* that the tracer discarded or overwrote */
	uint64_t cut_files, cut_bytes;	/* of stream files that end inside a packet */
};

/* Returns what was lost, after kunwind_trace_read(). It lives as long as @trace. */
const struct kunwind_losses *kunwind_trace_losses(const struct kunwind_trace *trace);

/*
 * Makes the next kunwind_trace_read() write a copy. The caller keeps @copy, whose
 * first members it has set, until kunwind_trace_close(). If a message is not
 * copied, reading ends and fails. False: after a message.
 */
bool kunwind_trace_copy_to(struct kunwind_trace *trace, struct kunwind_copy *copy);

/*
 * Returns the hostname in the first trace that has one; NULL if there is none,
 * or before kunwind_trace_read().
 */
const char *kunwind_trace_hostname(const struct kunwind_trace *trace);

#endif /* KUNWIND_TRACE_H */

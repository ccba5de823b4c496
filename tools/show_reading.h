/* SPDX-License-Identifier: MIT */
/*
 * show_reading.h - a trace's events, each with its process and its named stack
 */
#ifndef KUNWIND_SHOW_READING_H
#define KUNWIND_SHOW_READING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "show_event.h"
#include "show_history.h"
#include "show_stack.h"
#include "show_trace.h"
#include "libkunwind-symbolize.h"

struct kunwind_reading {
	struct kunwind_trace *trace;
	struct kunwind_symbolizer *symbolizer;
	struct kunwind_histories *histories;	/* NULL: addresses only */
	bool quiet;				/* no progress on a terminal */
	bool told_only;				/* nobody is looked for in /proc */
	/* the rest is its own */
	bool same_host, host_known;
	const char *doing;
	time_t told;
	uint64_t seen;
	kunwind_trace_event_fn *fn;
	void *data;
	uint64_t address[KUNWIND_STACK_MAX];
	struct kunwind_frame frame[KUNWIND_STACK_MAX];
	uint8_t trust[KUNWIND_STACK_MAX];
};

/**
 * kunwind_reading_open() - open the traces at and below some directories
 * With @symbols, what is mapped where is read from them already. @options: of
 * the symbolizer, NULL for the defaults.
 * Says on stderr what is wrong. To be closed either way.
 */
bool kunwind_reading_open(struct kunwind_reading *reading, char *const *paths, int nr_paths,
			  bool symbols, const struct kunwind_symbolizer_options *options);
void kunwind_reading_close(struct kunwind_reading *reading);

/* Hands over every event, in order of time; see kunwind_trace_read(). */
bool kunwind_reading_events(struct kunwind_reading *reading, kunwind_trace_event_fn *fn,
			    void *data, uint64_t *lost);

/* An event's user stack, and whose it is. */
struct kunwind_stack {
	int pid;		/* in the initial pid namespace, -1 not known */
	bool told;		/* the process is known, from the trace or /proc */
	size_t nr;		/* frames, 0: no stack */
	const struct kunwind_frame *frame;	/* innermost first; valid until the next event's */
	const uint8_t *trust;	/* enum kunwind_trust of each; NULL: the event does not tell */
};

/* Without a histories the frames are addresses only. False: out of memory. */
bool kunwind_reading_stack(struct kunwind_reading *reading, const bt_event *event,
			   const struct kunwind_head *head, struct kunwind_stack *stack);

/* Does the trace itself tell of the stack's process? With told_only set; else always true. */
bool kunwind_reading_tells(const struct kunwind_reading *reading,
			   const struct kunwind_stack *stack);

#endif /* KUNWIND_SHOW_READING_H */

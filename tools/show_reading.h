/* SPDX-License-Identifier: MIT */
/*
 * show_reading.h - a trace's events, each with its process and its named stack
 */
#ifndef KUNWIND_SHOW_READING_H
#define KUNWIND_SHOW_READING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "show_history.h"
#include "show_stack.h"
#include "show_trace.h"
#include "symbolize.h"

struct kunwind_reading {
	struct kunwind_trace *trace;
	struct kunwind_symbolizer *symbolizer;
	struct kunwind_histories *histories;	/* NULL: addresses only */
	bool quiet;				/* no progress on a terminal */
	/* the rest is its own */
	bool same_host, host_known;
	const char *doing;
	time_t told;
	uint64_t seen;
	kunwind_trace_event_fn *fn;
	void *data;
};

/**
 * kunwind_reading_open() - open the traces at and below some directories
 * With @symbols, what is mapped where is read from them already.
 * Says on stderr what is wrong. To be closed either way.
 */
bool kunwind_reading_open(struct kunwind_reading *reading, char *const *paths, int nr_paths,
			  bool symbols);
void kunwind_reading_close(struct kunwind_reading *reading);

/* Hands over every event, in order of time; see kunwind_trace_read(). */
bool kunwind_reading_events(struct kunwind_reading *reading, kunwind_trace_event_fn *fn,
			    void *data, uint64_t *lost);

/* What an event tells of where it happened; -1 and "" where the trace does not have it. */
struct kunwind_head {
	const char *name, *comm;
	int64_t time, pid, tid, cpu;
	bool own_number;	/* pid is vpid: of the process's own namespace */
};

/* Global process numbers where the trace has them. */
void kunwind_head_read(struct kunwind_head *head, const bt_event *event, int64_t time);

/* Begins @stack, its process found. False: out of memory. */
bool kunwind_reading_stack(struct kunwind_reading *reading, const bt_event *event,
			   const struct kunwind_head *head, struct kunwind_stack *stack);

#endif /* KUNWIND_SHOW_READING_H */

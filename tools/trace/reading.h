/* SPDX-License-Identifier: MIT */
/*
 * reading.h - read the events of traces with their processes and stacks
 */
#ifndef KUNWIND_TRACE_READING_H
#define KUNWIND_TRACE_READING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "event.h"
#include "history.h"
#include "kernel.h"
#include "options.h"
#include "stack.h"
#include "thread.h"
#include "trace.h"
#include "whole.h"
#include "libkunwind-symbolize.h"

struct kunwind_reading {
	struct kunwind_trace *trace;
	struct kunwind_symbolizer *symbolizer;
	struct kunwind_histories *histories;	/* NULL: stacks are addresses only */
	struct kunwind_histories *keys;		/* of traces, if histories is NULL */
	struct kunwind_wholes *wholes;
	struct kunwind_threads *threads;
	struct kunwind_kernels *kernels;	/* NULL: kernel stacks are addresses only */
	bool no_kernel;				/* leave out kernel stacks */
	bool quiet;				/* set after opening: print no progress */
	bool told_only;				/* set after opening: if a trace has
						 * mappings, do not use /proc */
	/* private to reading.c */
	const void *host_of;	/* the trace that same_host is of; NULL: none */
	bool same_host;
	bool lines;		/* progress: a line now and then, for logs */
	const char *doing;
	time_t told;
	uint64_t seen;
	kunwind_trace_event_fn *fn;
	void *data;
	uint64_t address[KUNWIND_STACK_MAX];
	struct kunwind_frame frame[KUNWIND_STACK_MAX];
	uint64_t kernel_address[KUNWIND_STACK_MAX];
	struct kunwind_frame kernel_frame[KUNWIND_STACK_MAX];
};

/**
 * kunwind_reading_open() - open the traces in and below some directories
 * @symbols: name frames; reads all mappings from the traces first
 * @options: of the symbolizer, and for progress
 * Return: false after a message on stderr. Call kunwind_reading_close() in both
 * cases.
 */
bool kunwind_reading_open(struct kunwind_reading *reading, char *const *paths, int nr_paths,
			  bool symbols, const struct kunwind_options *options);
void kunwind_reading_close(struct kunwind_reading *reading);

/* Calls @fn for each event, in order of time; see kunwind_trace_read(). */
bool kunwind_reading_events(struct kunwind_reading *reading, kunwind_trace_event_fn *fn,
			    void *data, uint64_t *lost);

/* The same, but @fn must not call kunwind_reading_stack(): for a pass before the others. */
bool kunwind_reading_bare(struct kunwind_reading *reading, kunwind_trace_event_fn *fn, void *data);

/*
 * As kunwind_head_read(). Names system calls that LTTng calls "unknown", and adds process
 * and name of a thread whose event has its stack by id. name and comm are valid as long as
 * the event and *head.
 */
void kunwind_reading_head(struct kunwind_reading *reading, struct kunwind_head *head,
			  const bt_event *event, int64_t time);

/* An event's user stack, kernel stack and process. */
struct kunwind_event_stack {
	int pid;		/* in the initial pid namespace; -1: not known */
	bool told;		/* the trace or /proc has mappings of the process;
				 * in a trace without any mappings: nr is not 0 */
	size_t nr;		/* number of frames; 0: no stack */
	const struct kunwind_frame *frame;	/* innermost first; valid until the next call */
	/* the kernel's frames, which the user's call; without the tracer's own */
	size_t nr_kernel;
	const struct kunwind_frame *kernel;
	const uint8_t *trust;	/* enum kunwind_trust of each user frame; NULL: not recorded */
	int reason;		/* enum kunwind_reason: why the stack ended; -1: not recorded */
	/*
	 * The trace records that the stack is complete. If it records no stack's
	 * end: the outermost function, by its object's file, is an entry point.
	 */
	bool complete;
	/* the event had a user stack, or a kernel stack, by an id that the trace does not define */
	bool lost, kernel_lost;
};

/*
 * Reads, and names, the stack of an event. A stack that LTTng's context cut is
 * replaced by that of the event kunwind_callstack before it. An event that has its stack by
 * id gets the same: the frames before the first guess. False: out of memory.
 */
bool kunwind_reading_stack(struct kunwind_reading *reading, const bt_event *event,
			   const struct kunwind_head *head, struct kunwind_event_stack *stack);

/*
 * Returns false if told_only is set and the trace has mappings but none of the
 * stack's process, or no mappings at all and the stack has no frames.
 */
bool kunwind_reading_tells(const struct kunwind_reading *reading,
			   const struct kunwind_event_stack *stack);

/* Returns why kernel frames had no names, and what to do; NULL: all is well. */
const char *kunwind_reading_why_no_kernel(const struct kunwind_reading *reading);

/* Returns whether the trace records why stacks ended, in events kunwind_callstack. */
bool kunwind_reading_has_ends(const struct kunwind_reading *reading);

#endif /* KUNWIND_TRACE_READING_H */

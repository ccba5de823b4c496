/* SPDX-License-Identifier: MIT */
/*
 * show_crashes.h - kunwind crashes: list deadly signals with their stacks
 */
#ifndef KUNWIND_SHOW_CRASHES_H
#define KUNWIND_SHOW_CRASHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/options.h"

/* A process that was listed, and the time of its last event. */
struct kunwind_recent_crash {
	uint64_t host;		/* hash of the name */
	int64_t pid, time;
};

struct kunwind_crashes {
	struct kunwind_options options;
	bool json;
	uint64_t limit;		/* stop after this number; 0: no limit */
	/* results, and private to show_crashes.c */
	uint64_t found, lost;
	int64_t last;		/* time of the last crash that was printed */
	int64_t since;		/* the same, before the traces that are being read */
	struct kunwind_recent_crash recent[512];	/* a ring */
	uint64_t nr_recent;
	bool own;		/* a trace may have the event kunwind_fatal_signal */
	struct kunwind_crashes_trace *traces;	/* that were read so far */
	size_t nr_traces;
	struct kunwind_reading *reading;
};

/*
 * Prints the crashes in the traces in and below @paths that are later than
 * crashes->last. Returns false after a message on stderr.
 */
bool kunwind_crashes_read(struct kunwind_crashes *crashes, char *const *paths, int nr);

/*
 * (show_crashes_live.c) Records the deadly signals of the whole system, and
 * prints each when it occurs, until Ctrl-C or the limit. Returns the exit status.
 */
int kunwind_crashes_live(struct kunwind_crashes *crashes);

/* (show_crashes_main.c) kunwind crashes. Returns the exit status. */
int kunwind_cmd_crashes(int argc, char **argv);

/* (show.c) Prints a stack as kunwind show does. */
struct kunwind_event_stack;
void kunwind_show_stack(const struct kunwind_event_stack *stack);

#endif /* KUNWIND_SHOW_CRASHES_H */

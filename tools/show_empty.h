/* SPDX-License-Identifier: MIT */
/*
 * show_empty.h - what a trace has instead of the events that the options select
 */
#ifndef KUNWIND_SHOW_EMPTY_H
#define KUNWIND_SHOW_EMPTY_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/event.h"
#include "trace/options.h"

/* Different texts, in the order in which they came; the last one only shows that there are more. */
struct kunwind_seen {
	char *text[6];
	size_t nr;
};

struct kunwind_empty {
	struct kunwind_seen names, processes;
	bool own;	/* the options select kunwind's own events, except for --own */
	bool filtered;	/* there are events of other threads or times */
};

/* Notes an event that the options do not select. */
void kunwind_empty_note(struct kunwind_empty *empty, struct kunwind_options *options,
			const struct kunwind_head *head);

/* Prints, on stderr, that no event was selected, and what the trace has. */
void kunwind_empty_print(const struct kunwind_empty *empty, const struct kunwind_options *options);

void kunwind_empty_free(struct kunwind_empty *empty);

#endif /* KUNWIND_SHOW_EMPTY_H */

/* SPDX-License-Identifier: MIT */
/*
 * blocked.h - threads that were blocked when the recording began (kunwind_blocked)
 */
#ifndef KUNWIND_ANALYZE_BLOCKED_H
#define KUNWIND_ANALYZE_BLOCKED_H

#include <babeltrace2/babeltrace.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tool.h"
#include "trace/event.h"

struct calls;
struct sample;
struct samples;

enum { BLOCKED_ARGS = 6 };

struct blocked_thread {
	int64_t number;		/* of the event, as in struct sample */
	uint32_t thread;	/* index of samples->thread */
	uint32_t comm, state;	/* strings */
	uint32_t call;		/* string; 0: in no system call */
	uint32_t file;		/* string: of the descriptor that the call uses; 0: none is known */
	uint32_t node;		/* innermost of its stack */
	int64_t time;		/* of the event */
	int64_t since;		/* it has been blocked since this time, or later; -1: not known */
	int64_t end;		/* INT64_MAX: it was never seen to run */
	int64_t holder;		/* thread that holds the lock; 0: not known */
	uint64_t args[BLOCKED_ARGS];
};

struct blocked {
	struct blocked_thread *item;
	uint32_t nr, cap;
};

/*
 * Returns what the thread of a kunwind_blocked waits for: the name of its system call;
 * otherwise why it does not run. @text: room for @size bytes.
 */
const char *blocked_cause(const bt_event *event, char *text, size_t size);

/* Adds the thread of such an event. @off: the time off the CPU that begins with it. */
void blocked_add(struct samples *samples, const struct kunwind_head *head, const bt_event *event,
		 const struct sample *off);

/* Takes the end of a time off the CPU. @event: NULL: it lasts until the end of the trace. */
void blocked_ended(struct samples *samples, const struct sample *off, const bt_event *event);

/* Returns the descriptor that the thread's system call uses; -1: none. */
int64_t blocked_fd(const struct samples *samples, const struct blocked_thread *thread);

/* How blocked_print() prints. */
struct blocked_style {
	uint32_t top, depth;	/* 0: all */
	struct kunwind_colours colour;
};

/* Prints the threads that are selected, those with equal waits together. Prints nothing if there is none. */
void blocked_print(struct samples *samples, const struct blocked_style *style);

/* An array for JSON: kunwind-json(5). */
json_t *blocked_json(const struct samples *samples);

void blocked_free(struct blocked *blocked);

#endif /* KUNWIND_ANALYZE_BLOCKED_H */

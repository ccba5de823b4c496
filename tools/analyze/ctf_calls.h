/* SPDX-License-Identifier: MIT */
/*
 * ctf_calls.h - events that say which functions a thread is in, for the flame
 * chart of Trace Compass
 */
#ifndef KUNWIND_ANALYZE_CTF_CALLS_H
#define KUNWIND_ANALYZE_CTF_CALLS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "babeltrace2/meta.h"
#include "trace/copy.h"

/* How many functions one event has at most, except for a pop of all: trace-compass.xml knows it. */
enum { CTF_CALLS_FRAMES = 16 };

/* The streams of these events, one for each trace. Starts as all zeros. */
struct ctf_calls {
	struct kunwind_copy *copy;
	struct meta *meta;
	/* private to ctf_calls.c */
	struct ctf_calls_stream *stream;
};

struct ctf_calls_thread {
	const char *process;		/* a name for the process */
	int64_t pid, tid;
};

/*
 * Add an event to the copy, at the time of the event of @message: the thread
 * has called functions, outermost first, at most CTF_CALLS_FRAMES; or it is no
 * longer in the @nr innermost functions, at most CTF_CALLS_FRAMES or all, and
 * @left are left. False: out of memory, after a message.
 */
bool ctf_calls_push(struct ctf_calls *calls, bt_self_message_iterator *self,
		    const bt_message *message, const struct ctf_calls_thread *thread,
		    const char *const *name, uint32_t nr);
bool ctf_calls_pop(struct ctf_calls *calls, bt_self_message_iterator *self,
		   const bt_message *message, const struct ctf_calls_thread *thread, uint32_t nr,
		   uint32_t left);

/* Ends all streams. */
bool ctf_calls_end(struct ctf_calls *calls, bt_self_message_iterator *self);

/* Call it before meta_free(). */
void ctf_calls_free(struct ctf_calls *calls);

/* Returns whether an event has the name of one of these events. */
bool ctf_calls_is_own(const char *event_name);

#endif /* KUNWIND_ANALYZE_CTF_CALLS_H */

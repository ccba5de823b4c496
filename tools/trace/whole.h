/* SPDX-License-Identifier: MIT */
/*
 * whole.h - the stacks of kunwind_callstack in traces: by id, and the latest of
 * each thread; and the kernel stacks of kunwind_kernel_callstack, by id
 */
#ifndef KUNWIND_TRACE_WHOLE_H
#define KUNWIND_TRACE_WHOLE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kunwind_whole {
	uint32_t users;			/* private to whole.c */
	uint32_t nr;			/* frames */
	int reason;			/* enum kunwind_reason: why the stack ended; -1: not known */
	int64_t tgid, tid;		/* process and thread; -1: not known */
	char comm[16];			/* the thread's name; "": not known */
	uint8_t *trust;			/* enum kunwind_trust of each frame */
	uint64_t address[];		/* innermost first */
};

/* Returns how many innermost frames come before the first guessed one. */
size_t kunwind_whole_before_guess(const struct kunwind_whole *whole);

struct kunwind_wholes;

struct kunwind_wholes *kunwind_wholes_new(void);		/* NULL: out of memory */
void kunwind_wholes_free(struct kunwind_wholes *wholes);

/*
 * Keeps the stack if kunwind_event_defines() and the event has addresses, except if it
 * has a base that is not kept. @trace: identifies the event's trace, because two traces
 * may have equal ids. Memory: 9 bytes for each frame
 * of the latest stack of each id and thread. False: out of memory.
 */
bool kunwind_wholes_learn(struct kunwind_wholes *wholes, const void *trace, const bt_event *event);

/*
 * Returns the stack of a kunwind_callstack; NULL: the trace lacks its addresses.
 * The stack stays valid until the next kunwind_wholes_learn() or kunwind_wholes_note().
 */
struct kunwind_whole *kunwind_wholes_find(struct kunwind_wholes *wholes, const void *trace,
						const bt_event *event);

/*
 * The same by an id; NULL also if the stack is that of another thread than @tid; -1: it is
 * a kernel stack.
 */
struct kunwind_whole *kunwind_wholes_of_id(struct kunwind_wholes *wholes, const void *trace,
					   uint64_t id, int64_t tid);

/*
 * Makes @whole (may be NULL) the latest stack of the thread of the event, a
 * kunwind_callstack. False: out of memory.
 */
bool kunwind_wholes_note(struct kunwind_wholes *wholes, const void *trace, const bt_event *event,
			 struct kunwind_whole *whole);

/*
 * Returns the latest stack of a thread, or NULL. @pid: in the initial pid
 * namespace. @own_number: @tid is the number in the thread's own pid namespace.
 */
const struct kunwind_whole *kunwind_wholes_latest(struct kunwind_wholes *wholes, const void *trace,
						  int64_t pid, int64_t tid, bool own_number);

/* Returns whether any stack was learned. */
bool kunwind_wholes_known(const struct kunwind_wholes *wholes);

#endif /* KUNWIND_TRACE_WHOLE_H */

/* SPDX-License-Identifier: MIT */
/*
 * thread.h - processes and names of threads, by number
 */
#ifndef KUNWIND_TRACE_THREAD_H
#define KUNWIND_TRACE_THREAD_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

struct kunwind_thread {
	const void *trace;	/* with tid, the key */
	int64_t tid;		/* in the initial pid namespace */
	int64_t tgid;		/* process; -1: not known */
	char comm[16];		/* "": not known */
};

struct kunwind_threads;

struct kunwind_threads *kunwind_threads_new(void);	/* NULL: out of memory */
void kunwind_threads_free(struct kunwind_threads *threads);

/*
 * Keeps what a kunwind_callstack, sched_switch or sched_waking says of threads, until
 * another event says otherwise. @trace: identifies the event's trace. False: out of
 * memory.
 */
bool kunwind_threads_learn(struct kunwind_threads *threads, const void *trace, const bt_event *event);

/* Returns what is known of a thread, or NULL. */
const struct kunwind_thread *kunwind_threads_find(struct kunwind_threads *threads,
						  const void *trace, int64_t tid);

#endif /* KUNWIND_TRACE_THREAD_H */

/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the threads of a trace, by their numbers
 */
#ifndef KUNWIND_ANALYZE_THREADS_H
#define KUNWIND_ANALYZE_THREADS_H

#include "samples.h"
#include "trace/event.h"

/* Returns the thread of an event; NULL if it has had no event yet. */
struct sample_thread *threads_find(const struct samples *samples, const void *trace,
				   const struct kunwind_head *head);

/* Makes the thread if needed. Pointers to other threads become invalid. */
struct sample_thread *threads_get(struct samples *samples, const void *trace,
				  const struct kunwind_head *head);

/* Sets a thread's number in sched_switch. */
void threads_number(struct samples *samples, struct sample_thread *thread, int64_t tid);

/*
 * Returns the thread with this number in sched_switch; NULL if none is known. If
 * the number was used again, that is the one off the CPU, else one that lives.
 */
struct sample_thread *threads_by_number(struct samples *samples, const void *trace, int64_t tid);

#endif /* KUNWIND_ANALYZE_THREADS_H */

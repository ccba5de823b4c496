/* SPDX-License-Identifier: MIT */
/*
 * scheduler.h - what sched_switch and the events of wakeups say
 */
#ifndef KUNWIND_ANALYZE_SCHEDULER_H
#define KUNWIND_ANALYZE_SCHEDULER_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/* Returns whether the thread could have run on: the low byte of the state is 0. */
bool scheduler_preempted(const bt_event *event);

/*
 * Returns why a thread outside of the recorded system calls lost the CPU. It may
 * sleep in a page fault, in the kernel itself, or in another system call.
 */
const char *scheduler_cause(const bt_event *event);

/* Returns whether the thread has ended: it will never have the CPU again. */
bool scheduler_ended(const bt_event *event);

/* Returns whether an event of this name wakes a thread. */
bool scheduler_wakes(const char *name);

#endif /* KUNWIND_ANALYZE_SCHEDULER_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_times.h - when each task began the system call that it is in
 */
#ifndef _KUNWIND_CALL_TIMES_H
#define _KUNWIND_CALL_TIMES_H

#include <linux/types.h>

struct kunwind_call_times;

/* NULL: out of memory. May sleep. */
struct kunwind_call_times *kunwind_call_times_alloc(void);
/* Call it when no other function runs any more. @times may be NULL. May sleep. */
void kunwind_call_times_free(struct kunwind_call_times *times);

/*
 * @task, the current one, begins a call at @now. Returns false if there is no
 * room. notrace; task context; no sleep.
 */
bool kunwind_call_times_begin(struct kunwind_call_times *times, const void *task, u64 now);

/*
 * The call of @task, the current one, has ended. Returns false if its begin is
 * not known. notrace; task context; no sleep.
 */
bool kunwind_call_times_end(struct kunwind_call_times *times, const void *task, u64 *began);

#endif /* _KUNWIND_CALL_TIMES_H */

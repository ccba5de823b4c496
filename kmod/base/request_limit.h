/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request_limit.h - limit how often the walks of a task make a request
 */
#ifndef _KUNWIND_REQUEST_LIMIT_H
#define _KUNWIND_REQUEST_LIMIT_H

#include <linux/types.h>

/*
 * Returns whether the current task may make a request now. If so, it may not
 * make another for a second, or until the task work for this request has run.
 * Any context, NMI included. notrace.
 */
bool kunwind_request_limit_begin(void);

/*
 * Between these two calls, walks of the current task make no request: the task
 * runs a task work of this module, which must not cause itself when it is
 * traced. False: there is no slot for the task's limit, and the end must not be
 * called. Calls do not nest.
 */
bool kunwind_request_limit_own_begin(void);
void kunwind_request_limit_own_end(void);

/* What the work for a request of the task has achieved. */
enum kunwind_request_limit_result {
	KUNWIND_REQUEST_THERE,	/* the part is built */
	KUNWIND_REQUEST_HELPED,	/* a page, or the byte under a breakpoint */
	KUNWIND_REQUEST_VAIN,
};

/*
 * Replaces kunwind_request_limit_own_end() after work for a request of the
 * task.
 */
void kunwind_request_limit_end(enum kunwind_request_limit_result result);

/* How often kunwind_request_limit_own_begin() has found no slot. */
u64 kunwind_request_limit_refused(void);

#endif /* _KUNWIND_REQUEST_LIMIT_H */

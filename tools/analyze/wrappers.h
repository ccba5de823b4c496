/* SPDX-License-Identifier: MIT */
/*
 * wrappers.h - functions of run-time libraries, between the program and the kernel
 */
#ifndef KUNWIND_ANALYZE_WRAPPERS_H
#define KUNWIND_ANALYZE_WRAPPERS_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "trace/list.h"

/* What a function says about the futex for which it waits. */
enum wrapper {
	WRAPPER_UNKNOWN,	/* not looked at yet; of a stack: it has no function */
	WRAPPER_NONE,		/* a function of the program */
	WRAPPER_PLAIN,		/* says nothing */
	WRAPPER_SYSCALL,	/* syscall(2): any code may call it */
	WRAPPER_NO_LOCK,	/* nobody has to release it */
	WRAPPER_COND,		/* a condition variable; or its mutex, after the wakeup */
	WRAPPER_LOCK,		/* another thread has it, and will release it */
	WRAPPER_RWLOCK,		/* the same, with a second futex in the same 8 bytes */
	WRAPPER_READ,		/* the same, with a second futex in the next 4 bytes */
	WRAPPER_WRITE,		/* the same, with a second futex in the 4 bytes before */
};

/* Starts as all zeros. */
struct wrappers {
	struct kunwind_patterns more;	/* names of functions or files: wrappers, too */
	uint8_t *kind;			/* private: enum wrapper of each frame */
	uint32_t nr;			/* private */
};

void wrappers_free(struct wrappers *wrappers);

/* Returns what the innermost functions of a stack say about a wait in futex(2). @node: innermost. */
enum wrapper wrappers_wait(struct wrappers *wrappers, const struct calls *calls, uint32_t node);

/* Where a stack enters the run-time libraries. */
struct wrappers_place {
	uint32_t caller;	/* node: the program's innermost function; CALLS_ROOT: none */
	uint32_t function;	/* node: the library's function that it called; CALLS_ROOT: none */
};

/* @node: innermost of the stack. */
struct wrappers_place wrappers_place(struct wrappers *wrappers, const struct calls *calls, uint32_t node);

#endif /* KUNWIND_ANALYZE_WRAPPERS_H */

/* SPDX-License-Identifier: MIT */
/*
 * session.h - one LTTng session of the kernel domain, from create to destroy
 */
#ifndef KUNWIND_RECORD_SESSION_H
#define KUNWIND_RECORD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session {
	char name[64];
	bool created, started;
	struct lttng_handle *handle;
	/* what exists in this kernel; of struct lttng_event */
	struct lttng_event *syscalls, *tracepoints;
	int nr_syscalls, nr_tracepoints;
};

/* Functions that return bool say on stderr what is wrong and what to do about it. */

/* A session daemon that may trace the kernel; root starts one when there is none. */
bool session_daemon(void);

/* The probe module for kunwind_* events; root loads it. False: not there (said). */
bool session_probe(void);

/*
 * @to: absolute path of the directory that the trace is written to, or the relay
 *	daemon's URL (net://HOST), where it can be watched as it comes
 * @buffer: bytes of one of 4 buffers for a CPU
 */
bool session_create(struct session *session, const char *to, uint64_t buffer);

/* Is it a URL of a relay daemon? */
bool session_is_remote(const char *to);

/* The context @type of enum lttng_event_context_type for every event. */
bool session_context(struct session *session, int type);

/**
 * session_event() - enable events by name
 * @name: "syscalls" for all system calls, a system call, or a tracepoint; the
 *	last two may have wildcards ("syscall:" or "tracepoint:" before it: just that)
 * @filter: LTTng's filter expression, or NULL
 */
bool session_event(struct session *session, const char *name, const char *filter);

bool session_start(struct session *session);

/* Waits until all data is written. @lost: events discarded for want of room. */
bool session_stop(struct session *session, uint64_t *lost);

/* Whatever there is of it. */
void session_destroy(struct session *session);

#endif /* KUNWIND_RECORD_SESSION_H */

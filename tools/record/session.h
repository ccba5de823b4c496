/* SPDX-License-Identifier: MIT */
/*
 * session.h - one LTTng session, from create to destroy
 *
 * Functions that return bool return false after a message on stderr, which says
 * what is wrong and what to do about it. session_is_remote() is the exception.
 * Functions that prepare a recording also return false, without a message, if a signal
 * asks the program to end (watchdog_interrupted()). The caller begins the time limit of
 * session_start(), session_stop() and session_destroy() (watchdog.h).
 */
#ifndef KUNWIND_RECORD_SESSION_H
#define KUNWIND_RECORD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_BUFFERS		4	/* of each channel, on each CPU */
#define SESSION_FLIGHT_BUFFERS	8	/* the same of a flight recorder */

struct session {
	char name[64];
	bool created, started;
	bool interrupts;	/* the channel of interrupts was made */
	bool calls;		/* a system call is enabled */
	bool remote;		/* the trace goes to a relay daemon */
	bool failed;		/* it could not be stopped */
	bool flight;		/* overwrites the oldest events in memory; see snapshot.h */
	struct lttng_handle *handle;	/* of the kernel domain; NULL: no events of the kernel */
	struct lttng_handle *ust;	/* of the user-space domain (session_ust.h); NULL: none */
	/* all that this kernel has */
	struct lttng_event *syscalls, *tracepoints;
	int nr_syscalls, nr_tracepoints;
};

/* Prints what an LTTng error means for @what, and what to do about it. Returns false. */
bool session_failure(const char *what, int code);

/* Returns whether the consumer daemon for the kernel has ended, so that no recording can begin. */
bool session_consumer_ended(void);

/*
 * Checks that a session daemon runs. If none runs, starts one: root, or for a recording without
 * events of the kernel any user.
 */
bool session_daemon(bool kernel);

/*
 * Checks that the module lttng-probe-kunwind is loaded. For root, loads it.
 * Without it, a recording works, but has no kunwind_* events.
 */
bool session_probe(void);

/* Bytes of each buffer of each channel: of events, of kunwind_callstack (if flight), of mappings. */
struct session_buffers {
	uint64_t events, stacks, own;
};

/*
 * Creates the session and its channels of the kernel. Returns false after a message. Call
 * session_destroy() also then.
 * @to: absolute path of the directory for the trace, or the URL of a relay daemon
 *	(net://HOST), which makes the session a live one
 * @buffers: NULL: no channels; no events of the kernel
 * @flight: keep events in memory, in SESSION_FLIGHT_BUFFERS buffers of each channel, and
 *	write them when a snapshot is taken
 */
bool session_create(struct session *session, const char *to, const struct session_buffers *buffers,
		    bool flight);

/* Returns whether @to is the URL of a relay daemon. */
bool session_is_remote(const char *to);

/* Adds a context (enum lttng_event_context_type) to all events. */
bool session_context(struct session *session, int type);

/*
 * Returns whether the module gives events ids of stacks, after a message if it does not:
 * kernels without counters of perf, and old modules.
 */
bool session_has_stack_ids(void);

/*
 * Adds the context with the id of the user stack, or of the kernel stack (own_events.h).
 * Returns false after a message.
 */
bool session_stack_ids(struct session *session, bool kernel);

/**
 * session_event() - enable events by name
 * @name: "syscalls" for all system calls, or the name of a system call or
 *	tracepoint, which may have wildcards; the prefix "syscall:" or
 *	"tracepoint:" selects only that kind
 * @filter: LTTng's filter expression, or NULL
 * Return: false also if nothing has that name.
 */
bool session_event(struct session *session, const char *name, const char *filter);

/*
 * Checks that a trigger for the event @name can fire: a tracepoint, or a system call
 * with the prefix "syscall:". Both may have wildcards.
 */
bool session_may_trigger(const struct session *session, const char *name);

/*
 * Makes the channel of interrupts, with all their events that this kernel has.
 * @buffer: of the other channels. Does nothing the second time.
 */
bool session_interrupts(struct session *session, uint64_t buffer);

/* Enables LTTng's list of the files that all processes have open when tracing starts. */
bool session_open_files(struct session *session);

bool session_start(struct session *session);

/*
 * Stops tracing and waits until all data is written. False: the trace may lack events.
 * @lost: out: events that LTTng discarded because its buffers were full
 */
bool session_stop(struct session *session, uint64_t *lost);

/*
 * Destroys what session_create() made, also after a failure; keeps the name. False: a daemon
 * of LTTng that wrote the trace has ended, so the trace may lack events.
 */
bool session_destroy(struct session *session);

/*
 * For session_ust.c. Makes a channel with the session's kind of buffers; adds a context to it;
 * enables events (enum lttng_event_type).
 */
struct lttng_domain;
struct lttng_event_context;
bool session_channel(const struct session *session, struct lttng_handle *handle,
		     struct lttng_domain *domain, const char *name, uint64_t buffer);
bool session_add_context(struct lttng_handle *handle, struct lttng_event_context *context,
			 const char *channel, const char *what);
bool session_enable(struct lttng_handle *handle, int type, const char *name, const char *channel,
		    const char *filter);

#endif /* KUNWIND_RECORD_SESSION_H */

// SPDX-License-Identifier: MIT
/*
 * events.c - what kunwind record asks LTTng to record
 *
 * sched_switch and sched_waking are recorded for all processes. The event that
 * puts a process back on a CPU occurs in the process that had the CPU before, and
 * the event that wakes a process occurs in the waker. A filter by process would
 * lose both.
 */
#include <fnmatch.h>
#include <lttng/lttng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "left_over.h"
#include "own_events.h"
#include "record.h"
#include "session_ust.h"
#include "tool.h"
#include "watchdog.h"

/* Appends "or this context or field has this value" to a filter, which may be NULL. */
static void add_filter(char **filter, const char *field, unsigned long value)
{
	char *old = *filter;

	if (asprintf(filter, "%s%s%s == %lu", old ? old : "", old ? " || " : "", field, value) < 0)
		abort();	/* out of memory */
	free(old);
}

/* Sets the filters; leaves them NULL to record events of all processes. */
static void make_filter(struct record *record)
{
	int i;

	/* LTTng can filter by a process or its parent, not by descent */
	if (record->all || record->pids.children)
		return;
	if (record->command && !record->workload.cgroup_ns) {
		kunwind_tool_error("without root's rights, events of all %s are recorded",
				   record->module ? "processes" : "programs");
		return;
	}
	if (record->command) {
		add_filter(&record->filter, "$ctx.cgroup_ns", record->workload.cgroup_ns);
		add_filter(&record->ust_filter, "$ctx.cgroup_ns", record->workload.cgroup_ns);
	}
	for (i = 0; i < record->pids.nr; i++) {
		add_filter(&record->filter, "$ctx.pid", (unsigned long)record->pids.pid[i]);
		add_filter(&record->ust_filter, "$ctx.vpid", (unsigned long)record->pids.pid[i]);
	}
}

/* Returns whether a name of -e, which may have wildcards, selects this tracepoint. */
static bool selects(const char *name, const char *tracepoint)
{
	static const char kind[] = "tracepoint:";

	return !fnmatch(strncmp(name, kind, strlen(kind)) ? name : name + strlen(kind), tracepoint, 0);
}

/*
 * Enables an event. sched_switch and sched_waking are recorded for all processes,
 * even if a wildcard selects them together with other events. So is LTTng's state
 * dump, because a process that is not recorded writes it.
 */
static bool record_event(struct record *record, const char *name)
{
	static const char *const scheduler[] = { "sched_switch", "sched_waking" };
	const bool others = strpbrk(name, "*?[");
	size_t i;

	for (i = 0; record->filter && i < sizeof(scheduler) / sizeof(scheduler[0]); i++) {
		if (!selects(name, scheduler[i]))
			continue;
		if (!session_event(&record->session, scheduler[i], NULL))
			return false;
		if (!others)
			return true;
	}
	return session_event(&record->session, name,
			     strstr(name, "lttng_statedump") ? NULL : record->filter);
}

/*
 * The threads that are blocked when tracing starts. A worker of the kernel emits the event,
 * so a filter by contexts would select nothing.
 */
static bool record_blocked(struct record *record)
{
	char *filter = NULL;
	bool ok;
	int i;

	for (i = 0; record->filter && i < record->pids.nr; i++)
		add_filter(&filter, "tgid", (unsigned long)record->pids.pid[i]);
	ok = session_event(&record->session, KUNWIND_BLOCKED_EVENT, filter);
	free(filter);
	return ok;
}

/*
 * Adds the contexts: of each event its thread and its stack. Process and name of a
 * thread that has a stack are in the event that defines the stack's id; those of others
 * in sched_switch and sched_waking. @ids: events have their stacks by id.
 */
static bool add_contexts(struct record *record, bool ids)
{
	/* PID and TID too: sched_switch has these numbers, not VPID, VTID */
	static const int whole[] = { LTTNG_EVENT_CONTEXT_CALLSTACK_USER, LTTNG_EVENT_CONTEXT_VPID,
		LTTNG_EVENT_CONTEXT_VTID, LTTNG_EVENT_CONTEXT_PID, LTTNG_EVENT_CONTEXT_TID,
		LTTNG_EVENT_CONTEXT_PROCNAME };
	struct session *session = &record->session;
	bool ok = true;
	size_t i;

	if (!ids) {
		for (i = 0; ok && i < sizeof(whole) / sizeof(whole[0]); i++)
			ok = session_context(session, whole[i]);
	} else {
		ok = session_stack_ids(session, false) &&
		     (!record->kernel || session_stack_ids(session, true)) &&
		     (record->filter || session_context(session, LTTNG_EVENT_CONTEXT_PROCNAME));
	}
	return ok && (!record->kernel || ids ||
		      session_context(session, LTTNG_EVENT_CONTEXT_CALLSTACK_KERNEL));
}

/*
 * Sets the sizes of the buffers. A flight recorder's channels need the same memory in
 * all cases. An event with an id has a tenth of the size of one with a stack, and the
 * definition of a new stack is larger than the events of a system call.
 */
static void set_sizes(const struct record *record, bool ids, struct session_buffers *buffers)
{
	const bool flight = record->flight.on;

	*buffers = (struct session_buffers){
		.events = record->buffer, .stacks = flight ? record->buffer / 4 : record->buffer,
		.own = flight ? record->buffer / 4 : record->buffer,
	};
	if (!flight || !ids)
		return;
	buffers->events = record->buffer / 4;
	buffers->stacks = record->buffer;
}

/* Creates the session, with the events of the kernel. */
static bool set_up_kernel(struct record *record)
{
	static const char *const own[] = { KUNWIND_OWN_EVENTS };
	struct session *session = &record->session;
	struct session_buffers buffers;
	bool probe = session_probe(), ids;
	size_t c;
	int i;

	/*
	 * Ids need the events that define them, and a reader that can read ahead: a definition
	 * comes after the event that needs it.
	 */
	ids = probe && record->events.nr && !record->context && !session_is_remote(record->dir.path) &&
	      session_has_stack_ids();
	set_sizes(record, ids, &buffers);
	if (!session_create(session, record->dir.path, &buffers, record->flight.on))
		return false;
	/* libbabeltrace2 cannot read a channel that has contexts and no event */
	if (record->events.nr && !add_contexts(record, ids))
		return false;
	for (c = 0; probe && c < sizeof(own) / sizeof(own[0]); c++) {
		/* it would slow down each system call, for no event with a stack */
		if (!record->events.nr && !strcmp(own[c], "kunwind_callstack"))
			continue;
		if (!session_event(session, own[c], NULL))
			return false;
	}
	if (ids && record->kernel && !session_event(session, KUNWIND_KERNEL_STACK_EVENT, NULL))
		return false;
	/* COMMAND runs only when tracing has started */
	if (probe && record->events.nr && (record->all || record->pids.nr) && !record_blocked(record))
		return false;
	if (record->by_default && probe && !record_event(record, "kunwind_fatal_signal"))
		return false;
	/* what a trigger waits for is in its snapshot, with a stack */
	for (c = 0; c < record->flight.triggers.nr; c++) {
		const struct expression *expression = &record->flight.triggers.expression[c];

		if ((expression->kind == EXPRESSION_EVENT &&
		     !session_may_trigger(session, expression->event)) ||
		    !record_event(record, expression->event))
			return false;
	}
	if (!probe && record->sampling.hz) {
		kunwind_tool_error("samples need the module: sudo modprobe lttng-probe-kunwind");
		return false;
	}
	if (record->sampling.hz && !session_event(session, KUNWIND_SAMPLE_EVENT, record->filter))
		return false;
	for (i = 0; i < record->events.nr; i++) {
		if (!record_event(record, record->events.name[i]) ||
		    (selects(record->events.name[i], "sched_waking") &&
		     !session_interrupts(session, record->buffer)))
			return false;
	}
	/* COMMAND opens its files while it is traced; a snapshot would list them after its events */
	return !session->calls || record->flight.on || (!record->all && !record->pids.nr) ||
	       session_open_files(session);
}

static bool set_up_ust(struct record *record)
{
	int i;

	if (!session_ust_begin(&record->session, record->buffer, record->ust_filter))
		return false;
	for (i = 0; i < record->ust.nr; i++) {
		if (!session_ust_event(&record->session, record->ust.name[i], record->ust_filter))
			return false;
	}
	return true;
}

bool record_set_up(struct record *record)
{
	watchdog_wait(WATCH_DAEMON, "prepare a session", WATCH_USUAL);
	make_filter(record);
	if (!session_daemon(record->module))
		return false;
	left_over_end();
	return (record->module ? set_up_kernel(record) :
				 session_create(&record->session, record->dir.path, NULL, false)) &&
	       (!record->ust.nr || set_up_ust(record));
}

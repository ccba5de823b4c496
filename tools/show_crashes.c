// SPDX-License-Identifier: MIT
/*
 * show_crashes.c - print the deadly signals in traces with their stacks
 *
 * The module's event kunwind_fatal_signal says which signal killed a process.
 * In a trace whose metadata does not have it, LTTng's signal_deliver tells nearly
 * the same: a signal without a handler, whose default action ends the process.
 * SIGKILL is left out there, because threads that end with their process get it,
 * too.
 *
 * More than one thread of a large process may have the module's event for a signal
 * that was sent to the process (docs/limits.md). The first one is listed. Those of
 * several processes may be mixed, so the processes of the last seconds are kept:
 * 12 KB.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kunwind_core.h"
#include "show_crashes.h"
#include "show_json.h"
#include "tool.h"
#include "trace/reading.h"

#define OWN	"kunwind_fatal_signal"
#define LTTNG	"signal_deliver"
#define HELPER	"kunwind-symboli"	/* kunwind-symbolize-helper; the kernel cuts names */

#define SAME_DEATH_NS	(5 * INT64_C(1000000000))	/* from one thread's event to the next */

struct kunwind_crashes_trace {
	const bt_trace *trace;
	bool own;		/* it may have OWN */
};

struct crash {
	int64_t signal, code, address, sender, group;	/* -1: not known */
};

static bool kills_by_default(int64_t signal)
{
	switch (signal) {
	case SIGCHLD: case SIGCONT: case SIGURG: case SIGWINCH:
	case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU: case SIGKILL:
		return false;
	default:
		return true;
	}
}

/* Returns whether the metadata of a trace has the event @name. */
static bool has_class(const bt_trace *trace, const char *name)
{
	const bt_trace_class *class = bt_trace_borrow_class_const(trace);
	uint64_t s, e, nr = bt_trace_class_get_stream_class_count(class);

	for (s = 0; s < nr; s++) {
		const bt_stream_class *stream =
			bt_trace_class_borrow_stream_class_by_index_const(class, s);

		for (e = 0; e < bt_stream_class_get_event_class_count(stream); e++) {
			const char *found = bt_event_class_get_name(
				bt_stream_class_borrow_event_class_by_index_const(stream, e));

			if (found && !strcmp(found, name))
				return true;
		}
	}
	return false;
}

/* Sets *own to whether the trace of @event may have the event OWN. False: out of memory. */
static bool may_have_own(struct kunwind_crashes *crashes, const bt_event *event, bool *own)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	struct kunwind_crashes_trace *traces = crashes->traces;
	size_t i;

	for (i = 0; i < crashes->nr_traces && traces[i].trace != trace; i++)
		;
	if (i == crashes->nr_traces) {
		traces = reallocarray(traces, i + 1, sizeof(*traces));
		if (!traces)
			return false;
		crashes->traces = traces;
		traces[i] = (struct kunwind_crashes_trace){ trace, has_class(trace, OWN) };
		crashes->own = crashes->own || traces[i].own;
		crashes->nr_traces++;
	}
	*own = traces[i].own;
	return true;
}

/* Reads the signal of an event. Returns false if the event is no deadly signal. */
static bool read_crash(bool own, const char *name, const bt_event *event, struct crash *crash)
{
	*crash = (struct crash){ -1, -1, -1, -1, 0 };
	if (own && !strcmp(name, OWN)) {
		crash->signal = kunwind_event_integer(event, "signal", -1);
		crash->group = kunwind_event_integer(event, "group", -1);
		crash->code = kunwind_event_integer(event, "code", -1);
		crash->address = kunwind_event_integer(event, "address", -1);
		crash->sender = kunwind_event_integer(event, "sender", -1);
		return true;
	}
	if (own || strcmp(name, LTTNG) || kunwind_event_integer(event, "sa_handler", -1))
		return false;
	crash->signal = kunwind_event_integer(event, "sig", -1);
	crash->code = kunwind_event_integer(event, "code", -1);
	return kills_by_default(crash->signal);
}

/* Returns a hash of the name of the event's host (FNV-1a). */
static uint64_t host_of(const bt_event *event)
{
	const char *name = kunwind_trace_environment(
		bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event)), "hostname");
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return hash;
}

/* Returns the process of the event if it has just been listed; NULL: it has not. */
static struct kunwind_recent_crash *find_recent(struct kunwind_crashes *crashes, uint64_t host,
						 const struct kunwind_head *head)
{
	const size_t most = sizeof(crashes->recent) / sizeof(crashes->recent[0]);
	size_t i;

	for (i = 0; i < most && i < crashes->nr_recent; i++) {
		struct kunwind_recent_crash *recent = &crashes->recent[i];

		if (recent->host == host && recent->pid == head->pid &&
		    head->time - recent->time <= SAME_DEATH_NS)
			return recent;
	}
	return NULL;
}

static void note_recent(struct kunwind_crashes *crashes, uint64_t host, const struct kunwind_head *head)
{
	const size_t most = sizeof(crashes->recent) / sizeof(crashes->recent[0]);

	crashes->recent[crashes->nr_recent++ % most] = (struct kunwind_recent_crash){
		.host = host, .pid = head->pid, .time = head->time };
}

/* Returns the name of a si_code; "": it has none. */
static const char *code_name(int64_t signal, int64_t code)
{
	static const struct {
		int signal, code;	/* signal 0: any */
		const char *name;
	} names[] = {
#define CODE(signal, code)	{ signal, code, #code }
		CODE(0, SI_USER), CODE(0, SI_QUEUE), CODE(0, SI_TIMER), CODE(0, SI_TKILL),
		CODE(0, SI_KERNEL),
		CODE(SIGSEGV, SEGV_MAPERR), CODE(SIGSEGV, SEGV_ACCERR), CODE(SIGSEGV, SEGV_BNDERR),
		CODE(SIGSEGV, SEGV_PKUERR),
		CODE(SIGBUS, BUS_ADRALN), CODE(SIGBUS, BUS_ADRERR), CODE(SIGBUS, BUS_OBJERR),
		CODE(SIGBUS, BUS_MCEERR_AR), CODE(SIGBUS, BUS_MCEERR_AO),
		CODE(SIGILL, ILL_ILLOPC), CODE(SIGILL, ILL_ILLOPN), CODE(SIGILL, ILL_PRVOPC),
		CODE(SIGFPE, FPE_INTDIV), CODE(SIGFPE, FPE_INTOVF), CODE(SIGFPE, FPE_FLTDIV),
		CODE(SIGFPE, FPE_FLTOVF), CODE(SIGFPE, FPE_FLTUND), CODE(SIGFPE, FPE_FLTRES),
		CODE(SIGFPE, FPE_FLTINV),
		CODE(SIGTRAP, TRAP_BRKPT), CODE(SIGTRAP, TRAP_TRACE),
#undef CODE
		{ SIGSYS, 1, "SYS_SECCOMP" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == code && (!names[i].signal || names[i].signal == signal))
			return names[i].name;
	return "";
}

/* Of SIGKILL, and of a signal of which the kernel kept no information, only the number is known. */
static bool has_code(const struct crash *crash)
{
	return crash->group > 0 ? crash->sender > 0 || crash->code > 0 :
				  crash->code != -1 || crash->sender != -1;
}

static bool has_address(const struct crash *crash)
{
	return crash->code > 0 && crash->code < SI_KERNEL && crash->address != -1 &&
	       (crash->signal == SIGSEGV || crash->signal == SIGBUS || crash->signal == SIGILL ||
		crash->signal == SIGFPE || crash->signal == SIGTRAP);
}

static void signal_name(int64_t signal, char *name, size_t size)
{
	const char *known = signal > 0 && signal < NSIG ? sigabbrev_np((int)signal) : NULL;

	snprintf(name, size, known ? "SIG%s" : "signal %s", known ? known : "");
	if (!known)
		snprintf(name, size, "signal %" PRId64, signal);
}

static void print_text(const struct kunwind_head *head, const struct crash *crash,
		       const struct kunwind_event_stack *stack)
{
	time_t seconds = (time_t)(head->time / 1000000000);
	char clock[32] = "--:--:--", name[32];
	struct tm tm;

	if (head->time >= 0 && localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%Y-%m-%d %H:%M:%S", &tm);
	signal_name(crash->signal, name, sizeof(name));
	printf("%s.%09d ", clock, head->time >= 0 ? (int)(head->time % 1000000000) : 0);
	kunwind_tool_text(stdout, *head->comm ? head->comm : "?", "");
	printf(" %" PRId64 "/%" PRId64 " %s", head->pid, head->tid, name);
	if (has_code(crash))
		printf(" %s(%" PRId64 ")", code_name(crash->signal, crash->code), crash->code);
	if (has_address(crash))
		printf(" at 0x%" PRIx64, (uint64_t)crash->address);
	if (crash->sender > 0)
		printf(" from process %" PRId64, crash->sender);
	if (crash->group > 0)
		fputs(", sent to the process", stdout);
	putchar('\n');
	if (stack->nr)
		kunwind_show_stack(stack);
	else
		puts("  [no user stack]");
}

static void print_json(uint64_t number, const struct kunwind_head *head, const struct crash *crash,
		       const struct kunwind_event_stack *stack)
{
	const char *code = code_name(crash->signal, crash->code);
	char name[32];

	signal_name(crash->signal, name, sizeof(name));
	printf("{\"number\": %" PRIu64 ", \"time_ns\": %" PRId64 ", \"command\": ", number,
	       head->time);
	kunwind_tool_json_string(head->comm);
	printf(", \"pid\": %" PRId64 ", \"tid\": %" PRId64, head->pid, head->tid);
	printf(", \"signal\": %" PRId64 ", \"signal_name\": \"%s\"", crash->signal, name);
	printf(", \"to_process\": %s, \"code\": ", crash->group > 0 ? "true" : "false");
	if (!has_code(crash))
		fputs("null, \"code_name\": null", stdout);
	else
		printf("%" PRId64 ", \"code_name\": %s%s%s", crash->code, *code ? "\"" : "",
		       *code ? code : "null", *code ? "\"" : "");
	if (has_address(crash))
		printf(", \"address\": \"0x%" PRIx64 "\"", (uint64_t)crash->address);
	else
		fputs(", \"address\": null", stdout);
	if (crash->sender > 0)
		printf(", \"sender\": %" PRId64, crash->sender);
	else
		fputs(", \"sender\": null", stdout);
	kunwind_json_stack(stack, stack->reason >= 0 ?
			   kunwind_reason_name((enum kunwind_reason)stack->reason) : NULL);
}

static int out_of_memory(void)
{
	kunwind_tool_error("out of memory");
	return KUNWIND_TRACE_FAIL;
}

static int handle(const bt_event *event, int64_t time, void *data)
{
	struct kunwind_crashes *crashes = data;
	struct kunwind_recent_crash *recent;
	struct kunwind_event_stack stack;
	struct kunwind_head head;
	struct crash crash;
	uint64_t host;
	bool own;

	if (!may_have_own(crashes, event, &own))
		return out_of_memory();
	kunwind_reading_head(crashes->reading, &head, event, time);
	if (time <= crashes->since || !read_crash(own, head.name, event, &crash) ||
	    !kunwind_numbers_select(&crashes->options.pids, head.pid))
		return KUNWIND_TRACE_GO_ON;
	host = host_of(event);
	recent = find_recent(crashes, host, &head);
	if (recent)
		recent->time = time;
	/* The process has been listed with the thread that took the signal. */
	if (crash.group > 0 && recent)
		return KUNWIND_TRACE_GO_ON;
	/* Programs that read a trace, as this one, kill their helper. */
	if (!strncmp(head.comm, HELPER, strlen(HELPER)) && crash.signal == SIGKILL)
		return KUNWIND_TRACE_GO_ON;
	if (!kunwind_reading_stack(crashes->reading, event, &head, &stack))
		return out_of_memory();
	crashes->found++;
	crashes->last = time;
	if (!recent)
		note_recent(crashes, host, &head);
	if (crashes->json)
		print_json(crashes->found, &head, &crash, &stack);
	else
		print_text(&head, &crash, &stack);
	if (!kunwind_tool_flush())
		return KUNWIND_TRACE_FAIL;
	return crashes->found == crashes->limit ? KUNWIND_TRACE_STOP : KUNWIND_TRACE_GO_ON;
}

bool kunwind_crashes_read(struct kunwind_crashes *crashes, char *const *paths, int nr)
{
	struct kunwind_reading reading;
	uint64_t lost = 0;
	bool ok = kunwind_reading_open(&reading, paths, nr, true, &crashes->options);

	crashes->reading = &reading;
	crashes->since = crashes->last;
	if (ok) {
		reading.quiet = true;
		ok = kunwind_reading_events(&reading, handle, crashes, &lost);
	}
	crashes->lost += lost;
	free(crashes->traces);
	crashes->traces = NULL;
	crashes->nr_traces = 0;
	kunwind_reading_close(&reading);
	return ok && !ferror(stdout);
}

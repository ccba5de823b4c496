// SPDX-License-Identifier: MIT
/*
 * reading.c - read the events of traces with their processes and stacks
 *
 * To name frames, the traces are read twice: first for kunwind's events, which
 * record what was mapped where and when, then for all events. The first pass is
 * needed because a state dump may come after the first events of a session. The
 * mappings of a process that the trace does not know come from /proc, if the
 * process still runs on this host.
 *
 * An event can have a kernel stack, too. Its frames are called by the user's.
 *
 * Memory: the history of mappings and the symbolizer's cache, both of
 * libkunwind-symbolize, and the different stacks of kunwind_callstack
 * (whole.c). Nothing grows with the number of other events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kunwind_core.h"
#include "own_events.h"
#include "reading.h"
#include "syscall.h"
#include "tool.h"

#define LINE_SECONDS	10	/* time between two lines of progress */

/* Prints progress: on a terminal once a second, else a line now and then. */
static void tell_progress(struct kunwind_reading *reading)
{
	time_t now;

	if (++reading->seen % 4096 || !reading->doing)
		return;
	now = time(NULL);
	if (now - reading->told < (reading->lines ? LINE_SECONDS : 1))
		return;
	reading->told = now;
	fprintf(stderr, "%skunwind %s: %s, %" PRIu64 " events%s", reading->lines ? "" : "\r",
		kunwind_tool_name, reading->doing, reading->seen, reading->lines ? "\n" : " ");
}

/*
 * Returns what identifies the event's trace; NULL if out of memory. Sets @history,
 * if the trace has one.
 */
static const void *trace_of(struct kunwind_reading *reading, const bt_event *event,
			    struct kunwind_history **history)
{
	if (reading->histories)
		return *history = kunwind_histories_of(reading->histories, event);
	return kunwind_histories_key(reading->keys, event);
}

static int out_of_memory(void)
{
	kunwind_tool_error("out of memory");
	return KUNWIND_TRACE_FAIL;
}

/* Returns whether the trace has processes and names only by thread, for some events. */
static bool is_by_id(const bt_event *event)
{
	return kunwind_event_is_whole(event) || kunwind_event_context(event, KUNWIND_STACK_ID);
}

/* Keeps what an event says of threads. False: out of memory. */
static bool learn_threads(struct kunwind_reading *reading, const bt_event *event)
{
	struct kunwind_history *history;
	const void *trace;

	if (!is_by_id(event))
		return true;
	trace = trace_of(reading, event, &history);
	return trace && kunwind_threads_learn(reading->threads, trace, event);
}

/* Keeps the stack of a kunwind_callstack for the events after it. */
static int count(const bt_event *event, int64_t time, void *data)
{
	struct kunwind_reading *reading = data;
	struct kunwind_history *history;
	const void *trace;

	tell_progress(reading);
	if (!learn_threads(reading, event))
		return out_of_memory();
	if (kunwind_event_defines(event)) {
		trace = trace_of(reading, event, &history);
		if (!trace || !kunwind_wholes_learn(reading->wholes, trace, event) ||
		    (kunwind_event_is_whole(event) &&
		     !kunwind_wholes_note(reading->wholes, trace, event,
					  kunwind_wholes_find(reading->wholes, trace, event))))
			return out_of_memory();
	}
	return reading->fn(event, time, reading->data);
}

/* As count(), without stacks. */
static int only_count(const bt_event *event, int64_t time, void *data)
{
	struct kunwind_reading *reading = data;

	tell_progress(reading);
	return learn_threads(reading, event) ? reading->fn(event, time, reading->data) : out_of_memory();
}

/* Events to read: of the streams that may have kunwind's own events; all; all without stacks. */
enum which { OWN, ALL, BARE };

/*
 * Reads events once. @doing: what the progress says.
 */
static bool pass(struct kunwind_reading *reading, const char *doing, enum which which,
		 kunwind_trace_event_fn *fn, void *data, uint64_t *lost)
{
	bool ok;

	reading->fn = fn;
	reading->data = data;
	reading->doing = !reading->quiet && (reading->lines || isatty(STDERR_FILENO)) ? doing : NULL;
	reading->told = time(NULL);
	reading->seen = 0;
	reading->host_of = NULL;	/* each pass makes its traces anew */
	ok = which == OWN ? kunwind_trace_read_own(reading->trace, count, reading) :
	     kunwind_trace_read(reading->trace, which == BARE ? only_count : count, reading, lost);
	if (reading->doing && !reading->lines)
		fputs("\r\033[K", stderr);
	return ok;
}

static int learn(const bt_event *event, int64_t time, void *data)
{
	struct kunwind_reading *reading = data;

	return kunwind_histories_learn(reading->histories, event, time) ? KUNWIND_TRACE_GO_ON :
									  out_of_memory();
}

static int go_on(const bt_event *event, int64_t time, void *data)
{
	(void)event, (void)time, (void)data;
	return KUNWIND_TRACE_GO_ON;
}

bool kunwind_reading_open(struct kunwind_reading *reading, char *const *paths, int nr_paths,
			  bool symbols, const struct kunwind_options *options)
{
	memset(reading, 0, sizeof(*reading));
	reading->lines = options->progress && !isatty(STDERR_FILENO);
	reading->quiet = options->quiet;
	reading->no_kernel = options->no_kernel;
	reading->trace = kunwind_trace_open(paths, nr_paths);
	if (!reading->trace)
		return false;
	reading->wholes = kunwind_wholes_new();
	reading->threads = kunwind_threads_new();
	if (!symbols)
		reading->keys = kunwind_histories_new(NULL);
	if (!reading->wholes || !reading->threads || (!symbols && !reading->keys)) {
		out_of_memory();
		return false;
	}
	/* the definition of an id may come after events that have the id */
	if (!symbols)
		return !kunwind_trace_has_ids(reading->trace) ||
		       pass(reading, "reading stacks", OWN, go_on, NULL, NULL);
	reading->symbolizer = kunwind_symbolizer_new(&options->symbols);
	if (reading->symbolizer)
		reading->histories = kunwind_histories_new(reading->symbolizer);
	if (reading->histories)
		reading->kernels = kunwind_kernels_new(reading->symbolizer, paths, nr_paths,
						       !(options->symbols.flags & KUNWIND_NO_LOCAL), NULL);
	if (!reading->kernels) {
		out_of_memory();
		return false;
	}
	return pass(reading, "reading mappings", OWN, learn, reading, NULL);
}

void kunwind_reading_close(struct kunwind_reading *reading)
{
	kunwind_wholes_free(reading->wholes);
	kunwind_threads_free(reading->threads);
	kunwind_histories_free(reading->histories);
	kunwind_histories_free(reading->keys);
	kunwind_kernels_free(reading->kernels);
	kunwind_symbolizer_free(reading->symbolizer);
	kunwind_trace_close(reading->trace);
}

bool kunwind_reading_events(struct kunwind_reading *reading, kunwind_trace_event_fn *fn,
			    void *data, uint64_t *lost)
{
	return pass(reading, reading->histories ? "naming" : "reading", ALL, fn, data, lost);
}

bool kunwind_reading_bare(struct kunwind_reading *reading, kunwind_trace_event_fn *fn, void *data)
{
	return pass(reading, "measuring", BARE, fn, data, NULL);
}

/* Sets what an event that has its stack by id does not say of its thread. */
static void add_thread(struct kunwind_reading *reading, struct kunwind_head *head,
		       const bt_event *event)
{
	const struct kunwind_whole *whole = NULL;
	const struct kunwind_thread *thread;
	struct kunwind_history *history;
	const void *trace = trace_of(reading, event, &history);

	if (!head->tid && !*head->comm) {
		snprintf(head->idle, sizeof(head->idle), "swapper/%" PRId64, head->cpu);
		head->comm = head->idle;
		return;
	}
	if (!trace)
		return;
	if (head->stack)
		whole = kunwind_wholes_of_id(reading->wholes, trace, head->stack, head->tid);
	thread = kunwind_threads_find(reading->threads, trace, head->tid);
	if (head->pid < 0)
		head->pid = whole ? whole->tgid : thread ? thread->tgid : -1;
	if (!*head->comm)
		head->comm = whole && *whole->comm ? whole->comm : thread ? thread->comm : "";
}

void kunwind_reading_head(struct kunwind_reading *reading, struct kunwind_head *head,
			  const bt_event *event, int64_t time)
{
	kunwind_head_read(head, event, time);
	if (head->by_id)
		add_thread(reading, head, event);
	kunwind_syscall_name(head, event);
}

/* Returns whether /proc may be used: the event's trace is of this host. @tells: it has mappings. */
static bool same_host(struct kunwind_reading *reading, const bt_event *event, bool tells)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	char own[256];

	if (reading->host_of != trace)
		reading->same_host = !gethostname(own, sizeof(own)) &&
				     !strcmp(kunwind_trace_environment(trace, "hostname"), own);
	reading->host_of = trace;
	return reading->same_host && !(reading->told_only && tells);
}

/* Makes the first @nr frames of @whole the stack. */
static void take(struct kunwind_reading *reading, struct kunwind_event_stack *stack,
		 const struct kunwind_whole *whole, size_t nr)
{
	memcpy(reading->address, whole->address, nr * sizeof(*reading->address));
	stack->nr = nr;
	stack->trust = whole->trust;
	/*
	 * Tracers get only the frames before the first guess. The stack ends there for
	 * want of a rule; of the three reasons for that, "kunwind status" counts the walk's.
	 */
	stack->reason = nr == whole->nr || kunwind_reason_without_rule(whole->reason) ?
				whole->reason : KUNWIND_NO_RULE;
}

/*
 * Sets the end and the trust of a stack of LTTng's context, if @whole (may be
 * NULL) begins with its frames. Then both are of the same walk, or of equal
 * ones.
 */
static void compare(struct kunwind_reading *reading, struct kunwind_event_stack *stack,
		    const struct kunwind_whole *whole)
{
	size_t nr = stack->nr;

	if (!whole || !nr || nr > whole->nr ||
	    memcmp(reading->address, whole->address, nr * sizeof(*reading->address)))
		return;
	if (nr == KUNWIND_STACK_LTTNG_MAX && kunwind_whole_before_guess(whole) > nr)
		nr = kunwind_whole_before_guess(whole);
	take(reading, stack, whole, nr);
}

/* Reads the addresses of the kernel stack, which may be that of an id. Returns how many. */
static size_t kernel_addresses(struct kunwind_reading *reading, const void *trace,
			       const bt_event *event, const struct kunwind_head *head,
			       struct kunwind_event_stack *stack)
{
	const struct kunwind_whole *whole;

	if (!head->kernel_stack)
		return kunwind_stack_read(event, "callstack_kernel", reading->kernel_address);
	whole = kunwind_wholes_of_id(reading->wholes, trace, head->kernel_stack, -1);
	stack->kernel_lost = !whole;
	if (!whole)
		return 0;
	memcpy(reading->kernel_address, whole->address, whole->nr * sizeof(*whole->address));
	return whole->nr;
}

/* Reads and names the kernel stack. False: out of memory. */
static bool read_kernel(struct kunwind_reading *reading, const void *trace, const bt_event *event,
			const struct kunwind_head *head, struct kunwind_event_stack *stack)
{
	size_t i, nr, skipped;

	nr = kernel_addresses(reading, trace, event, head, stack);
	for (i = 0; !reading->kernels && i < nr; i++)
		reading->kernel_frame[i] = (struct kunwind_frame){
			.address = reading->kernel_address[i] };
	if (reading->kernels && nr &&
	    !kunwind_kernels_stack(reading->kernels, event, reading->kernel_address, nr,
				   reading->kernel_frame))
		return false;
	skipped = kunwind_kernel_tracer(reading->kernel_frame, nr);
	stack->kernel = reading->kernel_frame + skipped;
	stack->nr_kernel = nr - skipped;
	return true;
}

bool kunwind_reading_stack(struct kunwind_reading *reading, const bt_event *event,
			   const struct kunwind_head *head, struct kunwind_event_stack *stack)
{
	struct kunwind_who who = {
		.pid = (int)head->pid,
		.own_number = head->own_number,
		.comm = head->comm,
		.time = head->time,
		.called = head->called,
	};
	const bool is_whole = kunwind_event_is_whole(event);
	const struct kunwind_whole *whole = NULL;
	struct kunwind_history *history = NULL;
	const void *trace = trace_of(reading, event, &history);
	bool tells;
	size_t i;

	*stack = (struct kunwind_event_stack){ .pid = -1, .reason = -1, .frame = reading->frame };
	if (!trace || (!reading->no_kernel && !read_kernel(reading, trace, event, head, stack)))
		return false;
	if (is_whole) {
		whole = kunwind_wholes_find(reading->wholes, trace, event);
		if (whole)
			take(reading, stack, whole, whole->nr);
	} else if (head->by_id) {
		if (head->stack)
			whole = kunwind_wholes_of_id(reading->wholes, trace, head->stack, head->tid);
		stack->lost = head->stack && !whole;
		if (whole)
			take(reading, stack, whole, kunwind_whole_before_guess(whole));
	} else {
		stack->nr = kunwind_stack_read(event, "callstack_user", reading->address);
	}
	if (history) {
		tells = kunwind_histories_tell(reading->histories, event);
		who.live = stack->nr && same_host(reading, event, tells);
		stack->pid = kunwind_history_process(history, &who,
						     stack->nr ? reading->address[0] : 0);
		stack->told = tells ? stack->pid >= 0 && kunwind_history_knows(history, stack->pid) :
				      stack->nr > 0;
	}
	if (!is_whole && !head->by_id)
		compare(reading, stack,
			kunwind_wholes_latest(reading->wholes, trace,
					      head->own_number && history ? stack->pid : head->pid,
					      head->tid, head->own_number));
	stack->complete = stack->reason == KUNWIND_COMPLETE;
	if (!history) {
		for (i = 0; i < stack->nr; i++)
			reading->frame[i] = (struct kunwind_frame){ .address = reading->address[i] };
		return true;
	}
	if (!kunwind_history_stack(history, &who, reading->address, stack->nr, reading->frame))
		return false;
	if (!kunwind_reading_has_ends(reading))
		stack->complete = stack->nr && reading->frame[stack->nr - 1].entry;
	return true;
}

const char *kunwind_reading_why_no_kernel(const struct kunwind_reading *reading)
{
	return reading->kernels ? kunwind_kernels_why(reading->kernels) : NULL;
}

bool kunwind_reading_has_ends(const struct kunwind_reading *reading)
{
	return kunwind_wholes_known(reading->wholes);
}

bool kunwind_reading_tells(const struct kunwind_reading *reading, const struct kunwind_event_stack *stack)
{
	return !reading->told_only || stack->told;
}

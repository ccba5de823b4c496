// SPDX-License-Identifier: MIT
/*
 * samples.c - system calls, events, times off the CPU of a trace, with stacks
 *
 * The time of a system call is that from its entry event to its exit event in
 * the same thread, whether the thread ran or not. A time off the CPU is that
 * from the sched_switch that took the CPU from a thread to the one that gave it
 * back; it has the stack of the first. Calls that do not end in the trace have
 * no time.
 *
 * If kunwind's events recorded any mapping, only processes that these events
 * know count, because the stacks of other processes are the kernel's guess.
 * Otherwise all processes count.
 *
 * With --from or --duration, whether a sample counts depends on its end. Formats
 * that are written while the trace is read need this at its beginning. So the
 * events are read once more before, without their stacks.
 *
 * Memory: the tree of calls, some 200 bytes for each thread, and with --from or
 * --duration a bit for each event.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"
#include "selection.h"
#include "trace/reading.h"
#include "trace/syscall.h"

void samples_init(struct samples *samples)
{
	memset(samples, 0, sizeof(*samples));
	kunwind_options_init(&samples->options);
	samples->begin = samples->end = -1;
	samples->which = "";
	calls_init(&samples->calls);
	samples->hostname = samples->calls.string[0];
}

void samples_free(struct samples *samples)
{
	calls_free(&samples->calls);
	free(samples->thread);
	free(samples->by_tid);
	free(samples->by_global_tid);
	kunwind_options_exit(&samples->options);
}

/* ------------------------------------------------------------ threads */

/* Where the search for a thread begins in by_tid or by_global_tid. */
static uint32_t slot_of(const struct samples *samples, const void *trace, int64_t number)
{
	uint64_t hash = ((uint64_t)number + (uintptr_t)trace) * 0x9e3779b97f4a7c15;

	return (uint32_t)(hash >> 32) & (samples->cap_index - 1);
}

static void index_thread(struct samples *samples, uint32_t *table, int64_t number, uint32_t i)
{
	uint32_t at = slot_of(samples, samples->thread[i].trace, number);

	while (table[at])
		at = (at + 1) & (samples->cap_index - 1);
	table[at] = i + 1;
}

/* Takes a thread out of by_global_tid, which has it. */
static void unindex_thread(struct samples *samples, uint32_t i)
{
	uint32_t *table = samples->by_global_tid, other;
	uint32_t at = slot_of(samples, samples->thread[i].trace, samples->thread[i].global_tid);

	while (table[at] != i + 1)
		at = (at + 1) & (samples->cap_index - 1);
	table[at] = 0;
	/* The empty slot must not hide threads that the search finds after it. */
	while (table[at = (at + 1) & (samples->cap_index - 1)]) {
		other = table[at] - 1;
		table[at] = 0;
		index_thread(samples, table, samples->thread[other].global_tid, other);
	}
}

/* Sets a thread's number in sched_switch. */
static void set_global_tid(struct samples *samples, struct sample_thread *thread, int64_t tid)
{
	uint32_t i = (uint32_t)(thread - samples->thread);

	if (thread->global_tid == tid)
		return;
	if (thread->global_tid >= 0)
		unindex_thread(samples, i);
	thread->global_tid = tid;
	index_thread(samples, samples->by_global_tid, tid, i);
}

static void grow_threads(struct samples *samples)
{
	uint32_t i;

	if (samples->nr_threads < samples->cap_threads)
		return;
	samples->cap_threads = samples->cap_threads ? samples->cap_threads * 2 : 256;
	samples->cap_index = samples->cap_threads * 4;
	samples->thread = needed(realloc(samples->thread,
					 samples->cap_threads * sizeof(*samples->thread)));
	free(samples->by_tid);
	free(samples->by_global_tid);
	samples->by_tid = needed(calloc(samples->cap_index, sizeof(uint32_t)));
	samples->by_global_tid = needed(calloc(samples->cap_index, sizeof(uint32_t)));
	for (i = 0; i < samples->nr_threads; i++) {
		index_thread(samples, samples->by_tid, samples->thread[i].tid, i);
		if (samples->thread[i].global_tid >= 0)
			index_thread(samples, samples->by_global_tid,
				     samples->thread[i].global_tid, i);
	}
}

/* Returns NULL if the thread has had no event yet. */
static struct sample_thread *find_thread(const struct samples *samples, const void *trace,
					 const struct kunwind_head *head)
{
	struct sample_thread *thread;
	uint32_t at;

	if (!samples->cap_index)
		return NULL;
	for (at = slot_of(samples, trace, head->tid); samples->by_tid[at];
	     at = (at + 1) & (samples->cap_index - 1)) {
		thread = &samples->thread[samples->by_tid[at] - 1];
		if (thread->trace == trace && thread->tid == head->tid && thread->pid == head->pid)
			return thread;
	}
	return NULL;
}

/* Makes the thread if needed. Pointers to other threads become invalid. */
static struct sample_thread *get_thread(struct samples *samples, const void *trace,
					const struct kunwind_head *head)
{
	struct sample_thread *thread = find_thread(samples, trace, head);

	if (!thread) {
		grow_threads(samples);
		thread = &samples->thread[samples->nr_threads];
		*thread = (struct sample_thread){
			.pid = head->pid, .tid = head->tid, .trace = trace,
			.global_tid = -1, .call.begin = -1, .off.begin = -1,
		};
		index_thread(samples, samples->by_tid, head->tid, samples->nr_threads++);
	}
	thread->comm = calls_string(&samples->calls, head->comm);
	return thread;
}

/* Returns the thread off the CPU with this number in sched_switch; or NULL. */
static struct sample_thread *switched_away(struct samples *samples, const void *trace, int64_t tid)
{
	struct sample_thread *thread;
	uint32_t at;

	if (!samples->cap_index)
		return NULL;
	for (at = slot_of(samples, trace, tid); samples->by_global_tid[at];
	     at = (at + 1) & (samples->cap_index - 1)) {
		thread = &samples->thread[samples->by_global_tid[at] - 1];
		if (thread->trace == trace && thread->global_tid == tid && thread->off.begin >= 0)
			return thread;
	}
	return NULL;
}

/* ------------------------------------------------------------ stacks */

/*
 * Writes what stands for the name of code without one: "[object]", or with
 * --offsets "[object+0x1234]", with the function's start if it is known, or else
 * with the address.
 */
static void stand_in(const struct samples *samples, const struct kunwind_frame *frame,
		     const char *object, char *name, size_t size)
{
	const struct kunwind_function *function = kunwind_frame_function(frame);
	const char *base = *object ? calls_base_name(object) : "unknown";
	/* "[vdso]" already has brackets */
	const int bracket = *base == '[', len = (int)strnlen(base, 255);

	if (samples->options.offsets && frame->object)
		snprintf(name, size, "[%.*s+0x%" PRIx64 "]", len - 2 * bracket, base + bracket,
			 frame->object_address - (function ? function->offset : 0));
	else
		snprintf(name, size, bracket ? "%.*s" : "[%.*s]", len, base);
}

/*
 * Adds a frame's functions: first the function itself, then those inlined into
 * it. Returns the innermost node.
 */
static uint32_t add_functions(struct samples *samples, uint32_t node, bool kernel,
			      const struct kunwind_frame *frame)
{
	struct calls *calls = &samples->calls;
	const char *object = frame->object ? kunwind_object_path(frame->object) : "";
	struct calls_frame new = { .kind = FRAME_FUNCTION, .kernel = kernel,
				   .object = calls_string(calls, object) };
	unsigned int i = frame->nr_functions;
	bool named = false;
	char name[280];

	if (samples->places) {
		new.address = frame->object ? frame->object_address : frame->address;
		if (frame->object)
			new.build_id = calls_string(calls, kunwind_object_build_id(frame->object));
	}
	while (i-- > 0) {
		const struct kunwind_function *function = &frame->function[i];

		if (!function->name)
			continue;
		new.name = calls_string(calls, function->name);
		if (samples->places) {
			new.file = calls_string(calls, function->file ? function->file : "");
			new.line = function->line;
			new.inlined = named;
		}
		node = calls_child(calls, node, &new);
		named = true;
	}
	if (named)
		return node;
	stand_in(samples, frame, object, name, sizeof(name));
	new.name = calls_string(calls, name);
	return calls_child(calls, node, &new);
}

/* Adds a stack below its process's name. Returns the innermost node. */
static uint32_t add_stack(struct samples *samples, const struct kunwind_stack *stack,
			  const char *comm)
{
	struct calls *calls = &samples->calls;
	const struct kunwind_function *function;
	size_t i = stack->nr;
	uint32_t node;

	if (samples->measuring)
		return CALLS_ROOT;
	node = calls_node(calls, CALLS_ROOT, FRAME_PROCESS, *comm ? comm : "?", "");
	samples->frames += stack->nr;
	samples->with_stack += stack->nr > 0;
	if (stack->complete)
		samples->complete++;
	else
		node = calls_node(calls, node, FRAME_NOTE,
				  stack->nr ? "[stack ends here]" :
				  stack->nr_kernel ? "[no user stack]" : "[no stack]", "");
	while (i-- > 0) {
		function = kunwind_frame_function(&stack->frame[i]);
		samples->named += function && function->name;
		node = add_functions(samples, node, false, &stack->frame[i]);
	}
	for (i = stack->nr_kernel; i-- > 0;)
		node = add_functions(samples, node, true, &stack->kernel[i]);
	return node;
}

static void begin_sample(struct samples *samples, const struct sample *sample,
			 const bt_event *event)
{
	if (samples->fn->begin && !sample->hidden)
		samples->fn->begin(sample, event, samples->data);
}

/* Adds a sample's weights to its node and reports it. */
static void finish_sample(struct samples *samples, const struct sample *sample,
			  const bt_event *event)
{
	int64_t *self = samples->calls.node[sample->node].self;

	if (samples->measuring)
		selection_measure(samples, sample, event);
	if (samples->measuring || sample->hidden)
		return;
	if (sample->thread != SAMPLE_NO_THREAD && !samples->thread[sample->thread].sampled) {
		samples->thread[sample->thread].sampled = true;
		samples->nr_sampled++;
	}
	if (sample->kind != SAMPLE_OFF_CPU)
		self[WEIGHT_EVENTS]++;
	if (sample->kind == SAMPLE_SYSCALL && sample->duration >= 0) {
		self[WEIGHT_BLOCKED] += sample->duration;
		samples->nr_timed++;
	}
	if (sample->kind == SAMPLE_OFF_CPU && sample->duration >= 0) {
		self[WEIGHT_OFF_CPU] += sample->duration;
		samples->nr_off_cpu++;
	}
	if (samples->fn->end)
		samples->fn->end(sample, event, samples->data);
}

/* ------------------------------------------------------------ events */

/* One event. */
struct moment {
	struct samples *samples;
	const bt_event *event;
	const struct kunwind_head *head;
	int64_t time;				/* that of head, or the nearest one in the window */
	const void *trace;
	const struct kunwind_stack *stack;	/* unset for the exit of a system call */
	struct sample_thread *thread;		/* NULL: not known, or no event yet */
};

/* Makes a sample that begins now, at a new node below @above; CALLS_ROOT: a hidden one. */
static struct sample new_sample(const struct moment *now, enum sample_kind kind, const char *what,
				uint32_t above)
{
	struct samples *samples = now->samples;
	static const char *const object[] = {
		[SAMPLE_SYSCALL] = "system call", [SAMPLE_EVENT] = "event", [SAMPLE_OFF_CPU] = "off CPU",
	};

	return (struct sample){
		.kind = kind,
		.what = calls_string(&samples->calls, what),
		.comm = calls_string(&samples->calls, now->head->comm),
		.thread = now->thread ? (uint32_t)(now->thread - samples->thread) :
					SAMPLE_NO_THREAD,
		.node = above == CALLS_ROOT ? CALLS_ROOT :
			calls_node(&samples->calls, above, FRAME_WHAT, what, object[kind]),
		.hidden = above == CALLS_ROOT,
		.number = samples->number,
		.begin = now->time,
		.duration = -1,
	};
}

/* Reports a time off the CPU whose end is missing. */
static void switch_is_lost(struct samples *samples, struct sample_thread *thread,
			   const bt_event *event)
{
	if (thread->off.begin < 0)
		return;
	finish_sample(samples, &thread->off, event);
	thread->off.begin = -1;
}

/* Reports a system call whose exit is missing. */
static void call_does_not_return(struct samples *samples, struct sample_thread *thread,
				 const bt_event *event)
{
	switch_is_lost(samples, thread, event);
	if (thread->call.begin < 0)
		return;
	samples->unreturned += !thread->call.hidden;
	finish_sample(samples, &thread->call, event);
	thread->call.begin = -1;
}

static void enter_call(const struct moment *now, const char *name)
{
	struct sample call;

	if (now->thread)
		call_does_not_return(now->samples, now->thread, now->event);
	if (!kunwind_options_event(&now->samples->options, now->head->name))
		return;
	call = new_sample(now, SAMPLE_SYSCALL, name,
			  selection_has(now->samples, now->samples->number, now->head->time) ?
			  add_stack(now->samples, now->stack, now->head->comm) : CALLS_ROOT);
	begin_sample(now->samples, &call, now->event);
	if (now->thread)
		now->thread->call = call;
	else
		finish_sample(now->samples, &call, now->event);
}

static void leave_call(const struct moment *now, const char *name)
{
	struct sample_thread *thread = now->thread;
	int64_t result;

	if (!thread || thread->call.begin < 0 ||
	    strcmp(now->samples->calls.string[thread->call.what], name))
		return;		/* entered before the trace began, or not selected */
	thread->call.duration = now->time - thread->call.begin;
	/* -4095 to -1 are errors, as in the kernel */
	thread->call.failed = kunwind_field_integer(kunwind_event_field(now->event, "ret"), &result) &&
			      result < 0 && result >= -4095;
	now->samples->events += kunwind_filter_time(&now->samples->options.filter, now->head->time);
	switch_is_lost(now->samples, thread, now->event);
	finish_sample(now->samples, &thread->call, now->event);
	thread->call.begin = -1;
}

/* Returns why a thread outside system calls lost the CPU. */
static const char *cause(const bt_event *event)
{
	int64_t state;

	if (!kunwind_field_integer(kunwind_event_field(event, "prev_state"), &state))
		return "not in a system call";
	/* the low byte is 0 if the thread was preempted; else it sleeps */
	return state & 0xff ? "page fault or the like" : "preempted";
}

/* Returns whether the thread has ended: it will never have the CPU again. */
static bool is_dead(const bt_event *event)
{
	enum { EXIT_DEAD = 0x10, EXIT_ZOMBIE = 0x20 };	/* linux/sched.h */
	int64_t state;

	return kunwind_field_integer(kunwind_event_field(event, "prev_state"), &state) &&
	       state & (EXIT_DEAD | EXIT_ZOMBIE);
}

static void switch_away(const struct moment *now)
{
	struct samples *samples = now->samples;
	struct sample_thread *thread = now->thread;
	const char *what;
	uint32_t stack;
	struct sample event;
	bool is_event, is_off;
	int64_t tid;

	if (thread && thread->call.begin >= 0)
		what = samples->calls.string[thread->call.what];
	else
		what = cause(now->event);
	if (!kunwind_options_event(&samples->options, "sched_switch") &&
	    !kunwind_options_event(&samples->options, what))
		return;
	is_event = selection_has_event(samples, "sched_switch", now->head->time);
	is_off = selection_has(samples, samples->number, now->head->time);
	stack = is_event || is_off ? add_stack(samples, now->stack, now->head->comm) : CALLS_ROOT;
	event = new_sample(now, SAMPLE_EVENT, "sched_switch", stack);
	if (is_event)
		finish_sample(samples, &event, now->event);
	if (thread && is_dead(now->event)) {
		call_does_not_return(samples, thread, now->event);
		return;
	}
	if (!thread || !kunwind_field_integer(kunwind_event_field(now->event, "prev_tid"), &tid) ||
	    tid < 0)
		return;
	switch_is_lost(samples, thread, now->event);
	set_global_tid(samples, thread, tid);
	thread->off = new_sample(now, SAMPLE_OFF_CPU, what, is_off ? stack : CALLS_ROOT);
	begin_sample(samples, &thread->off, now->event);
}

static void switch_back(struct samples *samples, const bt_event *event, const void *trace,
			int64_t time)
{
	struct sample_thread *thread;
	int64_t tid;

	if (!kunwind_field_integer(kunwind_event_field(event, "next_tid"), &tid))
		return;
	thread = switched_away(samples, trace, tid);
	if (!thread)
		return;
	thread->off.duration = time - thread->off.begin;
	if (thread->call.begin >= 0)
		thread->call.off_cpu += thread->off.duration;
	finish_sample(samples, &thread->off, event);
	thread->off.begin = -1;
}

/*
 * If the event wakes a thread that is off the CPU, numbers the wakeup. Only the
 * first event counts: the waker's sched_waking, which sched_wakeup follows.
 */
static void wake(const struct moment *now, struct sample *sample)
{
	struct sample_thread *thread;
	int64_t tid;

	if (strcmp(now->head->name, "sched_waking") && strcmp(now->head->name, "sched_wakeup"))
		return;
	if (!kunwind_field_integer(kunwind_event_field(now->event, "tid"), &tid))
		return;
	thread = switched_away(now->samples, now->trace, tid);
	if (thread && !thread->off.wakeup && !thread->off.hidden)
		thread->off.wakeup = sample->wakeup = ++now->samples->nr_wakeups;
}

static int take(const bt_event *event, int64_t time, void *data)
{
	struct samples *samples = data;
	struct kunwind_head head;
	struct kunwind_stack stack;
	struct moment now = { .samples = samples, .event = event, .head = &head, .stack = &stack };
	const char *call;
	bool is_switch;

	kunwind_reading_head(&head, event, time);
	now.trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	samples->number++;
	if (samples->begin < 0) {
		kunwind_filter_begin(&samples->options.filter, time);
		samples->begin = samples->measuring ? time :
				 kunwind_filter_clamp(&samples->options.filter, time);
	}
	now.time = samples->measuring ? time : kunwind_filter_clamp(&samples->options.filter, time);
	samples->end = now.time;
	if (kunwind_event_is_own(head.name))
		return KUNWIND_TRACE_GO_ON;
	is_switch = !strcmp(head.name, "sched_switch");
	if (is_switch)
		switch_back(samples, event, now.trace, now.time);
	if ((samples->options.only_pid >= 0 && head.pid != samples->options.only_pid) ||
	    !kunwind_filter_tid(&samples->options.filter, &head))
		return KUNWIND_TRACE_GO_ON;
	call = kunwind_syscall_left(head.name);
	if (call) {
		/* the sample has the stack of the entry */
		now.thread = find_thread(samples, now.trace, &head);
		leave_call(&now, call);
		return KUNWIND_TRACE_GO_ON;
	}
	call = kunwind_syscall_entered(head.name);
	/* a thread may get another name within a call */
	if (!kunwind_filter_comm(&samples->options.filter, &head)) {
		now.thread = find_thread(samples, now.trace, &head);
		if (call && now.thread)
			call_does_not_return(samples, now.thread, event);
		return KUNWIND_TRACE_GO_ON;
	}
	if (!samples->measuring) {
		needed(kunwind_reading_stack(samples->reading, event, &head, &stack) ? samples : NULL);
		if (!samples->options.all && !kunwind_reading_tells(samples->reading, &stack))
			return KUNWIND_TRACE_GO_ON;
	}
	samples->events += kunwind_filter_time(&samples->options.filter, time);
	if (head.tid >= 0 && time >= 0)
		now.thread = get_thread(samples, now.trace, &head);
	else
		samples->no_threads = true;
	if (call) {
		enter_call(&now, call);
	} else if (is_switch) {
		switch_away(&now);
	} else if (selection_has_event(samples, head.name, time)) {
		struct sample sample = new_sample(&now, SAMPLE_EVENT, head.name,
						  add_stack(samples, &stack, head.comm));

		wake(&now, &sample);
		finish_sample(samples, &sample, event);
	}
	return KUNWIND_TRACE_GO_ON;
}

/* Reads the events once, to select samples by their end, if the options need this. */
static bool read_selection(struct samples *samples, struct selection *selection)
{
	static const struct samples_calls none;
	struct samples measured;
	uint32_t i;
	bool ok;

	if (!selection_needs_ends(&samples->options.filter))
		return true;
	samples->selection = selection;
	samples_init(&measured);
	measured.options = samples->options;
	measured.selection = selection;
	measured.measuring = true;
	measured.fn = &none;
	ok = kunwind_reading_bare(samples->reading, take, &measured);
	for (i = 0; ok && i < measured.nr_threads; i++)
		call_does_not_return(&measured, &measured.thread[i], NULL);
	measured.options.debug_dirs = NULL;	/* of samples */
	samples_free(&measured);
	return ok;
}

bool samples_read(struct samples *samples, char *const *paths, int nr_paths,
		  const struct samples_calls *fn, void *data)
{
	static struct kunwind_reading reading;	/* large */
	static const struct samples_calls none;
	struct selection selection = { 0 };
	const char *host;
	uint32_t i;
	bool ok;

	samples->reading = &reading;
	samples->fn = fn ? fn : &none;
	samples->data = data;
	ok = kunwind_reading_open(&reading, paths, nr_paths, true, &samples->options) &&
	     read_selection(samples, &selection);
	if (ok) {
		reading.told_only = !samples->options.all && kunwind_histories_tell(reading.histories);
		ok = kunwind_reading_events(&reading, take, samples, &samples->lost);
		host = kunwind_trace_hostname(reading.trace);
		samples->ends_recorded = kunwind_reading_has_ends(&reading);
		samples->why_no_kernel = kunwind_reading_why_no_kernel(&reading);
		if (host)
			samples->hostname = calls_text(&samples->calls, host);
	}
	for (i = 0; ok && i < samples->nr_threads; i++)
		call_does_not_return(samples, &samples->thread[i], NULL);
	kunwind_reading_close(&reading);
	samples->reading = NULL;
	samples->selection = NULL;
	free(selection.word);
	return ok;
}

enum weight samples_weight(const struct samples *samples, int wanted)
{
	if (wanted >= 0)
		return (enum weight)wanted;
	return samples->nr_timed ? WEIGHT_BLOCKED : samples->nr_off_cpu ? WEIGHT_OFF_CPU :
		WEIGHT_EVENTS;
}

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
 * A sample of a CPU (kunwind_sample) stands for the time before it, its period.
 *
 * If kunwind's events recorded any mapping, only processes with such a mapping
 * count, because the stacks of other processes are the kernel's guess.
 * Otherwise all processes count. Samples of CPUs always count.
 *
 * With --from or --duration, whether a sample counts depends on its end.
 * Formats that are written while the trace is read need to know at its
 * beginning. So the events are first read once without their stacks.
 *
 * Wakeups by any thread count, because the waker may be of any process.
 *
 * Memory: the tree of calls, some 350 bytes for each thread, and with --from or
 * --duration a bit for each event.
 */
#include <stdlib.h>
#include <string.h>

#include "kunwind_core.h"
#include "samples.h"
#include "scheduler.h"
#include "selection.h"
#include "threads.h"
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
	cpus_free(&samples->cpus);
	blocked_free(&samples->blocked);
	locks_free(&samples->locks);
	wrappers_free(&samples->wrappers);
	kunwind_options_exit(&samples->options);
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
	if (samples->measuring)
		return;
	if (sample->kind == SAMPLE_OFF_CPU)
		blocked_ended(samples, sample, event);
	if (sample->hidden) {
		if (samples->hidden_waits && sample->kind == SAMPLE_OFF_CPU)
			samples->fn->end(sample, event, samples->data);
		return;
	}
	samples->nr_selected++;
	if (sample->thread != SAMPLE_NO_THREAD && !samples->thread[sample->thread].sampled) {
		samples->thread[sample->thread].sampled = true;
		samples->nr_sampled++;
	}
	if (sample->kind == SAMPLE_SYSCALL || sample->kind == SAMPLE_EVENT)
		self[WEIGHT_EVENTS]++;
	if (sample->kind == SAMPLE_CPU) {
		self[WEIGHT_CPU] += sample->duration;
		samples->nr_cpu++;
	}
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
	const struct kunwind_event_stack *stack;	/* unset for the exit of a system call */
	bool unselected;			/* the options do not select its thread */
	struct sample_thread *thread;		/* NULL: not known, or no event yet */
	struct cpu *cpu;			/* of a sched_switch; NULL: not known */
};

/* Makes a sample that begins now, at a new node below @above; CALLS_ROOT: a hidden one. */
static struct sample new_sample(const struct moment *now, enum sample_kind kind, const char *what,
				uint32_t above)
{
	struct samples *samples = now->samples;
	static const char *const object[] = {
		[SAMPLE_SYSCALL] = "system call", [SAMPLE_EVENT] = "event", [SAMPLE_OFF_CPU] = "off CPU",
		[SAMPLE_CPU] = CALLS_CPU,
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
	lock_left(&samples->locks, &thread->futex);
	samples->unreturned += !thread->call.hidden;
	finish_sample(samples, &thread->call, event);
	thread->call.begin = -1;
}

/* Follows the locks. The holder's stack is needed, also if its call is not selected. */
static void enter_futex(const struct moment *now, const struct sample *call)
{
	struct samples *samples = now->samples;
	struct lock_call *futex = &now->thread->futex;
	const struct lock_event event = {
		.trace = now->trace, .pid = now->head->pid, .event = now->event, .thread = call->thread,
		.stack = call->hidden ? CALLS_ROOT : samples->calls.node[call->node].parent,
	};

	if (lock_entered(&samples->locks, futex, &event, &samples->wrappers, &samples->calls))
		lock_released(&samples->locks, futex, now->time, call->hidden ?
			      samples_waker_stack(samples, now->stack, now->head->comm) :
			      samples->calls.node[call->node].parent, call->comm, call->thread);
}

static void enter_call(const struct moment *now, const char *name)
{
	struct samples *samples = now->samples;
	const bool matches = !now->unselected && kunwind_options_event(&samples->options, now->head->name);
	bool selected;
	struct sample call;

	if (now->thread)
		call_does_not_return(samples, now->thread, now->event);
	selected = matches && selection_has(samples, samples->number, now->head->time);
	call = new_sample(now, SAMPLE_SYSCALL, name,
			  selected ? samples_stack(samples, now->stack, now->head->comm) : CALLS_ROOT);
	call.matches = matches;
	if (samples->files) {
		call.file = samples->files->file;
		call.fd = samples->files->fd;
		call.transfers = samples->files->transfers;
	}
	begin_sample(samples, &call, now->event);
	if (!now->thread) {
		finish_sample(samples, &call, now->event);
		return;
	}
	if (!samples->measuring && !strncmp(name, "futex", 5))
		enter_futex(now, &call);
	now->thread->call = call;
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
	thread->call.returned = kunwind_field_integer(kunwind_event_field(now->event, "ret"), &result);
	thread->call.result = thread->call.returned ? result : 0;
	thread->call.failed = thread->call.result < 0 && thread->call.result >= -4095;
	switch_is_lost(now->samples, thread, now->event);
	finish_sample(now->samples, &thread->call, now->event);
	lock_left(&now->samples->locks, &thread->futex);
	thread->call.begin = -1;
}

static void switch_away(const struct moment *now)
{
	struct samples *samples = now->samples;
	struct sample_thread *thread = now->thread;
	const char *what;
	uint32_t stack;
	struct sample event;
	bool selected, is_event, is_off, in_call = thread && thread->call.begin >= 0;
	int64_t tid;

	what = in_call ? samples->calls.string[thread->call.what] : scheduler_cause(now->event);
	selected = !now->unselected && (kunwind_options_event(&samples->options, "sched_switch") ||
					(in_call ? thread->call.matches :
					 kunwind_options_event(&samples->options, what)));
	is_event = selected && selection_has_event(samples, "sched_switch", now->head->time);
	is_off = selected && selection_has(samples, samples->number, now->head->time);
	stack = is_event || is_off ? samples_stack(samples, now->stack, now->head->comm) : CALLS_ROOT;
	event = new_sample(now, SAMPLE_EVENT, "sched_switch", stack);
	if (is_event)
		finish_sample(samples, &event, now->event);
	if (thread && scheduler_ended(now->event)) {
		call_does_not_return(samples, thread, now->event);
		thread->dead = true;
		return;
	}
	if (!thread || !kunwind_field_integer(kunwind_event_field(now->event, "prev_tid"), &tid) ||
	    tid <= 0)
		return;		/* 0: the idle threads, which wait for nothing */
	switch_is_lost(samples, thread, now->event);
	threads_number(samples, thread, tid);
	thread->off = new_sample(now, SAMPLE_OFF_CPU, what, is_off ? stack : CALLS_ROOT);
	thread->off.preempted = scheduler_preempted(now->event);
	thread->off.lost_at = cpus_index(&samples->cpus, now->cpu);
	/* a wakeup before this system call was for another wait */
	if (thread->off.preempted || thread->waker.time < thread->call.begin)
		thread->waker.time = -1;
	begin_sample(samples, &thread->off, now->event);
}

/* Looks for the lock that the thread, which now runs again, has waited for. */
static void wait_for_lock(struct samples *samples, struct sample_thread *thread)
{
	/* without the waker's call, the wakeup may be that of a signal */
	static const struct lock_call unknown = { .operation = LOCK_NONE };
	const struct sample_thread *other = NULL;
	const struct lock_call *call = &unknown;
	const char *name = "";

	if (thread->futex.operation != LOCK_WAIT || thread->off.preempted || thread->off.hidden ||
	    samples->measuring)
		return;
	if (thread->off.waker && thread->off.waker->thread != SAMPLE_NO_THREAD)
		other = &samples->thread[thread->off.waker->thread];
	if (other && thread->off.waker->call) {
		call = &thread->off.waker->futex;
		name = samples->calls.string[thread->off.waker->call];
	}
	/* the kernel wakes those who join a thread, after its last system call */
	lock_waited(&samples->locks, &samples->calls, &thread->futex, &thread->off,
		    strncmp(name, "exit", 4) ? call : NULL);
}

static void switch_back(const struct moment *now)
{
	struct samples *samples = now->samples;
	struct sample_thread *thread;
	int64_t tid;

	if (!kunwind_field_integer(kunwind_event_field(now->event, "next_tid"), &tid))
		return;
	thread = threads_by_number(samples, now->trace, tid);
	if (!thread || thread->off.begin < 0)
		return;
	thread->off.duration = now->time - thread->off.begin;
	thread->off.ran_at = cpus_index(&samples->cpus, now->cpu);
	if (thread->call.begin >= 0)
		thread->call.off_cpu += thread->off.duration;
	if (thread->waker.time >= 0) {
		/* woken while it was on the way to sleep */
		if (thread->waker.time < thread->off.begin)
			thread->waker.time = thread->off.begin;
		thread->off.waker = &thread->waker;
	}
	wait_for_lock(samples, thread);
	finish_sample(samples, &thread->off, now->event);
	thread->off.begin = -1;
	thread->waker.time = -1;
}

/* Returns the thread that a wakeup is for; NULL: it is none that counts. */
static struct sample_thread *woken(const struct moment *now)
{
	int64_t tid;

	return kunwind_field_integer(kunwind_event_field(now->event, "tid"), &tid) ?
		threads_by_number(now->samples, now->trace, tid) : NULL;
}

/* Returns whether the thread is off the CPU and was woken. */
static bool is_woken(const struct sample_thread *thread)
{
	return thread->off.begin >= 0 && (thread->off.wakeup || thread->waker.time >= thread->off.begin);
}

static uint64_t number_wakeup(struct samples *samples, struct sample_thread *thread)
{
	if (thread->off.begin < 0 || thread->off.hidden)
		return 0;
	return thread->off.wakeup = ++samples->nr_wakeups;
}

/* Returns whether the stack of the thread's waker is needed, even if it is not selected. */
static bool needs_waker(const struct samples *samples, const struct sample_thread *thread)
{
	return !samples->measuring && (samples->wakers || thread->futex.operation == LOCK_WAIT);
}

/*
 * Notes who wakes a thread, and returns the wakeup's number: 0, if the thread is not
 * off the CPU, or was woken before. The waker's sched_waking comes first; the
 * sched_wakeup after it may occur in any thread. @stack: innermost node of the
 * waker's stack.
 *
 * A waker on another processor may come between the decision to sleep and the
 * sched_switch, so wakeups of threads on the CPU are kept, too. Such a wakeup counts
 * if no other follows, and if it is in the system call that sleeps.
 */
static uint64_t wake(const struct moment *now, struct sample_thread *thread, uint32_t stack)
{
	struct samples *samples = now->samples;
	const struct cpu *cpu = cpus_of(&samples->cpus, now->trace, now->head->cpu);
	const struct sample_thread *waker = now->thread;
	struct sample_waker by = {
		.time = now->time, .pid = now->head->pid, .tid = now->head->tid,
		.comm = calls_string(&samples->calls, now->head->comm),
		.thread = waker ? (uint32_t)(waker - samples->thread) : SAMPLE_NO_THREAD, .node = stack,
	};

	if (is_woken(thread))
		return 0;
	if (strcmp(now->head->name, "sched_waking"))
		return number_wakeup(samples, thread);
	if (waker && waker->call.begin >= 0) {
		by.call = waker->call.what;
		by.futex = waker->futex;
		if (!waker->call.hidden)
			by.node = samples->calls.node[waker->call.node].parent;
	}
	if (cpu)
		by.interrupt = cpu_in_interrupt(cpu, &samples->calls);
	if (!by.interrupt && !by.tid)	/* the idle thread wakes nobody */
		by.interrupt = calls_string(&samples->calls, "interrupt");
	if (thread->off.begin < 0 || !thread->off.preempted)
		thread->waker = by;
	/* the thread that an interrupt stopped is not the waker */
	return by.interrupt ? 0 : number_wakeup(samples, thread);
}

/* Takes a sched_switch. Returns how long the thread that loses the CPU has had it. */
static int64_t switch_cpu(struct moment *now)
{
	struct samples *samples = now->samples;
	int64_t since;

	now->cpu = cpus_of(&samples->cpus, now->trace, now->head->cpu);
	switch_back(now);
	if (!now->cpu)
		return 0;
	since = now->cpu->since >= 0 ? now->cpu->since : samples->begin;
	cpus_switched(&samples->cpus, now->cpu, &samples->calls, now->event, now->time, samples->begin);
	return now->time - since;
}

/* Adds the time of the threads that have the CPU at the end of the trace. */
static void count_running(struct samples *samples)
{
	struct sample_thread *thread;
	const struct cpu *cpu;
	uint32_t i;

	for (i = 0; i < samples->cpus.nr; i++) {
		cpu = &samples->cpus.cpu[i];
		thread = cpu->since < 0 ? NULL : threads_by_number(samples, cpu->trace, cpu->tid);
		if (thread && thread->off.begin < 0)
			thread->on_cpu += samples->end - cpu->since;
	}
}

/* Returns whether the event's process counts. Reads its stack. */
static bool counts_at_all(struct samples *samples, const bt_event *event,
			  const struct kunwind_head *head, struct kunwind_event_stack *stack)
{
	needed(kunwind_reading_stack(samples->reading, event, head, stack) ? samples : NULL);
	return samples->options.all || kunwind_event_is_sample(head->name) ||
	       kunwind_reading_tells(samples->reading, stack);
}

/* A sample of a CPU. It counts if its event does. */
static void take_cpu(struct moment *now, struct kunwind_event_stack *stack)
{
	struct samples *samples = now->samples;
	int64_t period = 0, reason = 0, clock = 0;
	struct sample sample;

	kunwind_field_integer(kunwind_event_field(now->event, "period"), &period);
	kunwind_field_integer(kunwind_event_field(now->event, "reason"), &reason);
	kunwind_field_integer(kunwind_event_field(now->event, "clock"), &clock);
	if (now->unselected || period < 0 ||
	    !selection_has_event(samples, now->head->name, now->head->time))
		return;
	samples->cycles |= clock == 1;			/* kmod/trace/sample.h */
	stack->complete |= reason == KUNWIND_KTHREAD;	/* no user part is missing */
	sample = new_sample(now, SAMPLE_CPU, "on CPU", samples_stack(samples, stack, now->head->comm));
	sample.begin -= period;
	sample.duration = period;
	finish_sample(samples, &sample, now->event);
}

/*
 * A thread was blocked when the recording began. Its time off the CPU begins now, if it
 * has had no event yet: otherwise its own events say what it does.
 */
static void take_blocked(struct moment *now, struct kunwind_event_stack *stack)
{
	struct samples *samples = now->samples;
	const char *what;
	char text[64];
	bool selected;

	if (now->head->tid < 0 || now->head->time < 0 || threads_find(samples, now->trace, now->head))
		return;
	what = blocked_cause(now->event, text, sizeof(text));
	selected = (kunwind_options_event(&samples->options, "sched_switch") ||
		    kunwind_options_event(&samples->options, what)) &&
		   selection_has(samples, samples->number, now->head->time);
	now->thread = threads_get(samples, now->trace, now->head);
	now->thread->selected = true;
	now->thread->off = new_sample(now, SAMPLE_OFF_CPU, what, selected ?
				      samples_stack(samples, stack, now->head->comm) : CALLS_ROOT);
	now->thread->off.lost_at = CPU_NONE;
	now->thread->off.before = true;
	begin_sample(samples, &now->thread->off, now->event);
	if (!samples->measuring)
		blocked_add(samples, now->head, now->event, &now->thread->off);
}

/* An event of the thread itself: it runs, even if no sched_switch says so. */
static void ends_blocked(const struct moment *now)
{
	struct sample_thread *thread = now->thread;

	if (!thread || thread->off.begin < 0 || !thread->off.before)
		return;
	thread->off.duration = now->time - thread->off.begin;
	thread->off.ran_at = CPU_NONE;
	finish_sample(now->samples, &thread->off, now->event);
	thread->off.begin = -1;
}

/* Counts an event of a process that counts. */
static void count_event(struct samples *samples, const struct kunwind_head *head)
{
	struct kunwind_options *options = &samples->options;

	samples->events += kunwind_filter_time(&options->filter, head->time) &&
			   kunwind_filter_comm(&options->filter, head) &&
			   kunwind_options_event(options, head->name);
}

static int take(const bt_event *event, int64_t time, void *data)
{
	struct samples *samples = data;
	struct kunwind_head head;
	struct kunwind_event_stack stack;
	struct moment now = { .samples = samples, .event = event, .head = &head, .stack = &stack };
	struct kunwind_options *options = &samples->options;
	struct sample_thread *wakes = NULL;
	int64_t ran = 0;
	const char *call;
	bool is_switch, is_cpu, is_blocked, is_event, counts, told = true;

	kunwind_reading_head(samples->reading, &head, event, time);
	now.trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	samples->number++;
	if (samples->begin < 0) {
		if (!kunwind_filter_begin(&samples->options.filter, time))
			return KUNWIND_TRACE_FAIL;
		samples->begin = samples->measuring ? time :
				 kunwind_filter_clamp(&samples->options.filter, time);
	}
	now.time = samples->measuring ? time : kunwind_filter_clamp(&samples->options.filter, time);
	samples->end = now.time;
	if (samples->files && !samples->measuring)
		files_event(samples->files, now.trace, event, &head);
	is_cpu = kunwind_event_is_sample(head.name);
	is_blocked = kunwind_event_is_blocked(head.name);
	if (kunwind_event_is_own(head.name) && !is_cpu && !is_blocked)
		return KUNWIND_TRACE_GO_ON;
	/* also of interrupts with contexts, which are events of their own as well */
	cpus_interrupt(&samples->cpus, &samples->calls, now.trace, &head, event);
	if (kunwind_event_is_background(event))
		return KUNWIND_TRACE_GO_ON;
	is_switch = !strcmp(head.name, "sched_switch");
	if (is_switch)
		ran = switch_cpu(&now);
	samples->nr_wakings += !strcmp(head.name, "sched_waking");
	if (scheduler_wakes(head.name))
		wakes = woken(&now);
	counts = kunwind_numbers_select(&options->pids, head.pid) &&
		 kunwind_filter_tid(&options->filter, &head);
	call = kunwind_syscall_left(head.name);
	if (call) {
		/* the sample has the stack of the entry */
		now.thread = threads_find(samples, now.trace, &head);
		ends_blocked(&now);
		now.unselected = !counts;
		if (counts && !samples->measuring &&
		    (now.thread || counts_at_all(samples, event, &head, &stack))) {
			count_event(samples, &head);
			samples->in_call += !now.thread && kunwind_filter_comm(&options->filter, &head);
		}
		leave_call(&now, call);
		return KUNWIND_TRACE_GO_ON;
	}
	call = kunwind_syscall_entered(head.name);
	/* a thread may get another name within a call */
	if (!kunwind_filter_comm(&options->filter, &head)) {
		now.thread = threads_find(samples, now.trace, &head);
		if (call && now.thread)
			call_does_not_return(samples, now.thread, event);
		counts = false;
	}
	if (!samples->measuring)
		told = counts_at_all(samples, event, &head, &stack);
	counts &= told;
	if (!told) {
		/* the waker of a thread that counts */
		if (wakes) {
			now.thread = threads_find(samples, now.trace, &head);
			wake(&now, wakes, needs_waker(samples, wakes) && stack.told ?
			     samples_waker_stack(samples, &stack, head.comm) : CALLS_ROOT);
		}
		return KUNWIND_TRACE_GO_ON;
	}
	now.unselected = !counts;
	if (is_blocked) {
		if (counts)
			take_blocked(&now, &stack);
		return KUNWIND_TRACE_GO_ON;
	}
	if (counts)
		count_event(samples, &head);
	if (head.tid >= 0 && time >= 0)
		now.thread = threads_get(samples, now.trace, &head);
	else
		samples->no_threads |= counts;
	if (wakes)
		wakes = woken(&now);	/* threads_get() may have moved the threads */
	ends_blocked(&now);
	if (now.thread)
		now.thread->selected |= counts;
	if (is_switch && now.thread && head.tid)
		now.thread->on_cpu += ran;
	is_event = counts && selection_has_event(samples, head.name, time);
	if (is_cpu) {
		take_cpu(&now, &stack);
	} else if (call) {
		enter_call(&now, call);
	} else if (is_switch) {
		switch_away(&now);
	} else if (wakes || is_event) {
		uint32_t node = is_event ? samples_stack(samples, &stack, head.comm) :
				wakes && needs_waker(samples, wakes) ?
				samples_waker_stack(samples, &stack, head.comm) : CALLS_ROOT;
		struct sample sample = new_sample(&now, SAMPLE_EVENT, head.name,
						  is_event ? node : CALLS_ROOT);

		if (wakes)
			sample.wakeup = wake(&now, wakes, node);
		if (is_event)
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
	measured.reading = samples->reading;
	measured.fn = &none;
	ok = kunwind_reading_bare(samples->reading, take, &measured);
	for (i = 0; ok && i < measured.nr_threads; i++)
		call_does_not_return(&measured, &measured.thread[i], NULL);
	kunwind_options_init(&measured.options);	/* samples owns the lists */
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
	     read_selection(samples, &selection) &&
	     (!samples->copy || kunwind_trace_copy_to(reading.trace, samples->copy));
	if (ok) {
		reading.told_only = !samples->options.all && kunwind_histories_tell(reading.histories, NULL);
		ok = kunwind_reading_events(&reading, take, samples, &samples->lost);
		host = kunwind_trace_hostname(reading.trace);
		samples->ends_recorded = kunwind_reading_has_ends(&reading);
		samples->losses = *kunwind_trace_losses(reading.trace);
		samples->why_no_kernel = kunwind_reading_why_no_kernel(&reading);
		if (host)
			samples->hostname = calls_text(&samples->calls, host);
	}
	count_running(samples);
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
		samples->nr_cpu ? WEIGHT_CPU : WEIGHT_EVENTS;
}

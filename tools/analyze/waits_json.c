// SPDX-License-Identifier: MIT
/*
 * waits_json.c - waits, locks and chains as JSON; kunwind-json(5) describes it
 */
#include <inttypes.h>
#include <stdlib.h>

#include "activity.h"
#include "analyze.h"
#include "lock_sums.h"
#include "tree_text.h"
#include "waits.h"

static void set(json_t *object, const char *key, int64_t value)
{
	analyze_set(object, key, json_integer(value));
}

/* Sets a text; null for the empty one. */
static void set_text(json_t *object, const char *key, const char *text)
{
	analyze_set(object, key, *text ? json_string(text) : json_null());
}

json_t *waits_stack_json(const struct calls *calls, uint32_t node)
{
	json_t *array = needed(json_array());

	for (; node != CALLS_ROOT && calls_frame(calls, node)->kind == FRAME_FUNCTION;
	     node = calls->node[node].parent) {
		json_t *frame = needed(json_object());

		analyze_set(frame, "name", json_string(calls_name(calls, node)));
		analyze_set(frame, "object", json_string(calls_object(calls, node)));
		analyze_set(frame, "kernel", json_boolean(calls_frame(calls, node)->kernel));
		set_text(frame, "file", calls->string[calls_frame(calls, node)->file]);
		analyze_set(frame, "line", calls_frame(calls, node)->line ?
			    json_integer(calls_frame(calls, node)->line) : json_null());
		analyze_append(array, frame);
	}
	return array;
}

static json_t *trace_json(const struct waits *waits)
{
	const struct samples *samples = &waits->samples;
	json_t *trace = needed(json_object());

	analyze_set(trace, "hostname", json_string(samples->hostname));
	set(trace, "begin_ns", samples->begin);
	set(trace, "end_ns", samples->end);
	set(trace, "events", (int64_t)samples->events);
	set(trace, "lost", (int64_t)samples->lost);
	set(trace, "threads", waits_threads(waits));
	analyze_set(trace, "wakeups_recorded", json_boolean(samples->nr_wakings));
	analyze_set(trace, "interrupts_recorded", json_boolean(samples->cpus.interrupts));
	set(trace, "waits", waits->nr - waits->nr_hidden - (int64_t)waits->endless);
	set(trace, "ended_by_thread", (int64_t)waits->by_thread);
	set(trace, "ended_by_interrupt", (int64_t)waits->by_interrupt);
	set(trace, "waker_not_recorded", (int64_t)waits->unrecorded);
	set(trace, "preempted", (int64_t)waits->preempted);
	set(trace, "end_lost", (int64_t)waits->lost);
	set(trace, "in_call_at_begin", (int64_t)samples->in_call);
	set(trace, "waiting_at_end", (int64_t)waits->endless);
	return trace;
}

static json_t *threads_json(const struct waits *waits)
{
	const struct samples *samples = &waits->samples;
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = 0; i < samples->nr_threads; i++) {
		json_t *object;

		if (!samples->thread[i].selected)
			continue;
		object = needed(json_object());

		analyze_set(object, "name", analyze_text(samples, samples->thread[i].comm));
		set(object, "pid", samples->thread[i].pid);
		set(object, "tid", samples->thread[i].tid);
		set(object, "on_cpu_ns", samples->thread[i].on_cpu);
		set(object, "blocked_ns", waits->thread[i].blocked);
		set(object, "runnable_ns", waits->thread[i].runnable);
		set(object, "waits", (int64_t)waits->thread[i].waits);
		analyze_append(array, object);
	}
	return array;
}

static json_t *wakers_json(const struct waits *waits)
{
	const struct calls *calls = &waits->samples.calls;
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = 0; i < waits->nr_lines; i++) {
		const struct wait_line *line = &waits->line[i];
		json_t *object = needed(json_object());

		analyze_set(object, "waiter", json_string(calls->string[line->waiter_comm]));
		analyze_set(object, "pid", line->pid < 0 ? json_null() : json_integer(line->pid));
		analyze_set(object, "cause", json_string(calls->string[line->cause]));
		analyze_set(object, "ended_by", json_string(line->preempted ? "preemption" :
							    !line->recorded ? "unknown" :
							    line->interrupt ? "interrupt" : "thread"));
		set_text(object, "waker", calls->string[line->interrupt ? line->interrupt : line->comm]);
		set_text(object, "waker_call", calls->string[line->call]);
		set(object, "count", (int64_t)line->times);
		set(object, "blocked_ns", line->blocked);
		set(object, "longest_ns", line->longest);
		set(object, "latency_ns", line->latency);
		analyze_set(object, "stack", waits_stack_json(calls, line->waiter));
		analyze_set(object, "waker_stack", waits_stack_json(calls, line->waker));
		analyze_append(array, object);
	}
	return array;
}

/* Returns what the holder of a pair did. */
static json_t *meanwhile_json(const struct waits *waits, uint32_t pair)
{
	const struct calls *calls = &waits->samples.calls;
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = activity_of_pair(waits, pair); i < waits->meanwhile.nr; i++) {
		const struct wait_pair *part = &waits->meanwhile.pair[i];
		json_t *object;

		if (part->line != pair)
			break;
		object = needed(json_object());
		analyze_set(object, "what", json_string(calls->string[part->what]));
		set(object, "ns", part->time);
		analyze_set(object, "stack", waits_stack_json(calls, part->waiter));
		analyze_append(array, object);
	}
	return array;
}

static json_t *pair_json(struct waits *waits, const struct lock_pair *pair)
{
	const struct calls *calls = &waits->samples.calls;
	struct wrappers_place place = wrappers_place(&waits->samples.wrappers, calls, pair->waiter);
	json_t *object = needed(json_object());

	set(object, "ns", pair->time);
	set(object, "count", (int64_t)pair->times);
	set_text(object, "function", place.function == CALLS_ROOT ? "" : calls_name(calls, place.function));
	set_text(object, "caller", place.caller == CALLS_ROOT ? "" : calls_name(calls, place.caller));
	set_text(object, "holder", calls->string[pair->holder_comm]);
	analyze_set(object, "stack", waits_stack_json(calls, pair->waiter));
	analyze_set(object, "holder_stack", waits_stack_json(calls, pair->holder));
	analyze_set(object, "meanwhile", meanwhile_json(waits, (uint32_t)(pair - waits->samples.locks.pair)));
	return object;
}

static json_t *locks_json(struct waits *waits)
{
	json_t *array = needed(json_array()), *object, *pairs;
	uint32_t nr, i, k;
	struct lock_sum *sums = lock_sums(&waits->samples.locks, &nr);
	char address[32];

	for (i = 0; i < nr; i++) {
		const struct lock *lock = &sums[i].lock;

		object = needed(json_object());
		snprintf(address, sizeof(address), "0x%" PRIx64, lock->address);
		analyze_set(object, "address", json_string(address));
		set(object, "pid", lock->pid);
		analyze_set(object, "kind", json_string(lock->kind.lock ? "lock" : "futex"));
		set(object, "waits", (int64_t)lock->waits);
		set(object, "blocked_ns", lock->time);
		set(object, "longest_ns", lock->longest);
		set(object, "latency_ns", lock->latency);
		set(object, "holder_known_ns", sums[i].held);
		set(object, "other_waits", (int64_t)lock->others);
		set(object, "other_ns", lock->other_time);
		set(object, "releases", (int64_t)lock->releases);
		pairs = needed(json_array());
		for (k = 0; k < sums[i].nr_pairs; k++)
			analyze_append(pairs, pair_json(waits, sums[i].pair[k]));
		analyze_set(object, "pairs", pairs);
		analyze_append(array, object);
	}
	lock_sums_free(sums, nr);
	return array;
}

static json_t *endless_json(const struct waits *waits)
{
	const struct samples *samples = &waits->samples;
	json_t *array = needed(json_array());
	uint32_t i;

	for (i = 0; i < waits->nr; i++) {
		const struct wait *wait = &waits->wait[i];
		json_t *object;

		if (wait->hidden || wait->end != INT64_MAX)
			continue;
		object = needed(json_object());
		analyze_set(object, "name", analyze_text(samples, wait->comm));
		set(object, "tid", samples->thread[wait->thread].tid);
		analyze_set(object, "cause", analyze_text(samples, wait->cause));
		set(object, "ns", samples->end - wait->begin);
		analyze_set(object, "stack", waits_stack_json(&samples->calls, wait->node));
		analyze_append(array, object);
	}
	return array;
}

json_t *waits_json(struct waits *waits)
{
	json_t *object = needed(json_object());

	analyze_set(object, "trace", trace_json(waits));
	analyze_set(object, "threads", threads_json(waits));
	analyze_set(object, "wakers", wakers_json(waits));
	analyze_set(object, "locks", locks_json(waits));
	analyze_set(object, "chains", tree_json(&waits->chains, WEIGHT_OFF_CPU, "ns"));
	analyze_set(object, "waiting_at_end", endless_json(waits));
	analyze_set(object, "blocked_at_begin", blocked_json(&waits->samples));
	return object;
}

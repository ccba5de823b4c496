// SPDX-License-Identifier: MIT
/*
 * export_perfetto.c - the trace format of Perfetto (protobuf)
 *
 * Each thread has a track. A system call is a slice from its entry to its exit;
 * a time off the CPU is a slice, nested in the system call if there is one.
 * Other events, except sched_switch, are instants; so are system calls of an
 * unknown thread, on a track of their own. Each has its call stack and the
 * fields of its event as arguments. A flow leads from an event that wakes a
 * thread (sched_waking, sched_wakeup) to an instant "woken" at the end of the
 * slice in which that thread waits. (Perfetto draws flows in the order of the
 * begins of slices, so it would draw a flow to that slice in reverse.)
 *
 * All packets are one sequence: each names what it refers to by number, and
 * what is new is defined in front (perfetto_interned.c). Times are nanoseconds
 * since the previous packet: clock 64, whose start is a time of CLOCK_REALTIME.
 *
 * The output is written while the trace is read; memory does not grow with the
 * number of events. Perfetto shows stacks of track events since version 53
 * (November 2025).
 */
#include <stdlib.h>
#include <string.h>

#include "analyze.h"
#include "perfetto.h"

enum { SEQUENCE = 1, CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6, CLOCK_DELTA_ID = 64 };
/* uuids of tracks: 1, and two for each thread */
enum { TRACK_GLOBAL = 1 };

struct perfetto_state {
	struct samples *samples;
	FILE *file;
	struct protobuf out;
	struct perfetto_interned interned;
	int64_t now;			/* time of the last packet; -1: none yet */
	uint32_t *comm, nr_threads;	/* of each thread, as its track has it */
	bool global;			/* the track TRACK_GLOBAL exists */
	uint32_t category[SAMPLE_CPU + 1], off_cpu, woken, in, failed;	/* strings */
};

static void *begin(struct samples *samples, FILE *file)
{
	struct perfetto_state *state = needed(calloc(1, sizeof(*state)));
	struct calls *calls = &samples->calls;

	samples->places = true;
	state->samples = samples;
	state->file = file;
	state->interned.calls = calls;
	state->now = -1;
	state->category[SAMPLE_SYSCALL] = calls_string(calls, "system call");
	state->category[SAMPLE_EVENT] = calls_string(calls, "event");
	state->category[SAMPLE_CPU] = calls_string(calls, "CPU");
	state->category[SAMPLE_OFF_CPU] = state->off_cpu = calls_string(calls, "off CPU");
	state->woken = calls_string(calls, "woken");
	state->in = calls_string(calls, "in");
	state->failed = calls_string(calls, "failed");
	return state;
}

/* ------------------------------------------------------------ packets */

static size_t begin_packet(struct perfetto_state *state)
{
	return protobuf_begin(&state->out, TRACE_PACKET);
}

/* Ends a packet and writes it. */
static void end_packet(struct perfetto_state *state, size_t at)
{
	protobuf_uint(&state->out, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_end(&state->out, at);
	fwrite(state->out.data, 1, state->out.nr, state->file);
	state->out.nr = 0;
}

static void put_clock(struct protobuf *out, uint64_t clock, int64_t time)
{
	size_t at = protobuf_begin(out, SNAPSHOT_CLOCKS);

	protobuf_uint(out, CLOCK_ID, clock);
	protobuf_uint(out, CLOCK_TIMESTAMP, (uint64_t)time);
	if (clock == CLOCK_DELTA_ID)
		protobuf_uint(out, CLOCK_IS_INCREMENTAL, 1);
	protobuf_end(out, at);
}

/*
 * Writes the packet that starts the sequence and its clock. Perfetto reports an
 * error if BOOTTIME is missing. The trace does not have it, and no packet uses
 * it, so it gets the same time as CLOCK_REALTIME.
 */
static void put_start(struct perfetto_state *state, int64_t time)
{
	struct protobuf *out = &state->out;
	size_t at = begin_packet(state), inner;

	inner = protobuf_begin(out, PACKET_CLOCK_SNAPSHOT);
	put_clock(out, CLOCK_REALTIME_ID, time);
	put_clock(out, CLOCK_BOOTTIME_ID, time);
	put_clock(out, CLOCK_DELTA_ID, 0);
	protobuf_uint(out, SNAPSHOT_PRIMARY_TRACE_CLOCK, CLOCK_REALTIME_ID);
	protobuf_end(out, inner);
	inner = protobuf_begin(out, PACKET_DEFAULTS);
	protobuf_uint(out, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_DELTA_ID);
	protobuf_end(out, inner);
	protobuf_uint(out, PACKET_SEQUENCE_FLAGS, SEQ_INCREMENTAL_STATE_CLEARED);
	protobuf_uint(out, PACKET_FIRST_ON_SEQUENCE, 1);
	end_packet(state, at);
	state->now = time;
}

/* ------------------------------------------------------------ tracks */

static uint64_t thread_track(uint32_t thread)
{
	return TRACK_GLOBAL + 1 + (uint64_t)thread * 2;
}

static void put_process(struct perfetto_state *state, uint32_t number)
{
	const struct sample_thread *thread = &state->samples->thread[number];
	size_t at = begin_packet(state), track, inner;

	track = protobuf_begin(&state->out, PACKET_TRACK_DESCRIPTOR);
	protobuf_uint(&state->out, TRACK_UUID, thread_track(number) + 1);
	inner = protobuf_begin(&state->out, TRACK_PROCESS);
	protobuf_uint(&state->out, PROCESS_PID, (uint64_t)thread->pid);
	protobuf_text(&state->out, PROCESS_NAME, state->samples->calls.string[thread->comm]);
	protobuf_end(&state->out, inner);
	protobuf_end(&state->out, track);
	end_packet(state, at);
}

/* A trace without contexts pid and vpid has no process ids. */
static void put_thread(struct perfetto_state *state, uint32_t number)
{
	const struct sample_thread *thread = &state->samples->thread[number];
	const char *name = state->samples->calls.string[thread->comm];
	size_t at = begin_packet(state), track, inner;
	char text[300];

	track = protobuf_begin(&state->out, PACKET_TRACK_DESCRIPTOR);
	protobuf_uint(&state->out, TRACK_UUID, thread_track(number));
	if (thread->pid < 0) {
		snprintf(text, sizeof(text), "%.250s %lld", name, (long long)thread->tid);
		protobuf_text(&state->out, TRACK_NAME, text);
	} else {
		inner = protobuf_begin(&state->out, TRACK_THREAD);
		protobuf_uint(&state->out, THREAD_PID, (uint64_t)thread->pid);
		protobuf_uint(&state->out, THREAD_TID, (uint64_t)thread->tid);
		protobuf_text(&state->out, THREAD_NAME, name);
		protobuf_end(&state->out, inner);
	}
	protobuf_end(&state->out, track);
	end_packet(state, at);
}

static void put_global(struct perfetto_state *state)
{
	size_t at = begin_packet(state), track;

	track = protobuf_begin(&state->out, PACKET_TRACK_DESCRIPTOR);
	protobuf_uint(&state->out, TRACK_UUID, TRACK_GLOBAL);
	protobuf_text(&state->out, TRACK_NAME, "events of unknown threads");
	protobuf_end(&state->out, track);
	end_packet(state, at);
}

/* Returns the uuid of a thread's track. Writes it if it is new or has another name. */
static uint64_t track_of(struct perfetto_state *state, uint32_t thread)
{
	const struct samples *samples = state->samples;
	uint32_t old = state->nr_threads;

	if (thread == SAMPLE_NO_THREAD) {
		if (!state->global)
			put_global(state);
		state->global = true;
		return TRACK_GLOBAL;
	}
	if (thread >= old) {
		state->nr_threads = thread * 2 + 64;
		state->comm = needed(realloc(state->comm, state->nr_threads * sizeof(uint32_t)));
		memset(state->comm + old, 0xff, (state->nr_threads - old) * sizeof(uint32_t));
	}
	if (state->comm[thread] == samples->thread[thread].comm)
		return thread_track(thread);
	state->comm[thread] = samples->thread[thread].comm;
	if (samples->thread[thread].pid >= 0 &&
	    samples->thread[thread].pid == samples->thread[thread].tid)
		put_process(state, thread);
	put_thread(state, thread);
	return thread_track(thread);
}

/* ------------------------------------------------------------ events */

static size_t put_annotation(struct perfetto_state *state, uint32_t name)
{
	size_t at = protobuf_begin(&state->out, EVENT_DEBUG_ANNOTATIONS);

	protobuf_uint(&state->out, ANNOTATION_NAME_IID,
		      perfetto_string(&state->interned, INTERNED_ANNOTATION_NAME, name));
	return at;
}

/* Why the thread of @sample is off the CPU. */
static void put_cause(struct perfetto_state *state, const struct sample *sample)
{
	size_t at = put_annotation(state, state->in);

	protobuf_uint(&state->out, ANNOTATION_STRING_IID,
		      perfetto_string(&state->interned, INTERNED_ANNOTATION_STRING, sample->what));
	protobuf_end(&state->out, at);
}

static void put_name(struct perfetto_state *state, const struct sample *sample, uint32_t name)
{
	protobuf_uint(&state->out, EVENT_NAME_IID,
		      perfetto_string(&state->interned, INTERNED_EVENT_NAME, name));
	protobuf_uint(&state->out, EVENT_CATEGORY_IIDS,
		      perfetto_string(&state->interned, INTERNED_CATEGORY, state->category[sample->kind]));
}

/* Writes name, category and stack of a slice or an instant. */
static void put_what(struct perfetto_state *state, const struct sample *sample)
{
	uint64_t stack = perfetto_callstack(&state->interned,
					    state->samples->calls.node[sample->node].parent);

	put_name(state, sample, sample->kind == SAMPLE_OFF_CPU ? state->off_cpu : sample->what);
	if (stack)
		protobuf_uint(&state->out, EVENT_CALLSTACK_IID, stack);
	if (sample->kind == SAMPLE_OFF_CPU)
		put_cause(state, sample);
}

struct track_place {
	size_t packet, event;
};

/* Begins a packet with an event at the current time of the trace. */
static struct track_place begin_event(struct perfetto_state *state, uint32_t thread, enum event_type type)
{
	struct protobuf *out = &state->out;
	int64_t now = state->samples->end;
	struct track_place at;
	uint64_t track;

	if (state->now < 0)
		put_start(state, now);
	track = track_of(state, thread);
	at.packet = begin_packet(state);
	protobuf_uint(out, PACKET_TIMESTAMP, (uint64_t)(now - state->now));
	state->now = now;
	protobuf_uint(out, PACKET_SEQUENCE_FLAGS, SEQ_NEEDS_INCREMENTAL_STATE);
	at.event = protobuf_begin(out, PACKET_TRACK_EVENT);
	protobuf_uint(out, EVENT_TYPE, type);
	protobuf_uint(out, EVENT_TRACK_UUID, track);
	return at;
}

static void end_event(struct perfetto_state *state, struct track_place at)
{
	struct protobuf *out = &state->out, *interned = &state->interned.out;

	protobuf_end(out, at.event);
	if (interned->nr)
		protobuf_bytes(out, PACKET_INTERNED_DATA, interned->data, interned->nr);
	interned->nr = 0;
	end_packet(state, at.packet);
}

/* @event: NULL: no arguments */
static void put_event(struct perfetto_state *state, const struct sample *sample, enum event_type type,
		      const bt_event *event)
{
	struct track_place at = begin_event(state, sample->thread, type);
	struct protobuf *out = &state->out;

	if (type != TYPE_SLICE_END)
		put_what(state, sample);
	if (sample->wakeup && sample->kind != SAMPLE_OFF_CPU && type != TYPE_SLICE_BEGIN)
		protobuf_fixed64(out, EVENT_FLOW_IDS, sample->wakeup);
	if (event)
		perfetto_arguments(&state->interned, out, event);
	if (type == TYPE_SLICE_END && sample->failed) {
		size_t failed = put_annotation(state, state->failed);

		protobuf_uint(out, ANNOTATION_BOOL, 1);
		protobuf_end(out, failed);
	}
	end_event(state, at);
}

/* A thread was woken, and is on a CPU again. */
static void put_woken(struct perfetto_state *state, const struct sample *sample)
{
	struct track_place at = begin_event(state, sample->thread, TYPE_INSTANT);

	put_name(state, sample, state->woken);
	put_cause(state, sample);
	protobuf_fixed64(&state->out, EVENT_TERMINATING_FLOW_IDS, sample->wakeup);
	end_event(state, at);
}

static void sample_begins(const struct sample *sample, const bt_event *event, void *data)
{
	if (sample_is_slice(sample))
		put_event(data, sample, TYPE_SLICE_BEGIN, event);
}

static void sample_ends(const struct sample *sample, const bt_event *event, void *data)
{
	struct perfetto_state *state = data;
	bool own = sample->kind == SAMPLE_SYSCALL && sample->duration >= 0;

	if (sample->begin < 0 || (sample->kind == SAMPLE_EVENT &&
				  !strcmp(state->samples->calls.string[sample->what], "sched_switch")))
		return;
	if (!sample_is_slice(sample)) {
		put_event(state, sample, TYPE_INSTANT, sample->kind == SAMPLE_CPU ? NULL : event);
	} else if (event) {	/* else the slice is open at the end of the trace */
		put_event(state, sample, TYPE_SLICE_END, own ? event : NULL);
		if (sample->kind == SAMPLE_OFF_CPU && sample->wakeup)
			put_woken(state, sample);
	}
}

static bool end(void *data, enum weight weight, bool ok)
{
	struct perfetto_state *state = data;

	(void)weight;		/* the format has all samples */
	ok = ok && !ferror(state->file);
	perfetto_interned_exit(&state->interned);
	free(state->out.data);
	free(state->comm);
	free(state);
	return ok;
}

const struct export_stream export_perfetto = {
	begin, { .begin = sample_begins, .end = sample_ends }, end
};

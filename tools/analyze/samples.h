/* SPDX-License-Identifier: MIT */
/*
 * samples.h - system calls, events, times off and on the CPU of a trace, with
 * stacks
 */
#ifndef KUNWIND_ANALYZE_SAMPLES_H
#define KUNWIND_ANALYZE_SAMPLES_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "blocked.h"
#include "calls.h"
#include "cpus.h"
#include "files.h"
#include "kunwind_core.h"
#include "locks.h"
#include "trace/copy.h"
#include "trace/reading.h"
#include "trace/options.h"
#include "trace/trace.h"

enum sample_kind {
	SAMPLE_SYSCALL,		/* reported at its exit, or at the next call, or at the end */
	SAMPLE_EVENT,		/* any other event, sched_switch included */
	SAMPLE_OFF_CPU,		/* reported when the thread runs again */
	SAMPLE_CPU,		/* kunwind_sample: the time until its event, on a CPU */
	SAMPLE_LOCK,		/* only in a timeline: a part of OFF_CPU in which a thread held the lock */
};

/* The thread of an event that has neither context tid nor vtid. */
#define SAMPLE_NO_THREAD	UINT32_MAX

/* Returns the weight that is the duration of such samples. */
static inline enum weight sample_time_weight(enum sample_kind kind)
{
	return kind == SAMPLE_OFF_CPU ? WEIGHT_OFF_CPU : kind == SAMPLE_CPU ? WEIGHT_CPU :
	       kind == SAMPLE_LOCK ? WEIGHT_LOCK : WEIGHT_BLOCKED;
}

/* The thread or interrupt that ended a time off the CPU, from sched_waking. */
struct sample_waker {
	int64_t time;		/* of the wakeup */
	uint32_t interrupt;	/* string: name of the interrupt that woke; 0: the thread did */
	int64_t pid, tid;	/* of the thread, also of one that the interrupt only stopped */
	uint32_t comm;		/* string */
	uint32_t thread;	/* index of samples->thread, or SAMPLE_NO_THREAD */
	uint32_t call;		/* string: the system call that it is in; 0: none is known */
	struct lock_call futex;	/* of call */
	uint32_t node;		/* innermost of its stack; CALLS_ROOT: not recorded */
};

struct sample {
	enum sample_kind kind;
	uint32_t what;		/* string: system call or event; of OFF_CPU: system call or cause */
	uint32_t comm;		/* string */
	uint32_t thread;	/* index of samples->thread, or SAMPLE_NO_THREAD */
	uint32_t node;		/* of the tree of calls: its FRAME_WHAT, below its stack */
	int64_t begin;		/* nanoseconds since 1970 */
	int64_t duration;	/* nanoseconds; -1: not known, or SAMPLE_EVENT */
	int64_t off_cpu;	/* SYSCALL: the part of duration off the CPU */
	bool failed;		/* SYSCALL: returned an error */
	uint32_t file;		/* SYSCALL: string: the file that it uses; 0: none, or not followed */
	int64_t fd;		/* SYSCALL: its descriptor; -1: none */
	bool transfers;		/* SYSCALL: result is a number of bytes */
	bool matches;		/* SYSCALL: it is what --event selects */
	bool returned;		/* SYSCALL: result is set */
	int64_t result;		/* SYSCALL: what it returned */
	bool hidden;		/* the options do not select it (hidden_waits) */
	uint64_t number;	/* the same: of the event that begins it, in the trace */
	/*
	 * EVENT: its thread wakes one that is off the CPU. OFF_CPU: such an
	 * event ends it. Both have the same number. 0: no such event.
	 */
	uint64_t wakeup;
	/* OFF_CPU: */
	bool preempted;			/* the thread could have run: no wakeup ends this */
	bool before;			/* it began before the recording: kunwind_blocked */
	/* indices of samples->cpus.cpu, or CPU_NONE: where it lost the CPU, and where it ran then */
	uint32_t lost_at, ran_at;
	const struct sample_waker *waker;	/* during end() only; NULL: not recorded */
	/* The parts of duration blocked by a lock, one for each holder; during end() only. */
	const struct lock_hold *hold;
	uint32_t nr_holds;
};

/*
 * Returns whether the sample lasts from an event to a later one of the same thread.
 * Others are an instant, or their thread is not known. Not for SAMPLE_LOCK.
 */
static inline bool sample_is_slice(const struct sample *sample)
{
	return (sample->kind == SAMPLE_SYSCALL || sample->kind == SAMPLE_OFF_CPU) &&
	       sample->thread != SAMPLE_NO_THREAD;
}

/*
 * Functions that are called for each sample. Any may be NULL. @event is the
 * event that begins or ends it.
 */
struct samples_calls {
	/* not for SAMPLE_EVENT */
	void (*begin)(const struct sample *sample, const bt_event *event, void *data);
	/*
	 * @sample->duration < 0: the end was not recorded, and @event is the
	 * next one that shows that it has ended. At the end of the trace: NULL.
	 */
	void (*end)(const struct sample *sample, const bt_event *event, void *data);
};

struct sample_thread {
	int64_t pid, tid;
	uint32_t comm;		/* string; the latest name */
	int64_t on_cpu;		/* nanoseconds on the CPU, by sched_switch */
	uint32_t blocked;	/* index of blocked.item + 1; 0: it was not blocked when recording began */
	/* private to samples.c */
	const void *trace;
	int64_t global_tid;	/* number in sched_switch; -1: not known */
	struct sample call, off;	/* not ended yet; begin is -1 if there is none */
	struct sample_waker waker;	/* the latest; time is -1 if there is none */
	struct lock_call futex;		/* of call */
	bool selected;		/* by the options, at some time; others are followed as wakers */
	bool dead;
	bool sampled;
};

/* Frames without a name because the helper process of the symbolizer failed. */
struct samples_unnamed {
	uint64_t frames;
	const char *why;	/* KUNWIND_WHY_...; NULL: no such frame */
	uint32_t object;	/* string: path of the first object */
	bool others;		/* there are other objects */
};

enum { NR_HELPER_FAILURES = 6 };

struct samples {
	/* all: processes that the trace tells nothing about, too; pattern: of system calls, too */
	struct kunwind_options options;
	struct files *files;	/* set before reading: follow files; or NULL */
	bool places;		/* set before reading: frames have their address, build-id and line */
	bool guesses;	/* set before reading: guessed frames of a function are apart from its others */
	const char *which;	/* for messages: which of several reads this is; "" */
	bool wakers;		/* set before reading: stacks of wakers of other processes, too */
	bool hidden_waits;	/* set before reading: end() takes hidden waits, too */
	struct kunwind_copy *copy;	/* set before reading: to be written; or NULL */
	/* results */
	struct calls calls;
	struct sample_thread *thread;
	uint32_t nr_threads;
	uint32_t nr_sampled;	/* threads with samples */
	const char *hostname;	/* in calls.string */
	/*
	 * Of the trace, or of the options' window in it; end: until now, during
	 * reading. Nanoseconds since 1970; -1: no events
	 */
	int64_t begin, end;
	uint64_t lost;		/* by the tracer */
	uint64_t nr_selected;	/* samples */
	uint64_t events, with_stack, frames, named, complete;
	uint64_t without_stack;
	struct samples_unnamed unnamed[NR_HELPER_FAILURES];
	uint64_t by_reason[KUNWIND_NR_REASONS + 1];	/* stacks; the last: not recorded */
	uint64_t by_trust[KUNWIND_NR_TRUSTS + 1];	/* frames; the last: not recorded */
	struct kunwind_losses losses;
	uint64_t unreturned;	/* system calls without an event of their exit */
	uint64_t nr_timed, nr_off_cpu, nr_cpu;
	uint64_t in_call;	/* threads that were in a system call when the trace began */
	uint64_t nr_wakings;	/* events sched_waking, of all threads */
	struct cpus cpus;
	struct locks locks;
	struct wrappers wrappers;	/* more: set before reading */
	struct blocked blocked;
	bool cycles;		/* WEIGHT_CPU is in cycles: the samples are by that clock */
	bool ends_recorded;	/* the trace has the events kunwind_callstack */
	const char *why_no_kernel;	/* why kernel functions have no names; NULL: all is well */
	bool no_threads;	/* some events have no thread or time, so no durations */
	struct kunwind_reading *reading;	/* during reading */
	/* private to samples.c */
	uint32_t cap_threads;
	uint32_t *by_tid, *by_global_tid, cap_index;
	const struct samples_calls *fn;
	void *data;
	uint64_t nr_wakeups;
	uint64_t number;	/* of events until now */
	struct selection *selection;	/* NULL: the end of a sample is not needed */
	bool measuring;		/* this is the pass that fills in selection */
};

void samples_init(struct samples *samples);
void samples_free(struct samples *samples);

/**
 * samples_read() - read traces and add up their weights in the tree of calls
 * @fn: called for each sample, with @data; may be NULL
 * Return: false after an error, which was printed on stderr. Ends the program
 * if out of memory.
 */
bool samples_read(struct samples *samples, char *const *paths, int nr_paths,
		  const struct samples_calls *fn, void *data);

/*
 * Adds the stack of a sample below its process's name, and counts it. Returns the
 * innermost node. Ends the program if out of memory.
 */
uint32_t samples_stack(struct samples *samples, const struct kunwind_event_stack *stack, const char *comm);

/* The same for a waker's stack that the options do not select: it is not counted. */
uint32_t samples_waker_stack(struct samples *samples, const struct kunwind_event_stack *stack,
			     const char *comm);

/*
 * Adds the functions of a stack below a node. Returns the innermost function's node.
 * Ends the program if out of memory.
 */
uint32_t samples_functions(struct samples *samples, const struct kunwind_event_stack *stack,
			   uint32_t node);

/*
 * Returns @wanted; for -1 the first of blocked time, off-CPU time, CPU time and
 * events that the trace has.
 */
enum weight samples_weight(const struct samples *samples, int wanted);

#endif /* KUNWIND_ANALYZE_SAMPLES_H */

/* SPDX-License-Identifier: MIT */
/*
 * samples.h - what happened in a trace: calls with their time, events, time off the CPU
 */
#ifndef KUNWIND_ANALYZE_SAMPLES_H
#define KUNWIND_ANALYZE_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include <libkunwind-symbolize.h>

#include "calls.h"

enum sample_kind {
	SAMPLE_SYSCALL,		/* told when it returns, or at the trace's end when it does not */
	SAMPLE_EVENT,		/* any other event, sched_switch included */
	SAMPLE_OFF_CPU,		/* told when the thread is switched to again */
};

struct sample {
	enum sample_kind kind;
	uint32_t what;		/* string: system call, event; of OFF_CPU: system call or cause */
	uint32_t comm;		/* string */
	uint32_t thread;	/* of struct samples */
	uint32_t node;		/* its stack; that node's frame is the FRAME_WHAT */
	int64_t begin;		/* nanoseconds since 1970 */
	int64_t duration;	/* nanoseconds; -1: not known, or of an event */
	int64_t off_cpu;	/* SYSCALL: of these, not running */
	bool failed;		/* SYSCALL: returned an error */
};

struct sample_thread {
	int64_t pid, tid;
	uint32_t comm;		/* string; the last one */
	/* the rest is samples.c's */
	const void *trace;
	int64_t global_tid;	/* as sched_switch has it; -1 not known */
	struct sample call, off;	/* begin is -1 when there is none */
};

struct samples {
	/* options */
	bool all;		/* processes that the trace tells nothing about, too */
	int64_t only_pid;	/* -1: all */
	struct kunwind_symbolizer_options symbols;
	const char **debug_dirs;	/* of these; NULL-terminated */
	const char *pattern;	/* only system calls and events that match; or NULL */
	/* results */
	struct calls calls;
	struct sample_thread *thread;
	uint32_t nr_threads;
	char hostname[256];
	int64_t begin, end;	/* of the trace, nanoseconds since 1970; -1: no events */
	uint64_t lost;		/* by the tracer */
	uint64_t events, with_stack, frames, named, complete;
	uint64_t unreturned;	/* system calls that did not return */
	uint64_t nr_timed, nr_off_cpu;
	bool no_threads;	/* there are events that do not tell their thread: no times */
	/* the rest is its own */
	uint32_t cap_threads;
	uint32_t *by_tid, *by_global_tid, cap_index;
	struct kunwind_reading *reading;
	void (*fn)(const struct sample *sample, void *data);
	void *data;
};

void samples_init(struct samples *samples);
void samples_free(struct samples *samples);

/**
 * samples_read() - read traces; weights go to the nodes of the tree of calls
 * @fn: is told every sample, in the order of their ends; may be NULL
 * Return: false after an error, which was said on stderr.
 */
bool samples_read(struct samples *samples, char *const *paths, int nr_paths,
		  void (*fn)(const struct sample *sample, void *data), void *data);

/* @wanted, or for -1 what the trace has: blocked time, else off-CPU time, else events. */
enum weight samples_weight(const struct samples *samples, int wanted);

#endif /* KUNWIND_ANALYZE_SAMPLES_H */

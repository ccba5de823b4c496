/* SPDX-License-Identifier: MIT */
/*
 * waits.h - times off the CPU: why, who ended them, and how soon the thread ran
 */
#ifndef KUNWIND_ANALYZE_WAITS_H
#define KUNWIND_ANALYZE_WAITS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runnable.h"
#include "samples.h"
#include "tool.h"

/* One time off the CPU. */
struct wait {
	int64_t begin, end;	/* end: INT64_MAX: it lasts until the end of the trace */
	int64_t wakeup;		/* -1: not recorded; of a preempted thread: begin */
	uint32_t thread, comm;	/* comm: string */
	uint32_t cause;		/* string: system call, page fault ... */
	uint32_t node;		/* innermost of the stack */
	uint32_t waker;		/* thread, or SAMPLE_NO_THREAD */
	uint32_t waker_comm, interrupt;	/* strings; 0: none */
	uint32_t lost_at, ran_at;	/* processors, as in struct sample */
	bool preempted;
	bool hidden;		/* the options do not select it: only chains need it */
};

/*
 * All waits of threads of one name with one cause and one kind of waker. A wait of
 * a preempted thread has a part in the line of each name that had the processor.
 */
struct wait_line {
	uint32_t waiter_comm, cause;	/* strings */
	uint32_t interrupt, comm, call;	/* strings: of the waker, or of the thread that had the processor */
	bool preempted, recorded;
	uint64_t times;
	int64_t blocked, longest;	/* until the wakeup */
	int64_t latency;		/* from the wakeup until the thread ran */
	int64_t key;
	int64_t pid;			/* of the waiters; -1: several */
	uint32_t waiter, waker;		/* nodes: the two stacks that took most of the time */
	int64_t most;			/* private: their time */
};

/* Time of one pair of stacks in a line; or of one thing that the holder of a lock did. */
struct wait_pair {
	uint32_t line;		/* or index of locks->pair */
	uint32_t waiter;	/* node; or innermost of the stack, CALLS_ROOT: none */
	union {
		uint32_t waker;	/* node */
		uint32_t what;	/* string: system call or cause, "runnable", "on the CPU" */
	};
	int64_t time;
};

struct wait_pairs {
	struct wait_pair *pair;
	uint32_t nr, cap;
	struct calls_index index;
};

/* A time in which a thread held a lock for which another one waited. */
struct wait_hold {
	int64_t begin, ns;
	uint32_t thread, pair;	/* pair: index of locks->pair */
};

struct wait_thread {
	int64_t blocked, runnable;	/* runnable: after a wakeup, or preempted */
	uint64_t waits;
};

struct waits {
	struct samples samples;
	struct wait *wait;
	uint32_t nr, cap;
	uint32_t nr_hidden;		/* of nr */
	struct wait_line *line;
	uint32_t nr_lines, cap_lines;
	struct wait_pairs pairs;
	struct wait_hold *hold;
	uint32_t nr_holds, cap_holds;
	struct wait_pairs meanwhile;	/* filled by activity_of_holders() */
	struct wait_thread *thread;	/* as many as samples.thread, after reading */
	uint32_t cap_threads;
	struct calls_index lines;
	uint64_t by_thread, by_interrupt, preempted, unrecorded;	/* numbers of waits */
	uint64_t endless;	/* that last until the end of the trace */
	uint64_t lost;		/* whose end was lost */
	struct runnable runnable;	/* private: of the latest wait */
	struct calls chains;	/* filled by waits_follow() */
	/* options */
	uint32_t top, depth;
	bool json;
	struct kunwind_colours colour;
};

/* For samples_read(). @data: struct waits. */
void waits_take(const struct sample *sample, const bt_event *event, void *data);

/* Returns the number of threads that the options select. */
uint32_t waits_threads(const struct waits *waits);

/* Adds a time to its entry, which is made if needed. Returns its index. */
uint32_t waits_add_pair(struct wait_pairs *pairs, const struct wait_pair *key, int64_t time);
void waits_pairs_free(struct wait_pairs *pairs);

/* Splits a wait's time in which the thread could run, into waits->runnable. */
void waits_split(struct waits *waits, const struct wait *wait, int64_t from, int64_t until);

/* Sorts all, after reading. */
void waits_sort(struct waits *waits);

/*
 * Fills waits->chains after waits_sort(): below each waiter and its cause, what the
 * threads did for which it waited, and for which threads these waited in turn.
 * The times below a waiter sum up to its time.
 */
void waits_follow(struct waits *waits);

void waits_text(struct waits *waits);
void waits_text_locks(struct waits *waits);	/* a part of it */
void waits_text_title(const struct waits *waits, const char *title, const char *head);
uint32_t waits_text_lines(const struct waits *waits, uint32_t nr);	/* how many of these are printed */
void waits_text_more(const struct waits *waits, uint32_t nr);
json_t *waits_json(struct waits *waits);
/* Returns the functions of a stack, innermost first. */
json_t *waits_stack_json(const struct calls *calls, uint32_t node);
void waits_free(struct waits *waits);

#endif /* KUNWIND_ANALYZE_WAITS_H */

/* SPDX-License-Identifier: MIT */
/*
 * locks.h - futexes: which threads waited, and which one held the lock
 */
#ifndef KUNWIND_ANALYZE_LOCKS_H
#define KUNWIND_ANALYZE_LOCKS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "lock_kind.h"
#include "wrappers.h"

/* A system call futex(2) of a thread. */
struct lock_call {
	enum lock_operation { LOCK_NONE, LOCK_WAIT, LOCK_WAKE } operation;
	uint32_t lock;		/* index of locks->lock */
	bool shared;		/* between processes */
	uint64_t since;		/* private to locks.c: number of the lock's next release */
};

/* Times of one waiting stack, below one holding stack, at one lock. */
struct lock_pair {
	uint32_t lock, waiter, holder;	/* the latter two: innermost nodes of stacks */
	uint32_t holder_comm;	/* string */
	uint32_t node;		/* below both stacks; CALLS_ROOT: not known to be a lock */
	int64_t time;
	uint64_t times;
};

struct lock {
	const void *trace;
	int64_t pid;
	uint64_t address;
	uint32_t same;		/* number of the lock at its other address; its own number: none */
	struct lock_kind kind;
	uint64_t waits;		/* times off the CPU that a known thread ended */
	uint64_t others;	/* the other waits: ended by timeout or signal, or not recorded */
	int64_t time, longest;	/* blocked: until the wakeup; of waits */
	int64_t other_time;	/* of others: until the thread ran again */
	int64_t latency;	/* from the wakeup until the thread ran */
	uint64_t releases;	/* system calls that wake waiters */
	/* private to locks.c: releases of a lock that waits may still need, in order of time */
	struct lock_release {
		int64_t time;
		uint32_t holder, comm, thread;
		uint32_t waiting;	/* present calls that began after the release before this one */
	} *release;
	uint64_t first;		/* number of release[0] */
	uint32_t nr, cap;
	uint32_t waiting;	/* calls that wait now */
	uint32_t newest;	/* those of them that began after the latest release */
	bool merged;		/* some calls have the number of a release of the other address */
};

/* The part of a wait for a lock in which one thread held it. */
struct lock_hold {
	int64_t begin, ns;
	uint32_t node;		/* that of the pair of stacks */
	uint32_t pair;		/* index of locks->pair */
	uint32_t thread;	/* index of samples->thread, or SAMPLE_NO_THREAD: who held it */
};

struct locks {
	struct lock *lock;
	uint32_t nr, cap;
	struct lock_pair *pair;
	uint32_t nr_pairs, cap_pairs;
	struct lock_hold *hold;	/* of the latest wait, in order of time */
	uint32_t nr_holds, cap_holds;
	/* private to locks.c */
	uint32_t *slot, cap_slots, *pair_slot, cap_pair_slots;
};

struct sample;

void locks_free(struct locks *locks);

/* An entry event of futex(2). */
struct lock_event {
	const void *trace;
	int64_t pid;
	uint32_t thread;
	const bt_event *event;
	uint32_t stack;		/* node: innermost of the stack; CALLS_ROOT: not selected */
};

/* Takes such an event. Sets *call, which lock_left() takes. Returns whether lock_released() must follow. */
bool lock_entered(struct locks *locks, struct lock_call *call, const struct lock_event *event,
		  struct wrappers *wrappers, const struct calls *calls);

/* Takes the release of a lock that has waiters. @node: innermost of the holder's stack. */
void lock_released(struct locks *locks, const struct lock_call *call, int64_t time, uint32_t node,
		   uint32_t comm, uint32_t thread);
void lock_left(struct locks *locks, struct lock_call *call);

/*
 * Takes a time off the CPU in @call, which waits. @waker: the call of the
 * waking thread; NULL: that thread ended. For a lock, sets sample->hold, and
 * adds the weight WEIGHT_LOCK.
 */
void lock_waited(struct locks *locks, struct calls *calls, const struct lock_call *call,
		 struct sample *sample, const struct lock_call *waker);

enum { LOCK_NOTE = 80 };

/* Sets the name of the frame between a waiter's stack and its holder's. @size: LOCK_NOTE. */
void lock_note(char *note, size_t size, const char *holder);

/* Returns the number of the lock that another number means, too. */
uint32_t lock_number(const struct locks *locks, uint32_t number);

#endif /* KUNWIND_ANALYZE_LOCKS_H */

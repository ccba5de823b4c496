/* SPDX-License-Identifier: MIT */
/*
 * lock_kind.h - which futexes are locks: a thread has them, and releases them
 */
#ifndef KUNWIND_ANALYZE_LOCK_KIND_H
#define KUNWIND_ANALYZE_LOCK_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "wrappers.h"

/* linux/futex.h, whose names need the program's own libc headers */
enum {
	OP_WAIT, OP_WAKE, OP_FD, OP_REQUEUE, OP_CMP_REQUEUE, OP_WAKE_OP, OP_LOCK_PI, OP_UNLOCK_PI,
	OP_TRYLOCK_PI, OP_WAIT_BITSET, OP_WAKE_BITSET, OP_WAIT_REQUEUE_PI, OP_CMP_REQUEUE_PI,
	OP_LOCK_PI2,
	OP_MASK = 0x7f, OP_PRIVATE = 0x80, OP_REALTIME = 0x100,
};

/* A call of futex(2). */
struct futex_call {
	int64_t operation;
	uint32_t value;
	bool timeout;
};

/* What is known about an address. Starts as all zeros. */
struct lock_kind {
	bool lock;		/* it is one */
	/* private to lock_kind.c */
	bool named;		/* a function or an operation says so, not only a value */
	bool other;		/* a call was none for a lock whose name is not known */
	bool maybe;		/* a lock if a waiter releases it */
	uint32_t waited;	/* the thread whose wait ended last, + 1 */
};

/*
 * Takes a call that waits. @by: what its stack says; WRAPPER_UNKNOWN: it is not known.
 * @musl: its code is musl's.
 */
void lock_kind_wait(struct lock_kind *kind, const struct futex_call *call, enum wrapper by, bool musl);

/* Takes the end of a wait of a thread. */
void lock_kind_waited(struct lock_kind *kind, uint32_t thread);

/* Takes a call of a thread that wakes. */
void lock_kind_wake(struct lock_kind *kind, const struct futex_call *call, uint32_t thread);

/* Both addresses are one: adds what is known about the other one. */
void lock_kind_merge(struct lock_kind *kind, const struct lock_kind *other);

#endif /* KUNWIND_ANALYZE_LOCK_KIND_H */

// SPDX-License-Identifier: MIT
/*
 * lock_kind.c - which futexes are locks: a thread has them, and releases them
 *
 * The name of the function that waits tells it (wrappers.c), or FUTEX_LOCK_PI.
 * Otherwise the values tell it:
 *
 *  - A mutex of glibc, Rust and Go before 1.24 has the value 2 ("locked, with
 *    waiters") whenever a thread waits, and its release wakes one thread.
 *  - Robust mutexes of glibc and mutexes of musl have the number of their owner
 *    then, and bit 31. Bit 30 (the owner has died) is not set. Semaphores of musl
 *    have only bit 31, or all.
 *  - In glibc, functions that may be called without a timeout (pthread_join(),
 *    pthread_cond_wait(), pthread_rwlock_rdlock()) always pass OP_REALTIME. A wait
 *    for a mutex passes it only with a timeout.
 *  - musl uses the value 2 for condition variables and pthread_join(). It always
 *    passes OP_WAIT; a Rust program built for musl passes OP_WAIT_BITSET.
 *
 * Barriers, latches, condition variables of Rust, and atomic<T>::wait() of C++ wait
 * for any value, thus also for 2, but not only, or they wake all waiters. Where all
 * is as for a mutex, and the code called syscall(2) itself, the address is a lock as
 * soon as a thread that waited there wakes the next one: an event has no such waiter.
 *
 * Memory may be used again for something else, so a name counts more than what was
 * known before. Without a name, an address that once was no lock never is one.
 */
#include "lock_kind.h"

enum { LOCKED_WITH_WAITERS = 2 };

/* Whether a thread may wait so for a mutex. */
static bool like_mutex(const struct futex_call *call, bool musl)
{
	const bool owner = call->value >> 30 == 2 && call->value << 2;

	if (call->operation & OP_REALTIME && !call->timeout)
		return false;
	if (musl && (call->operation & OP_MASK) == OP_WAIT)
		return owner;
	return owner || call->value == LOCKED_WITH_WAITERS;
}

void lock_kind_wait(struct lock_kind *kind, const struct futex_call *call, enum wrapper by, bool musl)
{
	const int64_t operation = call->operation & OP_MASK;
	const bool like = like_mutex(call, musl);

	if (operation == OP_LOCK_PI || operation == OP_LOCK_PI2)
		by = WRAPPER_LOCK;
	else if (operation == OP_WAIT_REQUEUE_PI)
		by = WRAPPER_NO_LOCK;
	else if (by == WRAPPER_COND)	/* glibc waits for the mutex without a timeout, so by OP_WAIT */
		by = operation == OP_WAIT && like && !musl ? WRAPPER_LOCK : WRAPPER_NO_LOCK;
	switch (by) {
	case WRAPPER_LOCK:
	case WRAPPER_RWLOCK:
	case WRAPPER_READ:
	case WRAPPER_WRITE:
		*kind = (struct lock_kind){ .lock = true, .named = true, .waited = kind->waited };
		break;
	case WRAPPER_NO_LOCK:
		*kind = (struct lock_kind){ .other = true };
		break;
	case WRAPPER_SYSCALL:
		kind->maybe |= like;
		/* fall through */
	case WRAPPER_NONE:
	case WRAPPER_PLAIN:
		if (!like)
			*kind = (struct lock_kind){ .other = true };
		/* fall through */
	default:
		kind->lock |= like && !kind->other && by != WRAPPER_SYSCALL;
	}
}

void lock_kind_waited(struct lock_kind *kind, uint32_t thread)
{
	kind->waited = thread + 1;
}

void lock_kind_wake(struct lock_kind *kind, const struct futex_call *call, uint32_t thread)
{
	const int64_t operation = call->operation & OP_MASK;

	if ((operation == OP_WAKE || operation == OP_WAKE_BITSET) && call->value > 1 && !kind->named)
		*kind = (struct lock_kind){ .other = true };
	kind->lock |= kind->maybe && kind->waited == thread + 1;
}

void lock_kind_merge(struct lock_kind *kind, const struct lock_kind *other)
{
	kind->lock |= other->lock;
	kind->named |= other->named;
	kind->other |= other->other;
	kind->maybe |= other->maybe;
}

/* SPDX-License-Identifier: MIT */
/*
 * users.h - count the walks that use a snapshot, so that a refresh knows when it can free one
 *
 * Each thread has a counter of its own, by its thread pointer, which it changes by one
 * instruction: a signal handler of the thread may walk in between, and restores it. There
 * is no barrier between the count and the load of the snapshot. unwind_users_none() makes
 * one in all threads by membarrier(2), after it has published another snapshot: a walk that
 * loaded the old one before is then counted. Threads without a counter, because another
 * one has their place, or without membarrier(), count by locked instructions.
 *
 * unwind_users_enter() and _exit(): any context.
 */
#ifndef _UNWIND_USERS_H
#define _UNWIND_USERS_H

#include "kunwind_deps.h"

#define UNWIND_USERS_BITS	8

struct unwind_users {
	bool barrier;			/* membarrier() can be used */
	u64 locked;			/* walks of threads without a counter */
	struct unwind_user {
		u64 thread;		/* its thread pointer; 0: free. Never changes again */
		u64 count;
	} user[1 << UNWIND_USERS_BITS];
};

/* Returns the counter, for unwind_users_exit(). */
static inline u64 *unwind_users_enter(struct unwind_users *users)
{
	const u64 thread = (u64)__builtin_thread_pointer();
	struct unwind_user *user =
		&users->user[(thread >> 6) * 0x9e3779b97f4a7c15ULL >> (64 - UNWIND_USERS_BITS)];
	u64 none = 0;

	if (likely(users->barrier) &&
	    (likely(READ_ONCE(user->thread) == thread) ||
	     __atomic_compare_exchange_n(&user->thread, &none, thread, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))) {
		__asm__ __volatile__("addq $1, %0" : "+m"(user->count) : : "memory", "cc");
		return &user->count;
	}
	__atomic_add_fetch(&users->locked, 1, __ATOMIC_SEQ_CST);
	return &users->locked;
}

static inline void unwind_users_exit(struct unwind_users *users, u64 *count)
{
	if (likely(count != &users->locked))
		__asm__ __volatile__("subq $1, %0" : "+m"(*count) : : "memory", "cc");
	else
		__atomic_sub_fetch(&users->locked, 1, __ATOMIC_SEQ_CST);
}

/* Finds out whether membarrier() can be used. */
void unwind_users_init(struct unwind_users *users);

/* Whether no walk uses a snapshot that is no longer published. */
bool unwind_users_none(struct unwind_users *users);

/* In a forked child: the other threads are gone. */
void unwind_users_forget(struct unwind_users *users);

#endif /* _UNWIND_USERS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * emit.h - the one way to emit an event, and the rule for the places that do so
 *
 * No event is emitted while a lock is held that this module has taken. A tracer
 * may walk the user stack of the task for an event, with the whole budget of a
 * walk (some 1 ms), and other tasks wait for the lock: for the lock of the
 * records of processes, all tasks that fork, exec or exit. Code that finds under
 * a lock that an event is due emits it after the unlock.
 *
 * The rule does not concern kunwind_callstack, kunwind_callstack_whole,
 * kunwind_kernel_callstack and kunwind_sample: the walk and the sampler emit them
 * wherever a tracer requests a stack, or an interrupt comes.
 */
#ifndef _KUNWIND_EMIT_H
#define _KUNWIND_EMIT_H

#include <linux/bug.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

/* On kernels with lockdep: warns if code of this module has taken a lock that is held. */
static inline void kunwind_emit_check(void)
{
#ifdef CONFIG_LOCKDEP
	const struct held_lock *lock;
	int i;

	for (i = 0; in_task() && i < current->lockdep_depth; i++) {
		lock = &current->held_locks[i];
		WARN_ONCE(lock->instance != &rcu_lock_map &&
			  within_module(lock->acquire_ip, THIS_MODULE),
			  "kunwind emits an event with %s held\n", lock->instance->name);
	}
#endif
}

/* Emits @event if it is on; only then are the arguments computed. */
#define KUNWIND_EMIT(event, ...)							\
	do {										\
		kunwind_emit_check();							\
		if (trace_##event##_enabled())						\
			trace_##event(__VA_ARGS__);					\
	} while (0)

#endif /* _KUNWIND_EMIT_H */

/* SPDX-License-Identifier: MIT */
/*
 * kernel-context.h - what the running code holds, and what it may do there
 *
 * Part of kernel.h. There is one thread. Each of these ends the test:
 * - a lock that is not initialized, taken twice, released without being taken,
 *   or taken in the opposite order of an earlier time (by class: one class for
 *   each place that initializes locks)
 * - sleeping (mutexes, waits, GFP_KERNEL, kvfree(), mmput(), grace periods) with
 *   a spinlock, in an RCU read side, with preemption or interrupts off
 * - rcu_dereference() and the iteration of RCU lists outside of a read side,
 *   lockdep_assert_held() without the lock, a false condition of
 *   rcu_dereference_protected(), per-CPU pointers with preemption on
 * - a test case (tap_ok()) or the program that ends while something is held; a
 *   test that holds something on purpose sets held_on_purpose
 *
 * grace_periods counts synchronize_rcu(), rcu_barriers counts rcu_barrier().
 * kfree_rcu() in a read side frees at the end of the read side, else at once.
 */
#ifndef _TEST_KERNEL_CONTEXT_H
#define _TEST_KERNEL_CONTEXT_H

#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

#define wrong(...)								\
	do {									\
		fflush(stdout);							\
		fprintf(stderr, "%s:%d: %s(): ", __FILE__, __LINE__, __func__);	\
		fprintf(stderr, __VA_ARGS__);					\
		fputc('\n', stderr);						\
		abort();							\
	} while (0)

#define WARN_ON(condition)							\
	({ if (condition) wrong("warning: %s", #condition); 0; })
#define WARN_ON_ONCE(condition)		WARN_ON(condition)

static unsigned int preempt_depth;	/* preempt_disable(), spinlocks */
static unsigned int rcu_depth;
static unsigned int irqs_depth;		/* local_irq_disable(), ..._irqsave() */
static bool held_on_purpose;

#define might_sleep()								\
	do {									\
		if (preempt_depth || rcu_depth || irqs_depth)			\
			wrong("sleeps with preemption off %u times, interrupts %u, in %u RCU read sides", \
			      preempt_depth, irqs_depth, rcu_depth);		\
	} while (0)
#ifndef cond_resched
#define cond_resched()			might_sleep()
#endif

#define preempt_disable()		((void)preempt_depth++)
#define preempt_enable()							\
	do { if (!preempt_depth--) wrong("preemption was on"); } while (0)
#define preempt_disable_notrace()	preempt_disable()
#define preempt_enable_notrace()	preempt_enable()
#define preemptible()			(!preempt_depth && !irqs_depth)
#define local_irq_disable()		((void)irqs_depth++)
#define local_irq_enable()							\
	do { if (!irqs_depth--) wrong("interrupts were on"); } while (0)
/* There is one CPU: the file of kmod has to stay on it while it uses the pointer. */
#define on_this_cpu(p)								\
	({ if (preemptible() && !level_of_interrupt) wrong("preemption is on"); p; })
static unsigned int level_of_interrupt;	/* set by tests: code of an interrupt runs */

/* ---------------------------------------------------------------- locks */

#define MOST_HELD			16
#define MOST_ORDERS			256
static const void *held[MOST_HELD];
static const char *held_class[MOST_HELD];
static unsigned int nr_held;
static struct { const char *first, *then; } lock_orders[MOST_ORDERS];
static unsigned int nr_lock_orders;

static inline bool is_held(const void *lock)
{
	unsigned int i;

	for (i = 0; i < nr_held; i++)
		if (held[i] == lock)
			return true;
	return false;
}

static inline void lock_order(const char *first, const char *then)
{
	unsigned int i;

	for (i = 0; i < nr_lock_orders; i++) {
		if (lock_orders[i].first == then && lock_orders[i].then == first)
			wrong("%s is taken with %s held, which was done the other way round, too",
			      then, first);
		if (lock_orders[i].first == first && lock_orders[i].then == then)
			return;
	}
	if (nr_lock_orders == MOST_ORDERS)
		wrong("MOST_ORDERS");
	lock_orders[nr_lock_orders].first = first;
	lock_orders[nr_lock_orders++].then = then;
}

static inline void hold(const void *lock, const char *class, bool tried)
{
	unsigned int i;

	if (!class)
		wrong("a lock that was not initialized");
	if (is_held(lock))
		wrong("%s is taken twice", class);
	for (i = 0; !tried && i < nr_held; i++)
		lock_order(held_class[i], class);
	if (nr_held == MOST_HELD)
		wrong("MOST_HELD");
	held[nr_held] = lock;
	held_class[nr_held++] = class;
}

static inline void unhold(const void *lock, const char *class)
{
	unsigned int i;

	for (i = nr_held; i--;) {
		if (held[i] != lock)
			continue;
		for (nr_held--; i < nr_held; i++) {
			held[i] = held[i + 1];
			held_class[i] = held_class[i + 1];
		}
		return;
	}
	wrong("%s is not taken", class ?: "a lock that was not initialized");
}

#define lock_class_2(file, line)	file ":" #line
#define lock_class_1(file, line)	lock_class_2(file, line)
#define lock_class			lock_class_1(__FILE__, __LINE__)

struct spinlock { const char *class; bool held; unsigned int taken; };
#define spinlock_t			struct spinlock
#define __SPIN_LOCK_UNLOCKED(name)	(spinlock_t){ .class = #name }
#define DEFINE_SPINLOCK(name)		spinlock_t name = { .class = #name }
#define spin_lock_init(lock)							\
	do {									\
		static const char class_[] = lock_class;			\
										\
		*(lock) = (spinlock_t){ .class = class_ };			\
	} while (0)
static inline void spin_lock(spinlock_t *lock)
{
	hold(lock, lock->class, false);
	lock->held = true;
	lock->taken++;
	preempt_depth++;
}
static inline void spin_unlock(spinlock_t *lock)
{
	unhold(lock, lock->class);
	lock->held = false;
	preempt_depth--;
}

struct mutex { const char *class; bool held; };
#define DEFINE_MUTEX(name)		struct mutex name = { .class = #name }
#define mutex_init(m)								\
	do {									\
		static const char class_[] = lock_class;			\
										\
		*(m) = (struct mutex){ .class = class_ };			\
	} while (0)
static inline void mutex_lock(struct mutex *mutex)
{
	might_sleep();
	hold(mutex, mutex->class, false);
	mutex->held = true;
}
static inline bool mutex_trylock(struct mutex *mutex)
{
	if (mutex->held)
		return false;
	hold(mutex, mutex->class, true);
	return mutex->held = true;
}
static inline int mutex_lock_killable(struct mutex *mutex)
{
	mutex_lock(mutex);
	return 0;
}
static inline void mutex_unlock(struct mutex *mutex)
{
	unhold(mutex, mutex->class);
	mutex->held = false;
}

#define lockdep_is_held(lock)		is_held(lock)
#define lockdep_assert_held(lock)						\
	do { if (!is_held(lock)) wrong("%s is not held", #lock); } while (0)
#define lockdep_assert_held_write(lock)	lockdep_assert_held(lock)
#define lockdep_assert_not_held(lock)						\
	do { if (is_held(lock)) wrong("%s is held", #lock); } while (0)
/* Stands in each replacement of a trace event: none is emitted with a lock held. */
static inline void emits(void)
{
	if (nr_held)
		wrong("an event is emitted with %s held", held_class[0]);
}

#define lockdep_assert_irqs_disabled()						\
	do { if (!irqs_depth) wrong("interrupts are on"); } while (0)
#define lockdep_assert_preemption_disabled()					\
	do { if (preemptible()) wrong("preemption is on"); } while (0)

/* ------------------------------------------------------------------ RCU */

struct rcu_head { struct rcu_head *next; const void *memory; };
static struct rcu_head *free_after;	/* kfree_rcu() in a read side */
static unsigned int grace_periods, rcu_barriers;

static inline void free_rcu_now(const void *p);
static inline void rcu_read_lock(void) { rcu_depth++; }
static inline void rcu_read_unlock(void)
{
	if (!rcu_depth)
		wrong("no RCU read side");
	if (--rcu_depth)
		return;
	while (free_after) {
		const void *memory = free_after->memory;

		free_after = free_after->next;
		free_rcu_now(memory);
	}
}
static inline void kfree_rcu_later(const void *p, struct rcu_head *head)
{
	if (!rcu_depth) {
		free_rcu_now(p);
		return;
	}
	*head = (struct rcu_head){ .next = free_after, .memory = p };
	free_after = head;
}
#define kfree_rcu(p, member)		({ __typeof__(p) p_ = (p); kfree_rcu_later(p_, &p_->member); })

#define rcu_read_lock_held()		(rcu_depth > 0)
#define rcu_read_lock_any_held()	(rcu_depth || !preemptible())
#define need_rcu(condition)							\
	({ if (!(condition)) wrong("not in an RCU read side: %s", #condition); })
#define rcu_dereference(p)		(need_rcu(rcu_depth), READ_ONCE(p))
#define rcu_dereference_check(p, c)	(need_rcu(rcu_depth || (c)), READ_ONCE(p))
#define rcu_dereference_sched(p)	(need_rcu(!preemptible()), READ_ONCE(p))
#define rcu_dereference_protected(p, c)	(need_rcu(c), READ_ONCE(p))
#define rcu_dereference_raw(p)		READ_ONCE(p)
#define rcu_access_pointer(p)		READ_ONCE(p)
#define rcu_assign_pointer(p, v)	WRITE_ONCE(p, v)
#define RCU_INIT_POINTER(p, v)		WRITE_ONCE(p, v)
#define synchronize_rcu()		({ might_sleep(); grace_periods++; (void)0; })
#define rcu_barrier()			({ might_sleep(); rcu_barriers++; (void)0; })

/* A test calls what the kernel calls in a read side, or with a lock. */
#define in_rcu(call)								\
	({ rcu_read_lock(); __auto_type result_ = (call); rcu_read_unlock(); result_; })
#define with_lock(lock, call)							\
	({ spin_lock(lock); __auto_type result_ = (call); spin_unlock(lock); result_; })

/* ----------------------------------------------------------- end of a test */

static inline void holds_nothing(void)
{
	if (!held_on_purpose && (nr_held || preempt_depth || rcu_depth || irqs_depth))
		wrong("still held: %u locks (%s), preemption off %u times, interrupts %u, RCU %u",
		      nr_held, nr_held ? held_class[0] : "-", preempt_depth, irqs_depth, rcu_depth);
}
__attribute__((__constructor__)) static inline void check_what_is_held(void)
{
	tap_each = holds_nothing;
}

#endif /* _TEST_KERNEL_CONTEXT_H */

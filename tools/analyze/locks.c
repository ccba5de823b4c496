// SPDX-License-Identifier: MIT
/*
 * locks.c - futexes: which threads waited, and which one held the lock
 *
 * A lock is an address in a process. A wait is a time off the CPU in futex(2)
 * that asks the kernel to wait; it is blocked until another thread wakes it. The
 * waker was the holder: its stack is that of its own call of futex(2).
 *
 * Several threads may hold a mutex during one wait. Each of them wakes a waiter
 * when it releases the mutex, because there is one. So the time from one release
 * to the next belongs to the thread that makes the second one. A holder that
 * never saw a waiter makes no system call: its time goes to the next one that
 * does. lock_kind.c knows which futexes are locks. For all others (condition
 * variables, semaphores, barriers, joins) the whole time goes to the waker; it has
 * no weight WEIGHT_LOCK. Neither has a wait before the first one that shows that the
 * address is a lock. Of several readers of a lock, the last one that releases it is
 * known.
 *
 * Two processes may have a shared futex at two addresses. They are one lock as
 * soon as one of the processes wakes the other. So are both addresses of a lock for
 * readers and writers.
 *
 * Memory: 144 bytes for each address; 40 for each pair of a waiting and a holding
 * stack; 32 for each release of a lock since its oldest waiter began to wait, and 32
 * for each holder during one wait, twice that after the array has grown. A requeued
 * waiter (FUTEX_REQUEUE) counts at the address that it waited for first.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "locks.h"
#include "samples.h"

void locks_free(struct locks *locks)
{
	uint32_t i;

	for (i = 0; i < locks->nr; i++)
		free(locks->lock[i].release);
	free(locks->lock);
	free(locks->slot);
	free(locks->pair);
	free(locks->pair_slot);
	free(locks->hold);
}

/* ------------------------------------------------------------ tables */

static uint32_t mix(uint64_t a, uint64_t b)
{
	uint64_t hash = (a ^ b * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;

	return (uint32_t)(hash >> 32);
}

static uint32_t hash_lock(const struct lock *lock)
{
	return mix(lock->address + (uintptr_t)lock->trace, (uint64_t)lock->pid);
}

static uint32_t hash_pair(const struct lock_pair *pair)
{
	return mix((uint64_t)pair->waiter << 32 | pair->holder, pair->lock);
}

static void put(uint32_t *slot, uint32_t cap, uint32_t hash, uint32_t number)
{
	while (slot[hash & (cap - 1)])
		hash++;
	slot[hash & (cap - 1)] = number + 1;
}

static struct lock *lock_of(struct locks *locks, const void *trace, int64_t pid, uint64_t address)
{
	struct lock lock = { .trace = trace, .pid = pid, .address = address, .same = locks->nr };
	const struct lock *old;
	uint32_t at, i;

	if (locks->nr == locks->cap) {
		locks->cap = locks->cap ? locks->cap * 2 : 64;
		locks->cap_slots = locks->cap * 2;
		locks->lock = needed(realloc(locks->lock, locks->cap * sizeof(lock)));
		free(locks->slot);
		locks->slot = needed(calloc(locks->cap_slots, sizeof(uint32_t)));
		for (i = 0; i < locks->nr; i++)
			put(locks->slot, locks->cap_slots, hash_lock(&locks->lock[i]), i);
	}
	for (at = hash_lock(&lock); (i = locks->slot[at & (locks->cap_slots - 1)]); at++) {
		old = &locks->lock[i - 1];
		if (old->trace == trace && old->pid == pid && old->address == address)
			return &locks->lock[i - 1];
	}
	put(locks->slot, locks->cap_slots, hash_lock(&lock), locks->nr);
	locks->lock[locks->nr] = lock;
	return &locks->lock[locks->nr++];
}

/* Appends the functions of a stack below @node. Returns the innermost node. */
static uint32_t graft(struct calls *calls, uint32_t node, uint32_t stack)
{
	uint32_t depth = 0, at, *path;

	for (at = stack; at != CALLS_ROOT; at = calls->node[at].parent)
		depth++;
	path = needed(calloc(depth + 1, sizeof(*path)));
	depth = 0;
	for (at = stack; at != CALLS_ROOT; at = calls->node[at].parent)
		path[depth++] = at;
	while (depth-- > 0) {
		struct calls_frame frame = *calls_frame(calls, path[depth]);

		if (frame.kind != FRAME_PROCESS)
			node = calls_child(calls, node, &frame);
	}
	free(path);
	return node;
}

static struct lock_pair *pair_of(struct locks *locks, uint32_t lock, uint32_t waiter, uint32_t holder,
				 uint32_t comm)
{
	struct lock_pair pair = { .lock = lock, .waiter = waiter, .holder = holder, .holder_comm = comm };
	struct lock_pair *old;
	uint32_t at, i;

	if (locks->nr_pairs == locks->cap_pairs) {
		locks->cap_pairs = locks->cap_pairs ? locks->cap_pairs * 2 : 256;
		locks->cap_pair_slots = locks->cap_pairs * 2;
		locks->pair = needed(realloc(locks->pair, locks->cap_pairs * sizeof(pair)));
		free(locks->pair_slot);
		locks->pair_slot = needed(calloc(locks->cap_pair_slots, sizeof(uint32_t)));
		for (i = 0; i < locks->nr_pairs; i++)
			put(locks->pair_slot, locks->cap_pair_slots, hash_pair(&locks->pair[i]), i);
	}
	for (at = hash_pair(&pair); (i = locks->pair_slot[at & (locks->cap_pair_slots - 1)]); at++) {
		old = &locks->pair[i - 1];
		if (old->lock == lock && old->waiter == waiter && old->holder == holder &&
		    old->holder_comm == comm)
			return old;
	}
	put(locks->pair_slot, locks->cap_pair_slots, hash_pair(&pair), locks->nr_pairs);
	locks->pair[locks->nr_pairs] = pair;
	return &locks->pair[locks->nr_pairs++];
}

/* ------------------------------------------------------------ calls */

/* Makes room for one more release: drops those that came before all present waiters, or grows. */
static void make_room(struct lock *lock)
{
	uint32_t old = 0;

	while (!lock->merged && old < lock->nr && !lock->release[old].waiting)
		old++;
	lock->first += old;
	lock->nr -= old;
	if (old)
		memmove(lock->release, lock->release + old, lock->nr * sizeof(*lock->release));
	if (lock->nr < lock->cap / 2)
		return;		/* if less than half is free, this would soon be called again */
	lock->cap = lock->cap ? lock->cap * 2 : 16;
	lock->release = needed(realloc(lock->release, lock->cap * sizeof(*lock->release)));
}

void lock_released(struct locks *locks, const struct lock_call *call, int64_t time, uint32_t node,
		   uint32_t comm, uint32_t thread)
{
	struct lock *lock = &locks->lock[lock_number(locks, call->lock)];

	if (lock->nr == lock->cap)
		make_room(lock);
	lock->release[lock->nr++] = (struct lock_release){
		.time = time, .holder = node, .comm = comm, .thread = thread, .waiting = lock->newest,
	};
	lock->newest = 0;
}

/* Returns the index of the first release after @time. */
static uint32_t first_release(const struct lock *lock, int64_t time)
{
	return not_later(lock->release, lock->nr, sizeof(*lock->release), offsetof(struct lock_release, time),
			 time);
}

/* Whether the code of the innermost function is musl's. */
static bool is_musl(const struct calls *calls, uint32_t stack)
{
	return stack != CALLS_ROOT && strstr(calls_object(calls, stack), "musl");
}

/* Both numbers mean one lock from now on. */
static void merge(struct locks *locks, uint32_t a, uint32_t b)
{
	a = lock_number(locks, a);
	b = lock_number(locks, b);
	if (a == b)
		return;
	locks->lock[b].same = a;
	locks->lock[a].merged |= locks->lock[a].waiting || locks->lock[b].waiting;
	locks->lock[a].waiting += locks->lock[b].waiting;
	lock_kind_merge(&locks->lock[a].kind, &locks->lock[b].kind);
}

/* Makes one lock of both futexes of a lock for readers and writers. */
static void join(struct locks *locks, uint32_t number, enum wrapper by)
{
	const struct lock *lock = &locks->lock[number];
	const uint64_t offset = by == WRAPPER_READ || (by == WRAPPER_RWLOCK && !(lock->address & 4)) ? 4 : -4;
	const struct lock *second = lock_of(locks, lock->trace, lock->pid, lock->address + offset);
	const uint32_t other = (uint32_t)(second - locks->lock);

	merge(locks, offset == 4 ? number : other, offset == 4 ? other : number);
}

/* Takes a call that waits, or wakes. */
static void judge(struct locks *locks, const struct lock_call *call, const struct futex_call *futex,
		  const struct lock_event *event, struct wrappers *wrappers, const struct calls *calls)
{
	enum wrapper by = WRAPPER_UNKNOWN;

	if (call->operation == LOCK_WAKE)
		lock_kind_wake(&locks->lock[lock_number(locks, call->lock)].kind, futex, event->thread);
	if (call->operation != LOCK_WAIT)
		return;
	if (event->stack != CALLS_ROOT)
		by = wrappers_wait(wrappers, calls, event->stack);
	if (by >= WRAPPER_RWLOCK)
		join(locks, call->lock, by);
	lock_kind_wait(&locks->lock[lock_number(locks, call->lock)].kind, futex, by,
		       is_musl(calls, event->stack));
}

static enum lock_operation operation_of(int64_t operation)
{
	switch (operation & OP_MASK) {
	case OP_LOCK_PI:
	case OP_LOCK_PI2:
	case OP_WAIT:
	case OP_WAIT_BITSET:
	case OP_WAIT_REQUEUE_PI:
		return LOCK_WAIT;
	case OP_WAKE:
	case OP_REQUEUE:
	case OP_CMP_REQUEUE:
	case OP_WAKE_OP:
	case OP_UNLOCK_PI:
	case OP_WAKE_BITSET:
	case OP_CMP_REQUEUE_PI:
		return LOCK_WAKE;
	default:
		return LOCK_NONE;
	}
}

bool lock_entered(struct locks *locks, struct lock_call *call, const struct lock_event *event,
		  struct wrappers *wrappers, const struct calls *calls)
{
	int64_t address, value = -1, timeout = -1;
	struct futex_call futex;
	struct lock *lock;

	*call = (struct lock_call){ .operation = LOCK_NONE };
	if (!kunwind_field_integer(kunwind_event_field(event->event, "uaddr"), &address) ||
	    !kunwind_field_integer(kunwind_event_field(event->event, "op"), &futex.operation))
		return false;
	kunwind_field_integer(kunwind_event_field(event->event, "val"), &value);
	futex.value = (uint32_t)value;
	call->shared = !(futex.operation & OP_PRIVATE);
	call->operation = operation_of(futex.operation);
	if (call->operation == LOCK_WAIT)
		kunwind_field_integer(kunwind_event_field(event->event, "utime"), &timeout);
	futex.timeout = timeout;
	lock = lock_of(locks, event->trace, event->pid, (uint64_t)address);
	call->lock = (uint32_t)(lock - locks->lock);
	judge(locks, call, &futex, event, wrappers, calls);
	lock = &locks->lock[lock_number(locks, call->lock)];
	if (call->operation == LOCK_WAIT) {
		lock->waiting++;
		lock->newest++;
		call->since = lock->first + lock->nr;
	}
	if (call->operation != LOCK_WAKE)
		return false;
	lock->releases++;
	return lock->waiting && lock->kind.lock;
}

/* @since: number of the first release that the call could need. */
static void stop_waiting(struct lock *lock, uint64_t since)
{
	if (!--lock->waiting) {
		lock->first += lock->nr;
		lock->nr = lock->newest = 0;
		lock->merged = false;
	} else if (!lock->merged) {
		if (since - lock->first < lock->nr)
			lock->release[since - lock->first].waiting--;
		else
			lock->newest--;
	}
}

void lock_left(struct locks *locks, struct lock_call *call)
{
	if (call->operation == LOCK_WAIT)
		stop_waiting(&locks->lock[lock_number(locks, call->lock)], call->since);
	call->operation = LOCK_NONE;
}

uint32_t lock_number(const struct locks *locks, uint32_t number)
{
	while (locks->lock[number].same != number)
		number = locks->lock[number].same;
	return number;
}

/* ------------------------------------------------------------ waits */

void lock_note(char *note, size_t size, const char *holder)
{
	snprintf(note, size, "[lock held by %.40s]", holder);
}

/* Returns the node that has the weight of a pair: below the waiter's stack, and then the holder's. */
static uint32_t node_of(struct calls *calls, const struct lock_pair *pair)
{
	uint32_t node;
	char note[LOCK_NOTE];

	lock_note(note, sizeof(note), pair->holder_comm ? calls->string[pair->holder_comm] : "?");
	node = calls_node(calls, pair->waiter, FRAME_LOCK, note, "");
	return calls_node(calls, graft(calls, node, pair->holder), FRAME_WHAT, "futex", "lock");
}

/* Adds the time from @from until @until to those in which the releasing thread held the lock. */
static void held(struct locks *locks, struct calls *calls, uint32_t lock, const struct sample *sample,
		 const struct lock_release *by, int64_t from, int64_t until)
{
	uint32_t waiter = calls->node[sample->node].parent;
	struct lock_pair *pair = pair_of(locks, lock, waiter, by->holder, by->comm);

	pair->time += until - from;
	pair->times++;
	if (!locks->lock[lock].kind.lock)
		return;
	if (pair->node == CALLS_ROOT)
		pair->node = node_of(calls, pair);
	calls->node[pair->node].self[WEIGHT_LOCK] += until - from;
	if (locks->nr_holds == locks->cap_holds) {
		locks->cap_holds = locks->cap_holds ? locks->cap_holds * 2 : 16;
		locks->hold = needed(realloc(locks->hold, locks->cap_holds * sizeof(*locks->hold)));
	}
	locks->hold[locks->nr_holds++] = (struct lock_hold){
		.begin = from, .ns = until - from, .node = pair->node,
		.pair = (uint32_t)(pair - locks->pair), .thread = by->thread,
	};
}

void lock_waited(struct locks *locks, struct calls *calls, const struct lock_call *call,
		 struct sample *sample, const struct lock_call *waker)
{
	const struct sample_waker *by = sample->waker;
	struct lock_release last;
	int64_t from = sample->begin, until, next, blocked;
	uint32_t number, i;
	struct lock *lock;

	if (waker && waker->operation == LOCK_WAKE && waker->shared && call->shared &&
	    locks->lock[waker->lock].pid != locks->lock[call->lock].pid)
		merge(locks, waker->lock, call->lock);
	number = lock_number(locks, call->lock);
	lock = &locks->lock[number];
	if (!by || by->interrupt || (waker && waker->operation != LOCK_WAKE)) {
		lock->others++;
		lock->other_time += sample->duration;
		return;
	}
	locks->nr_holds = 0;
	until = by->time;
	last = (struct lock_release){
		.time = until, .holder = by->node, .comm = by->comm, .thread = by->thread,
	};
	for (i = first_release(lock, from); i < lock->nr && lock->release[i].time <= until; i++) {
		/* the last release is the wakeup, which comes a little after its entry */
		next = i + 1 < lock->nr && lock->release[i + 1].time <= until ?
			lock->release[i].time : until;
		held(locks, calls, number, sample, &lock->release[i], from, next);
		from = next;
	}
	if (from < until)
		held(locks, calls, number, sample, &last, from, until);
	sample->hold = locks->hold;
	sample->nr_holds = locks->nr_holds;
	lock = &locks->lock[number];
	blocked = until - sample->begin;
	lock_kind_waited(&lock->kind, sample->thread);
	lock->waits++;
	lock->time += blocked;
	lock->latency += sample->duration - blocked;
	if (blocked > lock->longest)
		lock->longest = blocked;
}

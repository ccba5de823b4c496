// SPDX-License-Identifier: GPL-2.0-only
/*
 * request_limit.c - limit how often the walks of a task make a request
 *
 * A walk that could not read something makes a request. A task work of the
 * task then brings in what the walk missed (fault_in.c).
 *
 * A task that runs a task work of this module (fault_in.c, mm_hooks.c) makes no
 * request, because otherwise a traced task work could cause the next one. The
 * result of the task work decides when the task may make the next request:
 *   - A part of a table was built: at once, because each part is built once.
 *   - A page was faulted in, or the byte under a breakpoint was found: after
 *     one jiffy.
 *   - Otherwise, the request was in vain: after 1 jiffy, then 2, 4 and so on,
 *     up to a second, until a later request achieves something.
 *
 * Memory: 8 KB. kunwind_request_limit_begin() runs in any context, NMI
 * included; all other functions run in the task itself.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

#include "request_limit.h"

#define GROUP_BITS	7
#define GROUP		8	/* slots that a task may use: one cache line */
#define OFTEN		4
#define MAX_SHIFT	10	/* 2^10 jiffies are at least a second with every HZ */

/*
 * The limit of a task is one word, so that the task and the NMIs that hit it
 * can change it without a lock:
 *   bits 0-31	the task may make no request before this jiffy; while it runs a
 *		task work of this module: the jiffy when the work began, or a
 *		later one
 *   bits 32-53	the task's pid in the initial namespace; 0: the slot is free
 *   bits 54-57	log2 of the jiffies to wait after the next request in vain
 *   bit 58	the task runs a task work of this module (own work)
 * Only the task itself changes its word, with two exceptions. Another task may
 * take over a word whose time has passed (if bit 58 is set: more than a second
 * ago; the task work then waits for a lock, and its task makes no request). If
 * all slots of a group are in use, another task may take over the word of a
 * task that has made OFTEN or more requests in vain in a row, or of one whose
 * request has not run yet: the task may sleep for hours before it does.
 * (fault_in.c allows one request for each task at a time, whatever is here.)
 */
#define LIMIT_PID_SHIFT		32
#define LIMIT_PID		GENMASK_ULL(53, 32)
#define LIMIT_SHIFT_SHIFT	54
#define LIMIT_SHIFT		GENMASK_ULL(57, 54)
#define LIMIT_OWN		BIT_ULL(58)

static u64 limits[1 << GROUP_BITS][GROUP] ____cacheline_aligned;
static atomic64_t nr_refused;

static __always_inline u64 limit_pid(void)
{
	return (u64)(u32)current->pid << LIMIT_PID_SHIFT;
}

static __always_inline u32 limit_shift(u64 limit)
{
	return (limit & LIMIT_SHIFT) >> LIMIT_SHIFT_SHIFT;
}

/* No valid time is more than a second ahead: a later one has long passed. */
static __always_inline bool limit_waits(u64 limit, u32 now)
{
	return (u32)limit - now - 1 < HZ;
}

/* Returns how readily another task may take over the slot; 0: not at all. */
static __always_inline u64 limit_reusable(u64 limit, u32 now)
{
	if (!limit)
		return U64_MAX;
	if (limit_waits(limit, now)) {
		if (limit & LIMIT_OWN)
			return 0;
		if (limit_shift(limit) >= OFTEN)
			return limit_shift(limit);
		/* No task waits that long after so few requests in vain: the request has not run. */
		return (u32)limit - now > 1U << OFTEN;
	}
	if ((limit & LIMIT_OWN) && now - (u32)limit <= HZ)
		return 0;
	return (u64)(now - (u32)limit) + 1 + MAX_SHIFT;
}

/*
 * Returns the slot of the current task, or one that the task may take over,
 * with its content in *@limit. NULL: all slots of the task's group are in use.
 */
static __always_inline u64 *limit_find(u32 now, u64 *limit)
{
	u64 *group = limits[hash_32((u32)current->pid, GROUP_BITS)], *slot = NULL;
	u64 most = 0;
	unsigned int i;

	for (i = 0; i < GROUP; i++) {
		u64 here = READ_ONCE(group[i]), reusable;

		if ((here & LIMIT_PID) == limit_pid()) {
			*limit = here;
			return &group[i];
		}
		reusable = limit_reusable(here, now);
		if (reusable > most) {
			most = reusable;
			slot = &group[i];
			*limit = here;
		}
	}
	return slot;
}

bool notrace kunwind_request_limit_begin(void)
{
	const u32 now = (u32)jiffies;
	u64 limit, *slot = limit_find(now, &limit);
	u64 shift = 0;

	if (slot && (limit & LIMIT_PID) == limit_pid()) {
		if (limit & LIMIT_OWN || limit_waits(limit, now))
			return false;
		shift = limit & LIMIT_SHIFT;
	}
	if (slot && cmpxchg(slot, limit, limit_pid() | shift | (u32)(now + HZ)) == limit)
		return true;
	atomic64_inc(&nr_refused);
	return false;
}

bool notrace kunwind_request_limit_own_begin(void)
{
	unsigned int tries;

	for (tries = 0; tries < GROUP; tries++) {
		u32 now = (u32)jiffies;
		u64 limit, new, *slot = limit_find(now, &limit);

		if (!slot)
			break;
		if ((limit & LIMIT_PID) != limit_pid())
			new = limit_pid() | LIMIT_OWN | now;
		else if (limit_waits(limit, now))
			new = limit | LIMIT_OWN;
		else
			new = limit_pid() | (limit & LIMIT_SHIFT) | LIMIT_OWN | now;
		if (cmpxchg(slot, limit, new) == limit)
			return true;
	}
	atomic64_inc(&nr_refused);
	return false;
}

/*
 * Ends own work. The task may make no request before the jiffy @until. @shift
 * is log2 of the jiffies to wait after the next request in vain.
 */
static __always_inline void own_end(u32 until, u64 shift)
{
	u64 limit, *slot = limit_find((u32)jiffies, &limit);

	/* Other tasks change the word only to take it over. */
	if (slot && (limit & LIMIT_PID) == limit_pid())
		cmpxchg(slot, limit, limit_pid() | shift << LIMIT_SHIFT_SHIFT | until);
}

void notrace kunwind_request_limit_own_end(void)
{
	u64 limit, *slot = limit_find((u32)jiffies, &limit);

	if (slot && (limit & LIMIT_PID) == limit_pid())
		cmpxchg(slot, limit, limit & ~LIMIT_OWN);
}

void kunwind_request_limit_end(enum kunwind_request_limit_result result)
{
	u64 limit, *slot = limit_find((u32)jiffies, &limit);
	u32 shift = 0;

	if (result == KUNWIND_REQUEST_VAIN && slot && (limit & LIMIT_PID) == limit_pid())
		shift = limit_shift(limit);
	switch (result) {
	case KUNWIND_REQUEST_THERE:
		own_end((u32)jiffies, 0);
		break;
	case KUNWIND_REQUEST_HELPED:
		own_end((u32)jiffies + 1, 0);
		break;
	case KUNWIND_REQUEST_VAIN:
		own_end((u32)jiffies + min(1U << shift, (u32)HZ), min(shift + 1U, (u32)MAX_SHIFT));
		break;
	}
}

u64 kunwind_request_limit_refused(void)
{
	return atomic64_read(&nr_refused);
}

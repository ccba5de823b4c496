// SPDX-License-Identifier: GPL-2.0-only
/*
 * request_limit.c - when a task may make a request of a walk (fault_in.c)
 *
 * A task in a task work of this module (fault_in.c, mm_hooks.c) makes no
 * request, so that no task work causes itself when it is traced. The result of
 * the task work decides when the task may make a request again. If the part of
 * a table is built: at once, because each part is built once. If a page was
 * faulted in, or the byte under a breakpoint found: after one jiffy. Otherwise:
 * after 1 jiffy, then 2, 4 and so on, up to a second, until a later request
 * achieves something.
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
#define GROUP		8	/* claims that a task may use: one cache line */
#define OFTEN		4
#define MAX_SHIFT	10	/* 2^10 jiffies are at least a second with every HZ */

/*
 * The claim of a task is one word, so that the task and the NMIs that hit it
 * can change it without a lock:
 *   bits 0-31	jiffy up to which the task may make no request; during work of
 *		this module: the jiffy when the work began, or a later one
 *   bits 32-53	the task's pid in the initial namespace; 0: the place is free
 *   bits 54-57	log2 of the jiffies to wait after the next request in vain
 *   bit 58	the task is in work of this module
 * Only the task itself changes its word, with two exceptions. Another task may
 * take over a word whose time has passed (if bit 58 is set: more than a second
 * ago; the task in work then waits for a lock, and makes no request). If all
 * places of a group are in use, another task may take over the word of a task
 * that has made OFTEN or more requests in vain.
 */
#define CLAIM_PID_SHIFT		32
#define CLAIM_PID		GENMASK_ULL(53, 32)
#define CLAIM_SHIFT_SHIFT	54
#define CLAIM_SHIFT		GENMASK_ULL(57, 54)
#define CLAIM_OWN		BIT_ULL(58)

static u64 claims[1 << GROUP_BITS][GROUP] ____cacheline_aligned;
static atomic64_t nr_refused;

static __always_inline u64 claim_pid(void)
{
	return (u64)(u32)current->pid << CLAIM_PID_SHIFT;
}

static __always_inline u32 claim_shift(u64 claim)
{
	return (claim & CLAIM_SHIFT) >> CLAIM_SHIFT_SHIFT;
}

/* No valid time is more than a second ahead: a later one has long passed. */
static __always_inline bool claim_waits(u64 claim, u32 now)
{
	return (u32)claim - now - 1 < HZ;
}

/* Returns how readily a place is given to another task; 0: not at all. */
static __always_inline u64 claim_surplus(u64 claim, u32 now)
{
	if (!claim)
		return U64_MAX;
	if (claim_waits(claim, now)) {
		if ((claim & CLAIM_OWN) || claim_shift(claim) < OFTEN)
			return 0;
		return claim_shift(claim);
	}
	if ((claim & CLAIM_OWN) && now - (u32)claim <= HZ)
		return 0;
	return (u64)(now - (u32)claim) + 1 + MAX_SHIFT;
}

/*
 * Returns the place of the current task, or one that the task may take over,
 * with its content in *@claim. NULL: all places of the task's group are in use.
 */
static __always_inline u64 *claim_find(u32 now, u64 *claim)
{
	u64 *group = claims[hash_32((u32)current->pid, GROUP_BITS)], *place = NULL;
	u64 most = 0;
	unsigned int i;

	for (i = 0; i < GROUP; i++) {
		u64 here = READ_ONCE(group[i]), surplus;

		if ((here & CLAIM_PID) == claim_pid()) {
			*claim = here;
			return &group[i];
		}
		surplus = claim_surplus(here, now);
		if (surplus > most) {
			most = surplus;
			place = &group[i];
			*claim = here;
		}
	}
	return place;
}

bool notrace kunwind_request_limit_begin(void)
{
	const u32 now = (u32)jiffies;
	u64 claim, *place = claim_find(now, &claim);
	u64 shift = 0;

	if (!place)
		return false;
	if ((claim & CLAIM_PID) == claim_pid()) {
		if (claim & CLAIM_OWN || claim_waits(claim, now))
			return false;
		shift = claim & CLAIM_SHIFT;
	}
	return cmpxchg(place, claim, claim_pid() | shift | (u32)(now + HZ)) == claim;
}

bool notrace kunwind_request_limit_own_begin(void)
{
	unsigned int tries;

	for (tries = 0; tries < GROUP; tries++) {
		u32 now = (u32)jiffies;
		u64 claim, new, *place = claim_find(now, &claim);

		if (!place)
			break;
		if ((claim & CLAIM_PID) != claim_pid())
			new = claim_pid() | CLAIM_OWN | now;
		else if (claim_waits(claim, now))
			new = claim | CLAIM_OWN;
		else
			new = claim_pid() | (claim & CLAIM_SHIFT) | CLAIM_OWN | now;
		if (cmpxchg(place, claim, new) == claim)
			return true;
	}
	atomic64_inc(&nr_refused);
	return false;
}

/*
 * Ends own work. The task may make no request before the jiffy @until. @shift
 * is the new claim's.
 */
static __always_inline void own_end(u32 until, u64 shift)
{
	u64 claim, *place = claim_find((u32)jiffies, &claim);

	/* Other tasks change the word only to take it over. */
	if (place && (claim & CLAIM_PID) == claim_pid())
		cmpxchg(place, claim, claim_pid() | shift << CLAIM_SHIFT_SHIFT | until);
}

void notrace kunwind_request_limit_own_end(void)
{
	u64 claim, *place = claim_find((u32)jiffies, &claim);

	if (place && (claim & CLAIM_PID) == claim_pid())
		cmpxchg(place, claim, claim & ~CLAIM_OWN);
}

void kunwind_request_limit_end(enum kunwind_request_limit_result result)
{
	u64 claim, *place = claim_find((u32)jiffies, &claim);
	u32 shift = 0;

	if (result == KUNWIND_REQUEST_VAIN && place && (claim & CLAIM_PID) == claim_pid())
		shift = claim_shift(claim);
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

u64 kunwind_claims_refused(void)
{
	return atomic64_read(&nr_refused);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * call_times.c - when each task began the system call that it is in
 *
 * A hash by task, without locks: only the task itself writes and reads its
 * entry, so tasks compete only for free entries. A bucket is two cache lines. A
 * task whose bucket is full is not timed in that call.
 *
 * Memory: 512 KB, for 32,768 tasks that are in a system call at the same time.
 * Buckets fill up unevenly, so from some 16,000 on a few calls are not measured.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/slab.h>

#include "call_times.h"

#define BUCKET_BITS	12
#define WAYS		8

struct kunwind_call_times {
	struct {
		const void *task;	/* NULL: free */
		u64 began;
	} call[1 << BUCKET_BITS][WAYS];
};

struct kunwind_call_times *kunwind_call_times_alloc(void)
{
	return kvzalloc(sizeof(struct kunwind_call_times), GFP_KERNEL | __GFP_NOWARN);
}

void kunwind_call_times_free(struct kunwind_call_times *times)
{
	kvfree(times);
}

/* Returns the task's way in the bucket; WAYS: it has none. */
static notrace u32 find(const struct kunwind_call_times *times, u32 bucket, const void *task)
{
	u32 way;

	for (way = 0; way < WAYS; way++)
		if (READ_ONCE(times->call[bucket][way].task) == task)
			break;
	return way;
}

bool notrace kunwind_call_times_begin(struct kunwind_call_times *times, const void *task, u64 now)
{
	u32 bucket = hash_ptr(task, BUCKET_BITS);
	u32 way = find(times, bucket, task);

	if (way == WAYS) {
		for (way = 0; way < WAYS; way++)
			if (!READ_ONCE(times->call[bucket][way].task) &&
			    !cmpxchg(&times->call[bucket][way].task, NULL, task))
				break;
		if (way == WAYS)
			return false;
	}
	times->call[bucket][way].began = now;
	return true;
}

bool notrace kunwind_call_times_end(struct kunwind_call_times *times, const void *task, u64 *began)
{
	u32 bucket = hash_ptr(task, BUCKET_BITS);
	u32 way = find(times, bucket, task);

	if (way == WAYS)
		return false;
	*began = times->call[bucket][way].began;
	smp_store_release(&times->call[bucket][way].task, NULL);
	return true;
}

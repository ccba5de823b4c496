// SPDX-License-Identifier: MIT
/*
 * defined.c - which stacks an event of a buffer has explained lately
 *
 * A reader needs the string of each identifier. Packets may be lost, a snapshot has only the last
 * ones, and a rotation begins a new trace. So a string holds for one second or 64 KB of a buffer;
 * then the next event with the identifier has a string again. Only record() notes a string: an
 * event that LTTng-UST discards after size() has explained nothing.
 *
 * LTTng-UST has a buffer for each channel and processor, so there is a table for both. The padding
 * of struct ust_context holds the channel's number: a later channel may have the same address, and
 * calloc() has cleared the padding. Tables are shared by channels and by identifiers whose numbers
 * collide, and by processors from the 64th on. Then there are more strings than needed, never
 * fewer. The same holds if a thread moves to another processor between size() and record(), except
 * that the string may then be in the buffer of the former one.
 *
 * After a fork, the child's random key is another one, and no string has been written: the kernel
 * clears both (MADV_WIPEONFORK), however the child was made. A child of vfork() shares its
 * parent's.
 *
 * Memory: 2.1 MB of address space, of which 8 KB for each channel and processor that is used.
 */
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18
#endif

#define CHANNELS	4
#define PROCESSORS	64
#define SLOTS		1024
#define HOLDS_NS	1000000000ULL
#define HOLDS_BYTES	65536

static struct wiped {
	u64 key;
	struct buffer {
		u64 turn;		/* number of the channel, and of the turn, 32 bits each */
		u64 begun;		/* nanoseconds */
		u64 bytes;
		u64 slot[SLOTS];	/* turn and identifier, 32 bits each */
	} buffer[CHANNELS][PROCESSORS];
} *wiped;
static u32 nr_channels, nr_turns;	/* not cleared: a child's are new, too */

int ust_defined_init(void)
{
	void *memory = mmap(NULL, sizeof(*wiped), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	if (madvise(memory, sizeof(*wiped), MADV_WIPEONFORK)) {
		munmap(memory, sizeof(*wiped));
		return -ENOMEM;
	}
	wiped = (struct wiped *)memory;
	return 0;
}

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

u64 ust_defined_key(void)
{
	u64 key = READ_ONCE(wiped->key), none = 0;

	if (likely(key))
		return key;
	/* getrandom() may cancel the thread. Without it: what differs between processes at one time. */
	if (syscall(SYS_getrandom, &key, sizeof(key), 1 /* GRND_NONBLOCK */) != sizeof(key))
		key = (now_ns() ^ (u64)getpid() << 40) * 0x9e3779b97f4a7c15ULL;
	key |= 1ULL << 63;
	key &= -1ULL << UST_ID_BITS;
	return __atomic_compare_exchange_n(&wiped->key, &none, key, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED) ? key : none;
}

static u32 channel_of(struct ust_context *context)
{
	u32 channel = READ_ONCE(context->unused), none = 0;

	if (likely(channel))
		return channel;
	channel = __atomic_add_fetch(&nr_channels, 1, __ATOMIC_RELAXED);
	return __atomic_compare_exchange_n(&context->unused, &none, channel, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED) ? channel : none;
}

static struct buffer *buffer_of(u32 channel)
{
	const int processor = sched_getcpu();

	return &wiped->buffer[channel % CHANNELS][processor < 0 ? 0 : processor % PROCESSORS];
}

/* Whether what the buffer's slots say still holds. */
static bool holds(const struct buffer *buffer, u32 channel, u64 turn)
{
	return turn >> 32 == channel && READ_ONCE(buffer->bytes) < HOLDS_BYTES &&
	       now_ns() - READ_ONCE(buffer->begun) < HOLDS_NS;
}

bool ust_defined(struct ust_context *context, u32 id)
{
	const u32 channel = channel_of(context);
	const struct buffer *buffer = buffer_of(channel);
	const u64 turn = READ_ONCE(buffer->turn);

	return READ_ONCE(buffer->slot[id % SLOTS]) == (turn << 32 | id) && holds(buffer, channel, turn);
}

void ust_defined_add(struct ust_context *context, u32 id, size_t bytes)
{
	const u32 channel = channel_of(context);
	struct buffer *buffer = buffer_of(channel);
	u64 turn = READ_ONCE(buffer->turn);

	if (id && !holds(buffer, channel, turn)) {
		turn = (u64)channel << 32 | __atomic_add_fetch(&nr_turns, 1, __ATOMIC_RELAXED);
		WRITE_ONCE(buffer->bytes, 0);
		WRITE_ONCE(buffer->begun, now_ns());
		WRITE_ONCE(buffer->turn, turn);
	}
	WRITE_ONCE(buffer->bytes, READ_ONCE(buffer->bytes) + bytes);
	if (id)
		WRITE_ONCE(buffer->slot[id % SLOTS], turn << 32 | id);
}

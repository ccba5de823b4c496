// SPDX-License-Identifier: MIT
/*
 * stack_ids.c - a number for each stack of the process
 *
 * Stacks are only added, and never change, so readers need no lock. A hash table finds them;
 * their addresses are compared. A writer fills its stack in first, and then claims a free slot of
 * the table by compare-and-exchange. If another thread, or a signal handler, was faster, its stack
 * is compared, too.
 *
 * Memory: 17 MB of address space, of which only what is used is ever touched: for a stack of 20
 * frames some 200 bytes. Up to 131,071 stacks, or 2 million frames.
 */
#include <errno.h>
#include <sys/mman.h>

#include "internal.h"

#define IDS		(1U << UST_ID_BITS)
#define SLOTS		(2 * IDS)
#define WORDS		(1U << 21)
#define PROBES		64		/* slots that a lookup looks at */
#define HEAD		(sizeof(struct ust_stack) / sizeof(u64))

static struct table {
	u32 slot[SLOTS];		/* number of a stack; 0: free */
	struct entry {
		u32 hash;
		u32 at;			/* in words[] */
	} entry[IDS];
	u64 words[WORDS];		/* of struct ust_stack */
} *table;
static u32 nr_ids, nr_words;

int ust_ids_init(void)
{
	void *memory = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	table = (struct table *)memory;
	return 0;
}

const struct ust_stack *ust_ids_stack(u32 id)
{
	return (const struct ust_stack *)&table->words[table->entry[id].at];
}

static u32 hash_of(const u64 *address, u32 nr, u64 reason)
{
	const u64 odd = 0x9e3779b97f4a7c15ULL;
	u64 a = nr, b = reason;
	u32 i;

	/* two chains of multiplications, which a processor does at the same time */
	for (i = 0; i + 1 < nr; i += 2) {
		a = (a ^ address[i]) * odd;
		b = (b ^ address[i + 1]) * odd;
		a ^= a >> 32;
		b ^= b >> 32;
	}
	if (i < nr)
		a = (a ^ address[i]) * odd;
	return (u32)(((a ^ (b << 1)) * odd) >> 32);
}

static bool same(u32 id, u32 hash, const u64 *address, u32 nr, u64 reason)
{
	const struct ust_stack *stack = ust_ids_stack(id);

	return table->entry[id].hash == hash && stack->nr == nr && stack->reason == reason &&
	       !memcmp(stack->address, address, nr * sizeof(*address));
}

/* " ADDRESS,ADDRESS,...[ REASON]" */
static u32 text_of(const u64 *address, u32 nr, u64 reason)
{
	u32 text = nr, i;

	for (i = 0; i < nr; i++)
		text += (67 - (u32)__builtin_clzll(address[i] | 1)) / 4;
	return text + (reason == KUNWIND_COMPLETE ? 0 :
		       1 + (u32)strlen(kunwind_reason_name((u32)reason)));
}

/* Adds *@counter, unless that would exceed @most. */
static bool take(u32 *counter, u32 add, u32 most, u32 *taken)
{
	u32 old = READ_ONCE(*counter);

	do {
		if (old > most - add)
			return false;
	} while (!__atomic_compare_exchange_n(counter, &old, old + add, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	*taken = old;
	return true;
}

/* Returns 0 if there is no room. */
static u32 make(u32 hash, const u64 *address, u32 nr, u64 reason)
{
	struct ust_stack *stack;
	u32 at, id;

	/* the words first: they run out sooner, and a number without words would be lost */
	if (!take(&nr_words, HEAD + nr, WORDS, &at) || !take(&nr_ids, 1, IDS - 1, &id))
		return 0;
	id++;
	stack = (struct ust_stack *)&table->words[at];
	stack->nr = nr;
	stack->reason = reason;
	stack->text = text_of(address, nr, reason);
	memcpy(stack->address, address, nr * sizeof(*address));
	table->entry[id] = (struct entry){ .hash = hash, .at = at };
	return id;
}

u32 ust_ids_get(const u64 *address, u32 nr, u64 reason)
{
	const u32 hash = hash_of(address, nr, reason);
	u32 mine = 0, i;

	for (i = 0; i < PROBES; i++) {
		u32 *slot = &table->slot[(hash + i) & (SLOTS - 1)];
		u32 id = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

		if (!id) {
			if (!mine)
				mine = make(hash, address, nr, reason);
			if (!mine)
				return 0;
			if (__atomic_compare_exchange_n(slot, &id, mine, false, __ATOMIC_RELEASE,
							__ATOMIC_ACQUIRE))
				return mine;
		}
		if (same(id, hash, address, nr, reason))
			return id;
	}
	return 0;
}

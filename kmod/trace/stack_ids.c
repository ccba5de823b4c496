// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_ids.c - number the stacks of kunwind_callstack_whole
 *
 * A program has few different stacks at its system calls. So that a trace does
 * not hold the same addresses again and again, equal stacks get the same id,
 * and only some events hold the addresses: they define the id. Stacks are equal
 * if all members are: process, thread and its name, system call, reason, addresses,
 * trust.
 *
 * Stacks that differ often differ only in their inner frames. So a definition
 * holds only the inner frames. The outer frames are those of a base: the last
 * defined stack of the same process, thread, system call and reason. Therefore a
 * filter by any of these fields keeps the definitions of the events that it
 * keeps.
 *
 * Each CPU has a table of its own, so that a definition is in the same stream
 * of the trace as the events that need it, and before them. The addresses of
 * the CPU's last stacks are in a ring of words; a hash finds them, and all words
 * are compared. An id never gets a second meaning while the module is loaded.
 *
 * An event defines its id again after KUNWIND_REDEFINE_BYTES of events of this
 * CPU, after a second, or after kunwind_stack_restart(), whichever comes first.
 * The time and the bytes count from the oldest definition that the stack needs:
 * its own, its base's, that of its base's base, and so on. So a reader can use
 * a trace whose beginning is missing (a snapshot, a rotated trace) or that has
 * lost packets.
 *
 * Memory: 84 KB for each CPU while the event is on. An interrupt that comes
 * while its CPU's table is in use does not use it: its event defines a new id.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>

#include "../uapi/kunwind.h"
#include "stack_ids.h"

#define RING_WORDS		8192U		/* a power of two */
#define MOST_WORDS		(RING_WORDS / 8)	/* longer stacks are not kept */
#define SLOT_BITS		9
#define LAST_BITS		7
#define FEWEST_SHARED		2U	/* a base makes the next definition come earlier */
#define KUNWIND_REDEFINE_BYTES	65536U
#define CPU_SHIFT		KUNWIND_STACK_ID_BITS

/* Words before the addresses. */
enum { WHO, WHAT, NAME, HEAD_WORDS = NAME + TASK_COMM_LEN / sizeof(u64) };

/* When a stack was defined: the oldest definition that its last one needs. */
struct since {
	u64 bytes;			/* value of ->bytes */
	u32 when;			/* jiffies */
	u32 restarts;			/* value of restarts */
};

/* A stack that was defined. id is 0: the slot is free. */
struct slot {
	u64 id;
	u64 at;				/* position of the stack in the ring */
	struct since since;
	u32 hash;
};

struct kunwind_stack_ids {
	bool busy;
	u64 first_id;
	u64 bytes;			/* of events, since the event is on */
	u64 head;			/* where the next stack goes; never wraps */
	struct slot slot[1 << SLOT_BITS];
	u16 last[1 << LAST_BITS];	/* slot of the last definition, by hash of head words */
	u64 ring[RING_WORDS];
};

static DEFINE_PER_CPU(u64, numbered);
static u32 restarts;

void kunwind_stack_restart(void)
{
	WRITE_ONCE(restarts, READ_ONCE(restarts) + 1);
}
EXPORT_SYMBOL_GPL(kunwind_stack_restart);

static notrace u32 words_of(const struct kunwind_stack *stack)
{
	return HEAD_WORDS + stack->count + DIV_ROUND_UP(stack->count, sizeof(u64));
}

static notrace u64 who(const struct kunwind_stack *stack)
{
	return (u64)(u32)stack->tgid << 32 | (u32)stack->tid;
}

#define COUNT_BITS		16
static notrace u64 what(const struct kunwind_stack *stack)
{
	return (u64)(u32)stack->syscall << 32 | stack->reason << COUNT_BITS | stack->count;
}

/*
 * Like FNV-1a, but takes a word at a time and multiplies by GOLDEN_RATIO_64.
 * The upper half depends on all bits of all words. If the hashes of more than
 * two stacks select the same two slots, the stacks replace each other there,
 * and are defined more often.
 */
static notrace u32 hash_of(const struct kunwind_stack *stack)
{
	u64 hash = (u32)(stack->tid ^ stack->syscall);
	u32 i;

	for (i = 0; i < stack->count; i++)
		hash = (hash ^ stack->addresses[i]) * GOLDEN_RATIO_64;
	return hash >> 32;
}

static notrace bool equal(const u64 *kept, const struct kunwind_stack *stack)
{
	return kept[WHO] == who(stack) && kept[WHAT] == what(stack) &&
	       !memcmp(kept + NAME, stack->comm, sizeof(stack->comm)) &&
	       !memcmp(kept + HEAD_WORDS, stack->addresses, stack->count * sizeof(u64)) &&
	       !memcmp(kept + HEAD_WORDS + stack->count, stack->trust, stack->count);
}

/* Returns the words of a slot's stack; NULL: no stack, or its words were overwritten. */
static notrace const u64 *kept_words(const struct kunwind_stack_ids *ids, const struct slot *slot)
{
	return slot->id && ids->head - slot->at <= RING_WORDS ?
		       &ids->ring[slot->at & (RING_WORDS - 1)] : NULL;
}

/* Returns the slot of this stack; NULL: it is not in the table. */
static notrace struct slot *find(struct kunwind_stack_ids *ids, const struct kunwind_stack *stack,
				 u32 hash)
{
	u32 way;

	for (way = 0; way < 2; way++) {
		struct slot *slot = &ids->slot[(hash >> (32 - SLOT_BITS)) ^ way];
		const u64 *kept = kept_words(ids, slot);

		if (kept && slot->hash == hash && equal(kept, stack))
			return slot;
	}
	return NULL;
}

/* Writes the stack to the ring. Returns its slot, the older of two. */
static notrace struct slot *keep(struct kunwind_stack_ids *ids, const struct kunwind_stack *stack,
				 u32 hash)
{
	struct slot *slot = &ids->slot[hash >> (32 - SLOT_BITS)];
	struct slot *other = &ids->slot[(hash >> (32 - SLOT_BITS)) ^ 1];
	u32 words = words_of(stack), at = ids->head & (RING_WORDS - 1);
	u64 *to;

	if (other->at < slot->at)
		slot = other;
	/* A stack does not wrap around the end of the ring. */
	if (at + words > RING_WORDS)
		ids->head += RING_WORDS - at;
	slot->at = ids->head;
	slot->hash = hash;
	to = &ids->ring[slot->at & (RING_WORDS - 1)];
	to[WHO] = who(stack);
	to[WHAT] = what(stack);
	memcpy(to + NAME, stack->comm, sizeof(stack->comm));
	memcpy(to + HEAD_WORDS, stack->addresses, stack->count * sizeof(u64));
	memcpy(to + HEAD_WORDS + stack->count, stack->trust, stack->count);
	ids->head += words;
	return slot;
}

static notrace bool is_recent(const struct since *since, const struct since *now)
{
	return since->restarts == now->restarts && now->when - since->when < HZ &&
	       now->bytes - since->bytes < KUNWIND_REDEFINE_BYTES;
}

static notrace u64 next_id(const struct kunwind_stack_ids *ids)
{
	return ids->first_id | this_cpu_inc_return(numbered);
}

/*
 * Returns how many outermost frames are equal. The innermost frame of @stack does
 * not count, so that each definition holds an address.
 */
static notrace u32 equal_frames(const u64 *kept, const struct kunwind_stack *stack)
{
	const u32 nr = kept[WHAT] & ((1 << COUNT_BITS) - 1), most = min(nr, stack->count - 1);
	const u64 *kept_address = kept + HEAD_WORDS + nr;
	const u8 *kept_trust = (const u8 *)kept_address + nr;
	const unsigned long *address = stack->addresses + stack->count;
	const u8 *trust = stack->trust + stack->count;
	u32 n;

	for (n = 0; n < most; n++)
		if (*--kept_address != *--address || *--kept_trust != *--trust)
			break;
	return n;
}

/* The event has to hold all frames of the stack. */
static notrace void define_alone(struct kunwind_stack *stack)
{
	stack->inner = stack->count;
	stack->shared = 0;
	stack->base = 0;
}

static notrace void set_trusts(struct kunwind_stack *stack)
{
	stack->trusts = stack->trust[0] == KUNWIND_TRUST_REGISTERS &&
			!memchr_inv(stack->trust + 1, KUNWIND_TRUST_CFI, stack->inner - 1) ?
				0 : stack->inner;
}

/*
 * Sets how many frames the event has to hold: all, or those that a base does
 * not have. @last: slot of the last definition with the same hash of process,
 * thread, system call and reason; it can be the base if these are equal. If
 * there is a base, @since becomes that of the base.
 */
static notrace void define(const struct kunwind_stack_ids *ids, const struct slot *last,
			   struct kunwind_stack *stack, struct since *since)
{
	const u64 *kept = kept_words(ids, last);
	const s64 base = last->id - stack->id;
	u32 shared;

	define_alone(stack);
	if (!kept || kept[WHO] != who(stack) || (kept[WHAT] ^ what(stack)) >> COUNT_BITS ||
	    base != (s32)base || !is_recent(&last->since, since))
		return;
	shared = equal_frames(kept, stack);
	if (shared < FEWEST_SHARED)
		return;
	stack->inner -= shared;
	stack->shared = shared;
	stack->base = base;
	*since = last->since;
}

/* Returns the slot of the stack. */
static notrace u32 number(struct kunwind_stack_ids *ids, struct kunwind_stack *stack)
{
	struct since since = { ids->bytes, (u32)jiffies, READ_ONCE(restarts) };
	u32 hash = hash_of(stack);
	struct slot *slot = find(ids, stack, hash);
	u16 *last = &ids->last[hash_64(who(stack) ^ what(stack) >> COUNT_BITS, LAST_BITS)];

	if (slot && is_recent(&slot->since, &since)) {
		stack->id = slot->id;
		stack->inner = stack->trusts = stack->shared = stack->base = 0;
		return slot - ids->slot;
	}
	stack->id = slot ? slot->id : next_id(ids);
	/* before the ring's words are overwritten */
	define(ids, &ids->slot[*last], stack, &since);
	set_trusts(stack);
	if (!slot) {
		slot = keep(ids, stack, hash);
		slot->id = stack->id;
	}
	slot->since = since;
	*last = slot - ids->slot;
	return *last;
}

/* Gives the stack an id that no other event uses. */
static notrace void number_alone(const struct kunwind_stack_ids *ids, struct kunwind_stack *stack)
{
	stack->id = next_id(ids);
	define_alone(stack);
	set_trusts(stack);
}

/* @defines: the event is emitted only if it defines the id. Returns the slot. */
static notrace u32 number_any(struct kunwind_stack_ids *ids, struct kunwind_stack *stack,
			      bool defines)
{
	/* what the tracer's own header and the fixed fields take, at most */
	const u32 event_bytes = 48;
	u32 slot = KUNWIND_NO_SLOT;

	if (READ_ONCE(ids->busy)) {
		number_alone(ids, stack);
		return slot;
	}
	WRITE_ONCE(ids->busy, true);
	barrier();
	if (words_of(stack) > MOST_WORDS)
		number_alone(ids, stack);
	else
		slot = number(ids, stack);
	if (stack->inner || !defines)
		ids->bytes += event_bytes + stack->inner * sizeof(u64) + stack->trusts;
	barrier();
	WRITE_ONCE(ids->busy, false);
	return slot;
}

void notrace kunwind_stack_ids_number(struct kunwind_stack_ids *ids, struct kunwind_stack *stack)
{
	number_any(ids, stack, false);
}

u32 notrace kunwind_stack_ids_define(struct kunwind_stack_ids *ids, struct kunwind_stack *stack)
{
	return number_any(ids, stack, true);
}

bool notrace kunwind_stack_ids_defined(const struct kunwind_stack_ids *ids, u32 number, u64 id)
{
	const struct since now = { ids->bytes, (u32)jiffies, READ_ONCE(restarts) };

	return number != KUNWIND_NO_SLOT && !READ_ONCE(ids->busy) && ids->slot[number].id == id &&
	       is_recent(&ids->slot[number].since, &now);
}

struct kunwind_stack_ids *kunwind_stack_ids_alloc(int cpu)
{
	struct kunwind_stack_ids *ids = kvzalloc_node(sizeof(*ids), GFP_KERNEL | __GFP_NOWARN,
						      cpu_to_node(cpu));

	BUILD_BUG_ON(sizeof(unsigned long) != sizeof(u64));
	if (ids) {
		ids->first_id = (u64)cpu << CPU_SHIFT;
		ids->head = RING_WORDS;		/* a free slot, at 0, is older than all others */
	}
	return ids;
}

void kunwind_stack_ids_free(struct kunwind_stack_ids *ids)
{
	kvfree(ids);
}

/* SPDX-License-Identifier: MIT */
/*
 * stack-reader.h - a reader of kunwind_callstack, which gets each stack from the
 * definitions that it has read
 *
 * Include it after kmod/trace/stack_ids.c. As a trace has one stream for each CPU,
 * a reader reads the events of one CPU.
 */
#ifndef _TEST_STACK_READER_H
#define _TEST_STACK_READER_H

#include <stdlib.h>
#include <string.h>

#define MOST_IDS	100000

/* Copies a stack, addresses and trust included. */
static struct kunwind_stack *copy_of(const struct kunwind_stack *stack)
{
	struct kunwind_stack *to = malloc(sizeof(*to) + stack->count * (sizeof(u64) + 1));
	unsigned long *addresses = (unsigned long *)(to + 1);

	*to = *stack;
	to->addresses = memcpy(addresses, stack->addresses, stack->count * sizeof(u64));
	to->trust = memcpy(addresses + stack->count, stack->trust, stack->count);
	return to;
}

static bool same_stack(const struct kunwind_stack *a, const struct kunwind_stack *b)
{
	return a->count == b->count && a->reason == b->reason && a->tgid == b->tgid &&
	       a->tid == b->tid && a->syscall == b->syscall &&
	       !memcmp(a->addresses, b->addresses, a->count * sizeof(*a->addresses)) &&
	       !memcmp(a->trust, b->trust, a->count);
}

struct reader {
	struct kunwind_stack *known[MOST_IDS];
	unsigned int right, wrong, unknown;
};

static struct kunwind_stack **place(struct reader *reader, u64 id)
{
	id &= (1ULL << CPU_SHIFT) - 1;
	if (!id || id >= MOST_IDS)
		abort();
	return &reader->known[id];
}

/* Puts the stack of a definition together. False: the reader does not know the base. */
static bool learn(struct reader *reader, const struct kunwind_stack *seen)
{
	static unsigned long addresses[KUNWIND_MAX_FRAMES];
	static u8 trust[KUNWIND_MAX_FRAMES];
	struct kunwind_stack stack = *seen, **to = place(reader, seen->id);
	const struct kunwind_stack *base = NULL;
	u32 i;

	if (stack.base) {
		base = *place(reader, stack.id + (u64)(s64)stack.base);
		if (!base)
			return false;
		if (stack.shared > base->count)
			abort();
	}
	stack.count = stack.inner + stack.shared;
	memcpy(addresses, seen->addresses, stack.inner * sizeof(*addresses));
	for (i = 0; i < stack.inner; i++)
		trust[i] = stack.trusts ? seen->trust[i] :
			   i ? KUNWIND_TRUST_CFI : KUNWIND_TRUST_REGISTERS;
	for (; i < stack.count; i++) {
		addresses[i] = base->addresses[base->count - stack.count + i];
		trust[i] = base->trust[base->count - stack.count + i];
	}
	stack.addresses = addresses;
	stack.trust = trust;
	free(*to);
	*to = copy_of(&stack);
	return true;
}

/* Uses only what the event holds; compares the result with the whole stack. */
static void read_event(struct reader *reader, const struct kunwind_stack *stack)
{
	const struct kunwind_stack *found;

	if (stack->inner)
		learn(reader, stack);
	else if (stack->trusts || stack->shared || stack->base)
		reader->wrong++;
	found = *place(reader, stack->id);
	if (!found)
		reader->unknown++;
	else if (same_stack(found, stack))
		reader->right++;
	else
		reader->wrong++;
}

static void forget(struct reader *reader)
{
	u32 i;

	for (i = 0; i < MOST_IDS; i++)
		free(reader->known[i]);
	memset(reader, 0, sizeof(*reader));
}

#endif /* _TEST_STACK_READER_H */

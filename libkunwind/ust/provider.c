// SPDX-License-Identifier: MIT
/*
 * provider.c - the context $app.kunwind:stack of events of LTTng-UST
 *
 * size() walks the stack and finds its number; record() writes. What record() has to write is in
 * the padding of the event's struct ust_probe, which is on the stack of the tracepoint: the number,
 * and whether to write its string. A stack of a number never changes. So both agree, whatever
 * signal handlers and other threads do in between, and nothing is left if LTTng-UST discards the
 * event.
 *
 * Any context: no lock, no allocation, no thread-local variable. A walk needs some 6 KB of stack,
 * 10 KB in code without CFI.
 */
#include "internal.h"

#define NEAR		128		/* frames that have room on the stack */
#define FAR		16		/* walks of deeper stacks at a time */
#define SKIPPED		8		/* frames of this library and LTTng-UST, at most */
#define STRING		(1U << 31)	/* in the padding, with the number of the stack */
#define CHUNK		256		/* of a string */

static struct far {
	u32 used;
	u64 address[UST_FRAMES];
} far[FAR];

static struct far *far_get(void)
{
	u32 i, none;

	for (i = 0; i < FAR; i++) {
		none = 0;
		if (!READ_ONCE(far[i].used) &&
		    __atomic_compare_exchange_n(&far[i].used, &none, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return &far[i];
	}
	return NULL;
}

static void far_put(struct far *stack)
{
	__atomic_store_n(&stack->used, 0, __ATOMIC_RELEASE);
}

/* The first frame is that of the tracepoint. If it is not known, those of LTTng-UST stay. */
static u32 skipped(const u64 *address, u32 nr, const struct ust_probe *probe)
{
	u32 i;

	for (i = 0; i < nr && i < SKIPPED; i++)
		if (address[i] == (u64)probe->ip)
			return i;
	return nr > 1 ? 1 : 0;
}

/* Deeper than NEAR frames, of which @near has the first ones. */
static u32 look_up_far(struct kunwind_stack_walk *walk, const u64 *near, u32 skip)
{
	struct far *stack = far_get();
	u32 nr = NEAR - skip, id;

	if (!stack)
		return ust_ids_get(near + skip, nr, KUNWIND_BUFFER_FULL);
	memcpy(stack->address, near + skip, nr * sizeof(*near));
	nr += (u32)kunwind_walk_addresses(walk, stack->address + nr, UST_FRAMES - nr);
	id = ust_ids_get(stack->address, nr, (u64)kunwind_walk_reason(walk));
	far_put(stack);
	return id;
}

/* The number of the calling thread's stack, or 0. */
static u32 look_up(const struct ust_probe *probe)
{
	struct kunwind_stack_walk walk;
	u64 address[NEAR];
	u32 nr, skip;

	kunwind_walk_begin_here(&walk, ust_unwinder);
	nr = (u32)kunwind_walk_addresses(&walk, address, NEAR);
	skip = skipped(address, nr, probe);
	if (unlikely(nr == NEAR))
		return look_up_far(&walk, address, skip);
	return ust_ids_get(address + skip, nr - skip, (u64)kunwind_walk_reason(&walk));
}

/* Other contexts of $app.kunwind have no value. */
static bool is_stack(const struct ust_context *context)
{
	static const char name[] = "$app.kunwind:stack";

	return !memcmp(context->name, name, sizeof(name));
}

static size_t size(void *data, struct ust_probe *probe, size_t offset)
{
	struct ust_context *context = (struct ust_context *)data;
	u32 id;

	(void)offset;
	if (!is_stack(context))
		return 1;
	id = look_up(probe);
	if (id && !ust_defined(context, id)) {
		probe->unused = id | STRING;
		return 1 + UST_DIGITS + ust_ids_stack(id)->text + 1;
	}
	probe->unused = id;
	return id ? 1 + sizeof(u64) : 1;
}

/* Writes a string of any length by pieces. */
struct ust_text {
	struct ust_output *output;
	const struct ust_output_ops *ops;
	u32 used;
	char bytes[CHUNK];
};

static void flush(struct ust_text *text)
{
	text->ops->write(text->output, text->bytes, text->used, 1);
	text->used = 0;
}

static void add_char(struct ust_text *text, char c)
{
	if (text->used == CHUNK)
		flush(text);
	text->bytes[text->used++] = c;
}

static void add_hex(struct ust_text *text, u64 value, u32 digits)
{
	while (digits--)
		add_char(text, "0123456789abcdef"[value >> 4 * digits & 15]);
}

static void write_string(struct ust_text *text, const struct ust_stack *stack, u64 identifier)
{
	const char *reason;
	u32 i;

	text->used = 0;
	add_hex(text, identifier, UST_DIGITS);
	for (i = 0; i < stack->nr; i++) {
		add_char(text, i ? ',' : ' ');
		add_hex(text, stack->address[i], (67 - (u32)__builtin_clzll(stack->address[i] | 1)) / 4);
	}
	if (stack->reason != KUNWIND_COMPLETE) {
		add_char(text, ' ');
		for (reason = kunwind_reason_name((u32)stack->reason); *reason; reason++)
			add_char(text, *reason);
	}
	add_char(text, '\0');
	flush(text);
}

static void record(void *data, struct ust_probe *probe, struct ust_output *output,
		   struct ust_channel *channel)
{
	struct ust_context *context = (struct ust_context *)data;
	const u32 word = is_stack(context) ? probe->unused : 0, id = word & ~STRING;
	const u64 identifier = id ? ust_defined_key() | id : 0;
	const char type = word & STRING ? UST_STRING : id ? UST_U64 : UST_NONE;
	struct ust_text text;
	size_t bytes = 1;

	channel->ops->write(output, &type, 1, 1);
	if (word & STRING) {
		text.output = output;
		text.ops = channel->ops;
		write_string(&text, ust_ids_stack(id), identifier);
		bytes += UST_DIGITS + ust_ids_stack(id)->text + 1;
	} else if (id) {
		channel->ops->write(output, &identifier, sizeof(identifier), 1);
		bytes += sizeof(identifier);
	}
	if (id)
		ust_defined_add(context, word & STRING ? id : 0, bytes + output->payload);
}

/* For filters. */
static void value(void *context, struct ust_probe *probe, struct ust_value *value)
{
	(void)context;
	(void)probe;
	value->type = UST_NONE;
}

struct ust_provider ust_provider = {
	.size_of_this = sizeof(ust_provider),
	.name = "$app.kunwind",
	.size = size,
	.record = record,
	.value = value,
};

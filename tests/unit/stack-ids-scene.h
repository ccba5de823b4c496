/* SPDX-License-Identifier: MIT */
/*
 * stack-ids-scene.h - kmod/trace/stack_ids.c with stubs of the kernel, stacks to
 * number, and a reader that gets each event
 */
#include "kernel.h"
#include "tap.h"

#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
static void interrupts(void (**run)(void));
static void (*in_next_id)(void);	/* an interrupt while the table is being changed */
#define this_cpu_inc_return(x)		(interrupts(&in_next_id), ++(x))
#define DIV_ROUND_UP(n, d)		(((n) + (d) - 1) / (d))

static bool collide;		/* all stacks have the same hash */
static void (*in_hash)(void);	/* an interrupt while the table is in use */
/* Runs it once. */
static void interrupts(void (**run)(void))
{
	void (*once)(void) = *run;

	*run = NULL;
	if (once)
		once();
}

static const u64 golden_ratio = GOLDEN_RATIO_64;
/* Called by the hash for each word. */
static u64 factor(void)
{
	interrupts(&in_hash);
	return collide ? 0 : golden_ratio;
}
#undef GOLDEN_RATIO_64
#define GOLDEN_RATIO_64		factor()

#include "../../kmod/uapi/kunwind.h"
#define _KUNWIND_COMPAT_TRACE_H
#define KUNWIND_DECLARE_TRACE(...)	struct unused
#include "../../kmod/trace/stack_ids.c"

#include "stack-reader.h"

/* ------------------------------------------------------------- the events */

static struct kunwind_stack_ids *ids;
static struct reader reader;		/* has read all events since begin() */
static unsigned int definitions;

/* Events since begin() from which the reader did not get the stack. */
static unsigned int mistakes(void)
{
	return reader.wrong + reader.unknown;
}

/* Numbers a stack, and reads the event as a reader of the trace does. */
static u64 emit(struct kunwind_stack *stack)
{
	kunwind_stack_ids_number(ids, stack);
	definitions += stack->inner > 0;
	read_event(&reader, stack);
	return stack->id;
}

static void begin(void)
{
	kunwind_stack_ids_free(ids);
	ids = kunwind_stack_ids_alloc(3);
	definitions = reader.wrong = reader.unknown = 0;
	collide = false;
}

static unsigned long addresses[KUNWIND_MAX_FRAMES];
static u8 trust[KUNWIND_MAX_FRAMES];

/* The same stack of @count frames for the same @number. */
static struct kunwind_stack stack_of(u32 number, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		addresses[i] = 0x400000 + 16 * i;
		trust[i] = i ? KUNWIND_TRUST_CFI : KUNWIND_TRUST_REGISTERS;
	}
	addresses[count / 2] += number;
	return (struct kunwind_stack){ .addresses = addresses, .trust = trust, .count = count,
				       .tgid = 100, .tid = 101, .syscall = 257,
				       /* to be set */
				       .id = 7, .inner = 7, .trusts = 7, .shared = 7, .base = 7 };
}

static u64 emit_of(u32 number, u32 count)
{
	struct kunwind_stack stack = stack_of(number, count);

	return emit(&stack);
}

/* SPDX-License-Identifier: MIT */
/*
 * stack-ids-test.c - ids of stacks: a reader that keeps the definitions of one
 * CPU gets from each event the stack that was emitted
 */
#include "kernel.h"
#include "tap.h"

#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
static void interrupts(void (**run)(void));
static void (*in_next_id)(void);	/* an interrupt while the table is being changed */
#define this_cpu_inc_return(x)		(interrupts(&in_next_id), ++(x))
#define cpu_to_node(cpu)		(cpu)
#define kvzalloc_node(size, gfp, node)	((void)(node), kzalloc(size, gfp))
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

static u32 jhash2(const u32 *words, u32 nr, u32 seed)
{
	interrupts(&in_hash);
	while (nr--)
		seed = (seed ^ *words++) * 0x9e3779b1;
	return collide ? 7 : seed;
}

#include "../../kmod/uapi/kunwind.h"
#define _KUNWIND_COMPAT_TRACE_H
#define KUNWIND_DECLARE_TRACE(...)	struct unused
#include "../../kmod/trace/stack_ids.c"

/* ------------------------------------------------------------- the reader */

/* What the reader knows of an id. */
struct known {
	struct kunwind_stack stack;
	unsigned long addresses[KUNWIND_MAX_FRAMES];
	u8 trust[KUNWIND_MAX_FRAMES];
};
static struct known *known[200000];

static bool same_stack(const struct kunwind_stack *a, const struct kunwind_stack *b)
{
	return a->count == b->count && a->reason == b->reason && a->tgid == b->tgid &&
	       a->tid == b->tid && a->syscall == b->syscall &&
	       !memcmp(a->addresses, b->addresses, a->count * sizeof(*a->addresses)) &&
	       !memcmp(a->trust, b->trust, a->count);
}

static struct kunwind_stack_ids *ids;
static unsigned int definitions, wrong;

/* Numbers a stack, and reads the event as a reader of the trace does. */
static u64 emit(struct kunwind_stack *stack)
{
	struct known *entry;
	u64 at;

	kunwind_stack_ids_number(ids, stack);
	at = stack->id & ((1ULL << CPU_SHIFT) - 1);
	if (!stack->id || at >= sizeof(known) / sizeof(*known))
		abort();
	entry = known[at];
	if (!stack->defines) {
		wrong += !entry || !same_stack(&entry->stack, stack);
		return stack->id;
	}
	definitions++;
	if (entry) {
		wrong += !same_stack(&entry->stack, stack);
		return stack->id;
	}
	entry = known[at] = malloc(sizeof(*entry));
	entry->stack = *stack;
	memcpy(entry->addresses, stack->addresses, stack->count * sizeof(*stack->addresses));
	memcpy(entry->trust, stack->trust, stack->count);
	entry->stack.addresses = entry->addresses;
	entry->stack.trust = entry->trust;
	return stack->id;
}

static void begin(void)
{
	kunwind_stack_ids_free(ids);
	ids = kunwind_stack_ids_alloc(3);
	definitions = wrong = 0;
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
				       .tgid = 100, .tid = 101, .syscall = 257 };
}

static u64 emit_of(u32 number, u32 count)
{
	struct kunwind_stack stack = stack_of(number, count);

	return emit(&stack);
}

/* -------------------------------------------------------------- the tests */

static void test_equal(void)
{
	u64 first;

	begin();
	first = emit_of(1, 20);
	tap_ok(first >> CPU_SHIFT == 3, "an id begins with the CPU");
	tap_ok(emit_of(1, 20) == first && definitions == 1, "equal stack: same id, no definition");
	tap_ok(emit_of(2, 20) != first && definitions == 2, "other stack: other id, a definition");
	tap_ok(emit_of(1, 20) == first && definitions == 2, "first stack again: its id, no definition");
	tap_ok(emit_of(1, 1) != emit_of(1, 2), "stacks of one and two frames have different ids");
	tap_ok(!wrong, "the reader gets each stack");
}

static void test_members(void)
{
	static const char *const names[] = { "address", "last address", "trust", "last trust", "process",
					     "thread", "system call", "reason", "number of frames" };
	struct kunwind_stack stack;
	u64 first;
	u32 i, pass;

	for (pass = 0; pass < 2; pass++)
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		begin();
		collide = pass;
		first = emit_of(1, 21);
		stack = stack_of(1, 21);
		addresses[3] ^= i == 0;
		addresses[20] ^= i == 1 ? 1UL << 47 : 0;
		trust[3] += i == 2;
		trust[20] += i == 3;
		stack.tgid += i == 4;
		stack.tid += i == 5;
		stack.syscall += i == 6;
		stack.reason += i == 7;
		stack.count -= i == 8;
		tap_ok(emit(&stack) != first && stack.defines && emit_of(1, 21) == first && !wrong,
		       "stacks that differ in one %s%s have different ids", names[i],
		       pass ? ", with equal hashes," : "");
	}
}

static void test_again(void)
{
	u64 first;
	u32 n;

	begin();
	first = emit_of(1, 20);
	for (n = 0; n < 10000 && emit_of(1, 20) == first && definitions == 1; n++)
		;
	tap_ok(n > 100 && n <= KUNWIND_REDEFINE_BYTES / 40 && !wrong,
	       "a stack is defined again, with the same id, after at most 64 KB of events");
	begin();
	first = emit_of(0, 100);
	for (n = 1; n <= 70; n++)
		emit_of(n, 100);
	n = definitions;
	tap_ok(emit_of(0, 100) == first && definitions == n + 1 && !wrong,
	       "a stack is defined again after 64 KB of other definitions");
	begin();
	first = emit_of(1, 20);
	jiffies += HZ - 1;
	emit_of(1, 20);
	tap_ok(definitions == 1, "less than a second later: no definition");
	jiffies += 1;
	tap_ok(emit_of(1, 20) == first && definitions == 2, "a second later: the same id is defined again");
	emit_of(1, 20);
	tap_ok(definitions == 2, "after this definition: no other");
	kunwind_stack_restart();
	tap_ok(emit_of(1, 20) == first && definitions == 3 && emit_of(1, 20) == first && definitions == 3,
	       "a tracer begins to record: the same id is defined again, once");
}

static void test_ring(void)
{
	u32 round, i, before;

	begin();
	for (round = 0; round < 2; round++) {
		before = definitions;
		for (i = 0; i < 100; i++)
			emit_of(i, 30);
	}
	/* one of three stacks with the same two slots is defined again */
	tap_ok(definitions - before < 20, "a hundred stacks are kept");
	for (round = 0; round < 40; round++)
		for (i = 0; i < 900; i++)
			emit_of(i, 5 + i % 60);
	tap_ok(!wrong, "more stacks than the ring holds: the reader gets each stack");
	before = definitions;
	emit_of(1, MOST_WORDS);
	emit_of(1, MOST_WORDS);
	tap_ok(definitions == before + 2 && !wrong,
	       "a stack that is too long for the ring is always defined");
	for (i = 0; i < 50; i++)
		emit_of(i, 880 + i % 3);
	tap_ok(!wrong, "the longest stacks that the ring takes: the reader gets each stack");
}

/*
 * The ring goes round exactly: the words of a stack are overwritten, and its
 * slot, which has the same hash as the new stack, is not.
 */
static void test_age(void)
{
	const u32 words = 2 + 20 + 3;
	struct kunwind_stack stack;
	u64 first, second;

	begin();
	collide = true;
	first = emit_of(1, 20);
	ids->head += RING_WORDS - words;	/* as if other stacks had been written */
	second = emit_of(2, 20);
	tap_ok(emit_of(2, 20) == second && second != first && !wrong,
	       "stack in the place of an older one: it has its own id");
	/* the trust of 10 frames: the last word has two bytes of it */
	begin();
	emit_of(9, 20);
	collide = true;
	stack = stack_of(1, 20);
	stack.tid = 0x20065;
	first = emit(&stack);
	ids->head += RING_WORDS - words - (2 + 10 + 2) + 1;
	emit_of(2, 10);
	stack = stack_of(1, 20);
	stack.tid = 0x20000 | KUNWIND_TRUST_CFI << 8 | KUNWIND_TRUST_CFI;
	tap_ok(emit(&stack) != first && stack.defines,
	       "one word of a stack is overwritten: it is not used");
}

/* A model of programs: few stacks often, many seldom, of random length. */
static void test_random(void)
{
	u64 state = 88172645463325252ULL;
	u32 i, number;

	begin();
	for (i = 0; i < 100000; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		number = state % 100 < 90 ? state / 100 % 50 : state / 100 % 20000;
		collide = state >> 60 == 0;
		jiffies += state >> 59 == 1;
		emit_of(number, 1 + number * 7 % 45);
	}
	tap_ok(!wrong && definitions < 30000, "100000 random stacks: the reader gets each stack");
}

static struct kunwind_stack inner;
static void interrupt(void)
{
	static unsigned long one[] = { 0x1234 };
	static u8 sure[] = { KUNWIND_TRUST_REGISTERS };

	inner = (struct kunwind_stack){ .addresses = one, .trust = sure, .count = 1, .tgid = 100,
					.tid = 101 };
	emit(&inner);
}

static void equal_interrupt(void)
{
	inner = stack_of(3, 20);
	emit(&inner);
}

static void test_interrupt(void)
{
	u64 first;

	begin();
	in_hash = interrupt;
	first = emit_of(1, 20);
	tap_ok(inner.id && inner.id != first && inner.defines, "an interrupt's stack gets an id of its own");
	tap_ok(emit_of(1, 20) == first && definitions == 2 && !wrong,
	       "after the interrupt: the stack that it interrupted is kept");
	begin();
	collide = true;
	emit_of(1, 20);
	emit_of(2, 20);
	in_next_id = equal_interrupt;
	emit_of(3, 20);
	tap_ok(inner.defines && !wrong,
	       "an interrupt while a slot gets its new stack: an equal stack has not the old id");
}

static void test_restart_of_event(void)
{
	u64 first;

	begin();
	first = emit_of(1, 20);
	begin();
	tap_ok(emit_of(2, 20) != first, "event off and on again: no id gets a second meaning");
	no_memory = 1;
	tap_ok(!kunwind_stack_ids_alloc(0), "no memory: there is no table");
}

int main(void)
{
	test_equal();
	test_members();
	test_again();
	test_ring();
	test_age();
	test_random();
	test_interrupt();
	test_restart_of_event();
	kunwind_stack_ids_free(ids);
	for (u32 i = 0; i < sizeof(known) / sizeof(*known); i++)
		free(known[i]);
	return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * stack-ids-test.c - ids of stacks: a reader that keeps the definitions of one
 * CPU gets from each event the stack that was emitted
 */
#include "stack-ids-scene.h"

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
	tap_ok(!mistakes(), "the reader gets each stack");
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
		tap_ok(emit(&stack) != first && stack.inner && emit_of(1, 21) == first && !mistakes(),
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
	tap_ok(n > 100 && n <= KUNWIND_REDEFINE_BYTES / 40 && !mistakes(),
	       "a stack is defined again, with the same id, after at most 64 KB of events");
	begin();
	first = emit_of(0, 100);
	emit_of(1, KUNWIND_MAX_FRAMES);
	emit_of(0, 100);
	n = definitions;
	tap_ok(n == 2, "a stack is not defined again after 32 KB of other definitions");
	emit_of(2, KUNWIND_MAX_FRAMES);
	n++;
	tap_ok(emit_of(0, 100) == first && definitions == n + 1 && !mistakes(),
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
	tap_ok(!mistakes(), "more stacks than the ring holds: the reader gets each stack");
	before = definitions;
	emit_of(1, MOST_WORDS);
	emit_of(1, MOST_WORDS);
	tap_ok(definitions == before + 2 && !mistakes(),
	       "a stack that is too long for the ring is always defined");
	for (i = 0; words_of(&(struct kunwind_stack){ .count = i }) < MOST_WORDS; i++)
		;
	before = definitions;
	emit_of(1, i);
	emit_of(1, i);
	tap_ok(words_of(&(struct kunwind_stack){ .count = i }) == MOST_WORDS && definitions == before + 1,
	       "the longest stack that is kept is defined once");
	for (i = 0; i < 50; i++)
		emit_of(i, 880 + i % 3);
	tap_ok(!mistakes(), "the longest stacks that the ring takes: the reader gets each stack");
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
	tap_ok(emit_of(2, 20) == second && second != first && !mistakes(),
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
	tap_ok(emit(&stack) != first && stack.inner,
	       "one word of a stack is overwritten: it is not used");
}

/* --------------------------------------------------- definitions with a base */

/* Emits the stack; returns whether its definition holds so many frames, and has this base. */
static bool holds(struct kunwind_stack stack, u32 inner, u64 base)
{
	emit(&stack);
	return stack.inner == inner && stack.shared == (base ? stack.count - inner : 0) &&
	       stack.base == (base ? (s64)(base - stack.id) : 0) && !mistakes();
}

/* A stack of 20 frames that differs from number 0 in one frame. */
static struct kunwind_stack differs_at(u32 frame)
{
	struct kunwind_stack stack = stack_of(0, 20);

	addresses[frame] ^= 1;
	return stack;
}

static void test_shared(void)
{
	struct kunwind_stack stack;
	u64 first;
	u32 i;

	begin();
	tap_ok(holds(stack_of(0, 20), 20, 0), "first stack: its definition holds all frames");
	first = emit_of(0, 20);
	tap_ok(holds(differs_at(3), 4, first), "stack that differs in frame 3: it holds the frames 0 to 3");
	begin();
	first = emit_of(0, 20);
	tap_ok(holds(differs_at(19), 20, 0),
	       "stack that differs in the outermost frame: it holds all frames");
	begin();
	first = emit_of(0, 20);
	tap_ok(holds(differs_at(18), 20, 0) && holds(differs_at(17), 20, 0),
	       "fewer than %u equal frames: it holds all frames", FEWEST_SHARED);
	begin();
	first = emit_of(0, 20);
	tap_ok(holds(differs_at(19 - FEWEST_SHARED), 20 - FEWEST_SHARED, first),
	       "%u equal frames: it holds the others", FEWEST_SHARED);
	begin();
	first = emit_of(0, 20);
	stack = stack_of(0, 20);
	addresses[6] ^= 1UL << 63;
	tap_ok(holds(stack, 7, first),
	       "stack that differs in the highest bit of a frame: it holds that frame");
	begin();
	first = emit_of(0, 20);
	stack = stack_of(0, 20);
	trust[6] = KUNWIND_TRUST_SIGNAL;
	tap_ok(holds(stack, 7, first), "stack that differs in the trust of a frame: it holds that frame");
	begin();
	first = emit_of(0, 20);
	stack = stack_of(0, 40);
	memmove(addresses + 25, addresses + 5, 15 * sizeof(*addresses));
	addresses[24] = 1;
	tap_ok(holds(stack, 25, first), "longer stack: it shares the outer frames");
	begin();
	first = emit_of(0, 20);
	stack = stack_of(0, 20);
	stack.addresses += 5;
	stack.count -= 5;
	tap_ok(holds(stack, 1, first), "stack of a caller: it holds one frame");
	begin();
	first = emit_of(0, 20);
	stack = stack_of(0, 20);
	stack.addresses += 5;
	stack.trust += 5;
	stack.count -= 5;
	tap_ok(holds(stack, 1, first), "stack of which all frames are shared: it holds one frame");
	/* frames inside of these that equal the words before the base's addresses */
	begin();
	stack = stack_of(0, 20);
	addresses[19] |= (u64)KUNWIND_TRUST_CFI << 56;
	first = emit(&stack);
	addresses[0] = 1;
	addresses[1] = what(&stack);
	for (i = 0; i < 20; i++)
		addresses[2 + i] = 0x400000 + 16 * i;
	addresses[21] |= (u64)KUNWIND_TRUST_CFI << 56;
	for (i = 1; i < 22; i++)
		trust[i] = KUNWIND_TRUST_CFI;
	trust[2] = KUNWIND_TRUST_REGISTERS;
	stack.count = 22;
	tap_ok(holds(stack, 2, first),
	       "stack that calls on from the base: it shares no more frames than the base has");
}

/* The definition of @other does not use the stack that was defined before it. */
static bool stands_alone(struct kunwind_stack other)
{
	return holds(other, other.count, 0);
}

static void test_base(void)
{
	static const char *const names[] = { "process", "thread", "system call", "reason" };
	struct kunwind_stack_ids *here, *there;
	struct kunwind_stack stack;
	u32 i, by, alone;
	u64 first;

	/* so many that some have the same place in ->last */
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		for (by = 1, alone = 0; by < 2000; by++) {
			begin();
			emit_of(0, 20);
			stack = differs_at(3);
			stack.tgid += i == 0 ? by : 0;
			stack.tid += i == 1 ? by : 0;
			stack.syscall += i == 2 ? by : 0;
			stack.reason += i == 3 ? by % 250 + 1 : 0;
			alone += stands_alone(stack);
		}
		tap_ok(alone == 1999, "stacks that differ in the %s share no frames", names[i]);
	}
	begin();
	emit_of(0, 20);
	here = ids;
	ids = there = kunwind_stack_ids_alloc(4);
	tap_ok(stands_alone(differs_at(3)), "stacks of two CPUs share no frames");
	kunwind_stack_ids_free(there);
	ids = here;
	/* first: both functions write the addresses, and compilers order arguments differently */
	first = emit_of(0, 20);
	tap_ok(holds(differs_at(4), 5, first), "stacks of one CPU share frames");
	begin();
	emit_of(0, 20);
	ids->head += RING_WORDS;	/* as if other stacks had been written */
	tap_ok(stands_alone(differs_at(3)), "stack whose words are overwritten: it is not used as base");
	begin();
	collide = true;
	emit_of(0, 20);
	stack = stack_of(1, 20);
	stack.tid++;
	emit(&stack);
	stack = stack_of(2, 20);
	stack.tid++;
	emit(&stack);
	tap_ok(stands_alone(differs_at(3)), "stack whose slot another thread uses: it is not used as base");
	begin();
	first = emit_of(0, 20);
	numbered += 0x7fffffff;
	stack = differs_at(3);
	kunwind_stack_ids_number(ids, &stack);
	tap_ok(stack.base == (s32)0x80000000 && stack.inner == 4,
	       "base whose id is 2^31 smaller: it is used");
	stack = differs_at(4);
	begin();
	numbered = first & 0xffff;
	emit_of(0, 20);
	numbered += 0x80000000;
	stack = differs_at(3);
	kunwind_stack_ids_number(ids, &stack);
	tap_ok(!stack.base && stack.inner == 20, "base whose id is smaller by more: it is not used");
	numbered = 1000;
}

static void test_chain(void)
{
	struct kunwind_stack stack;
	u64 first, second;
	u32 i;

	begin();
	first = emit_of(0, 20);
	kunwind_stack_restart();
	tap_ok(stands_alone(differs_at(3)), "a tracer begins to record: older stacks are not used as bases");
	begin();
	first = emit_of(0, 20);
	jiffies += HZ;
	tap_ok(stands_alone(differs_at(3)), "stack of a second ago: it is not used as base");
	begin();
	first = emit_of(0, 20);
	jiffies += HZ / 2;
	tap_ok(holds(differs_at(3), 4, first), "stack of half a second ago: it is used as base");
	jiffies += HZ - HZ / 2;
	tap_ok(holds(differs_at(3), 20, 0),
	       "a second after the definition of its base, a stack is defined again");
	begin();
	first = emit_of(0, 20);
	emit_of(1, KUNWIND_MAX_FRAMES);		/* 32 KB */
	tap_ok(holds(differs_at(3), 4, first), "stack of 32 KB ago: it is used as base");
	emit_of(2, KUNWIND_MAX_FRAMES);
	tap_ok(holds(differs_at(3), 20, 0),
	       "64 KB after the definition of its base, a stack is defined again");
	begin();
	first = emit_of(0, 20);
	stack = differs_at(3);
	second = emit(&stack);
	jiffies += HZ;
	tap_ok(holds(differs_at(3), 20, 0) && holds(stack_of(0, 20), 4, second) && second > first,
	       "an older id is defined again by a newer one");
	begin();
	emit_of(0, 20);
	for (i = 1; i < 100; i++) {
		emit_of(i, 20);
		jiffies += HZ / 50;
	}
	for (i = 0, definitions = 0; i < 100; i++)
		emit_of(i, 20);
	tap_ok(!mistakes() && definitions >= 50,
	       "chain of bases: stacks of which the oldest base is a second old are defined again");
}

static void test_trust(void)
{
	struct kunwind_stack stack = stack_of(0, 20);

	begin();
	emit(&stack);
	tap_ok(!stack.trusts && !mistakes(),
	       "unwind information for all frames: the definition holds no trust");
	stack = differs_at(10);
	trust[15] = KUNWIND_TRUST_SIGNAL;
	emit(&stack);
	tap_ok(stack.inner == 16 && stack.trusts == 16 && !mistakes(),
	       "trust of the last held frame: it is held");
	stack = differs_at(3);
	trust[15] = KUNWIND_TRUST_SIGNAL;
	emit(&stack);
	tap_ok(stack.inner == 11 && !stack.trusts && !mistakes(), "trust of a shared frame: it is not held");
	begin();
	stack = stack_of(0, 20);
	trust[0] = KUNWIND_TRUST_CFI;
	emit(&stack);
	tap_ok(stack.trusts == 20 && !mistakes(), "trust of the innermost frame: it is held");
	begin();
	stack = stack_of(0, MOST_WORDS);
	emit(&stack);
	tap_ok(!stack.trusts && !mistakes(),
	       "stack that is too long for the ring: the definition holds no trust");
	trust[MOST_WORDS - 1] = KUNWIND_TRUST_SCAN;
	emit(&stack);
	tap_ok(stack.trusts == MOST_WORDS && !mistakes(),
	       "stack that is too long for the ring: its trust is held");
}

/* -------------------------------------------------- readers of parts of a trace */

#define EVENTS	20000

static struct {
	struct kunwind_stack *stack;
	u64 bytes;			/* of the events before it */
	u32 when, restarts;
} trace[EVENTS];

static u32 dice(u32 sides)
{
	static u64 state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (u32)(state >> 20) % sides;
}

/*
 * A model of programs: functions call functions and return, and the innermost one
 * makes a system call.
 */
static void record_trace(void)
{
	static struct { u32 depth; unsigned long frame[40]; } thread[4];
	struct kunwind_stack stack;
	u32 i, n, who;
	u64 bytes = 0;

	begin();
	for (who = 0; who < 4; who++)
		for (; thread[who].depth < 10; thread[who].depth++)
			thread[who].frame[thread[who].depth] = 0x400000 + thread[who].depth;
	for (i = 0; i < EVENTS; i++) {
		who = dice(64) ? i / 512 % 4 : dice(4);
		for (n = dice(3); n && thread[who].depth > 10; n--)
			thread[who].depth--;
		for (n = dice(3); n && thread[who].depth < 40; n--)
			thread[who].frame[thread[who].depth++] = 0x500000 + dice(8) / 5;
		stack = (struct kunwind_stack){
			.addresses = addresses, .trust = trust, .count = thread[who].depth,
			.tgid = 100 + who / 2, .tid = 200 + who, .syscall = dice(3),
			.reason = dice(16) ? KUNWIND_COMPLETE : KUNWIND_NO_RULE };
		for (n = 0; n < stack.count; n++) {
			addresses[n] = thread[who].frame[stack.count - 1 - n];
			trust[n] = addresses[n] == 0x500001 && stack.count % 8 == 0 ? KUNWIND_TRUST_CODE :
										     KUNWIND_TRUST_CFI;
		}
		trust[0] = KUNWIND_TRUST_REGISTERS;
		collide = dice(16) == 0;
		jiffies += dice(3) == 0;
		if (dice(4096) == 0)
			kunwind_stack_restart();
		emit(&stack);
		trace[i].stack = copy_of(&stack);
		trace[i].bytes = bytes;
		trace[i].when = (u32)jiffies;
		trace[i].restarts = restarts;
		bytes += 39 + stack.inner * sizeof(u64) + stack.trusts;
	}
}

/* Returns whether event @at must be readable although all events up to @lost are lost. */
static bool is_healed(u32 lost, u32 at)
{
	return trace[at].bytes - trace[lost].bytes >= KUNWIND_REDEFINE_BYTES &&
	       trace[at].when - trace[lost].when >= HZ;
}

/* Reads an event. Returns whether its stack is unknown. */
static bool is_unknown(struct reader *part, u32 at)
{
	const unsigned int before = part->unknown;

	read_event(part, trace[at].stack);
	return part->unknown > before;
}

static void test_filters(struct reader *part)
{
	static const struct { const char *name; u32 values[5]; } fields[] = {
		{ "process", { 100, 101 } }, { "thread", { 200, 201, 202, 203 } },
		{ "system call", { 0, 1, 2 } }, { "reason", { KUNWIND_COMPLETE, KUNWIND_NO_RULE } },
	};
	u32 i, field, value, bad, seen;

	for (field = 0; field < sizeof(fields) / sizeof(*fields); field++) {
		bad = seen = 0;
		for (value = 0; !value || fields[field].values[value]; value++) {
			forget(part);
			for (i = 0; i < EVENTS; i++) {
				const struct kunwind_stack *stack = trace[i].stack;
				const u32 has[] = { stack->tgid, stack->tid, stack->syscall, stack->reason };

				if (has[field] == fields[field].values[value])
					read_event(part, stack);
			}
			bad += part->wrong + part->unknown;
			seen += part->right;
		}
		tap_ok(!bad && seen == EVENTS,
		       "filter by the %s: the reader gets each stack", fields[field].name);
	}
}

static void test_readers(void)
{
	static struct reader part;
	u32 i, from, lost, bad, unknown, held = 0, frames = 0;

	record_trace();
	for (i = 0; i < EVENTS; i++) {
		held += trace[i].stack->inner;
		frames += trace[i].stack->inner + trace[i].stack->shared;
	}
	tap_ok(!mistakes(), "%u stacks of four threads: the reader gets each", EVENTS);
	tap_ok(definitions < EVENTS * 3 / 4 && held < frames / 2,
	       "their %u definitions hold %u of %u frames", definitions, held, frames);
	test_filters(&part);

	bad = unknown = 0;
	for (from = 0; from < EVENTS; from += 797) {
		forget(&part);
		for (i = from + 1; i < EVENTS && i < from + 4000; i++)
			if (is_unknown(&part, i)) {
				unknown++;
				bad += is_healed(from, i);
			}
		bad += part.wrong;
	}
	tap_ok(!bad && unknown, "readers that begin later get each stack after a second and 64 KB");

	bad = 0;
	for (from = 1; from < EVENTS; from++) {
		if (trace[from].restarts == trace[from - 1].restarts)
			continue;
		forget(&part);
		for (i = from; i < EVENTS && i < from + 4000; i++)
			bad += is_unknown(&part, i);
		bad += part.wrong;
	}
	tap_ok(!bad, "readers that begin with a session get each stack");

	forget(&part);
	bad = 0;
	for (i = lost = 0; i < EVENTS; i++)
		if (i % 3000 < 40)
			lost = i;
		else if (is_unknown(&part, i))
			bad += is_healed(lost, i);
	tap_ok(!bad && !part.wrong, "a reader that lost packets gets each stack after a second and 64 KB");
	forget(&part);
	for (i = 0; i < EVENTS; i++)
		free(trace[i].stack);
}

/* ---------------------------------------------------------------- interrupts */

static struct kunwind_stack own;
static void interrupt(void)
{
	static unsigned long one[] = { 0x1234 };
	static u8 sure[] = { KUNWIND_TRUST_REGISTERS };

	own = (struct kunwind_stack){ .addresses = one, .trust = sure, .count = 1, .tgid = 100,
					.tid = 101 };
	emit(&own);
}

static void equal_interrupt(void)
{
	own = stack_of(3, 20);
	emit(&own);
}

static void test_interrupt(void)
{
	u64 first, second;

	begin();
	in_hash = interrupt;
	first = emit_of(1, 20);
	tap_ok(own.id && own.id != first && own.inner, "an interrupt's stack gets an id of its own");
	second = own.id;
	interrupt();
	tap_ok(own.id != second && own.inner, "an interrupt does not change the table that is in use");
	tap_ok(emit_of(1, 20) == first && definitions == 3 && !mistakes(),
	       "after the interrupt: the stack that it interrupted is kept");
	begin();
	collide = true;
	emit_of(1, 20);
	emit_of(2, 20);
	in_next_id = equal_interrupt;
	emit_of(3, 20);
	tap_ok(own.inner && !mistakes(),
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

static struct kunwind_stack asked;
static u32 asked_slot;
static bool answer;
static void asks(void) { answer = kunwind_stack_ids_defined(ids, asked_slot, asked.id); }

/* Whether an event may name a stack by an id that an earlier event has defined. */
static void test_defined(void)
{
	begin();
	asked = stack_of(1, 20);
	asked_slot = kunwind_stack_ids_define(ids, &asked);
	asks();
	tap_ok(answer && !kunwind_stack_ids_defined(ids, asked_slot, asked.id + 1) &&
	       !kunwind_stack_ids_defined(ids, KUNWIND_NO_SLOT, asked.id),
	       "an id is defined in its slot only");
	answer = true;
	in_hash = asks;
	emit_of(2, 20);
	tap_ok(!answer, "while the table is being changed, no id counts as defined");
	jiffies += HZ;
	asks();
	tap_ok(!answer, "after a second, the id is no longer defined");
	begin();
	collide = true;
	asked = stack_of(1, 20);
	asked_slot = kunwind_stack_ids_define(ids, &asked);
	emit_of(2, 20);
	emit_of(3, 20);
	asks();
	tap_ok(!answer, "once another stack has its slot, the id is no longer defined");
}

int main(void)
{
	test_equal();
	test_members();
	test_again();
	test_ring();
	test_age();
	test_shared();
	test_base();
	test_chain();
	test_trust();
	test_readers();
	test_interrupt();
	test_restart_of_event();
	test_defined();
	kunwind_stack_ids_free(ids);
	forget(&reader);
	return tap_done();
}

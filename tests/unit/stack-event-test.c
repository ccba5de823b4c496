/* SPDX-License-Identifier: MIT */
/*
 * stack-event-test.c - the event kunwind_callstack: when it is emitted, what
 * its listeners see, and which addresses the requesting tracer gets
 */
#include <limits.h>

#include "kernel.h"
#include "pt-regs.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define per_cpu_ptr(p, cpu)	((void)(cpu), p)
#define this_cpu_inc(x)		((x)++)
#define for_each_possible_cpu(cpu)	for (cpu = 0; cpu < 1; cpu++)
#define nr_cpu_ids		1
#define NR_CPUS			1
#define smp_processor_id()	0
static int fails;		/* which of the next allocations for a CPU fails; 0: none */
#undef kvzalloc_node
#define kvzalloc_node(size, gfp, node)	(fails && !--fails ? NULL : kernel_alloc(size, gfp, node, true, true))
#define DECLARE_WORK(name, fn)	struct work_struct name = { fn }
#define schedule_work(work)	queue_work(NULL, work)
static unsigned int flushed;
#define flush_work(work)	({ flushed++; drain_workqueue(NULL); })
#define hash_ptr(p, bits)	hash_long((u64)(p), bits)
static u32 jhash2(const u32 *words, u32 nr, u32 seed)
{
	while (nr--)
		seed = (seed ^ *words++) * 16777619;
	return seed;
}
#define pr_notice_once(...)	do { } while (0)
static void *copy(void *to, const void *from, size_t size) { return size ? memcpy(to, from, size) : to; }
#define memcpy			copy	/* 0 bytes to NULL, too */

#define syscall_get_nr(task, regs)	((int)(regs)->orig_ax)
static u8 level;
#define interrupt_context_level()	level

struct tracepoint { void (*probe)(void *data, struct pt_regs *regs, long id); };
static struct tracepoint sys_enter_tracepoint;
#define check_trace_callback_type_sys_enter(probe)	((void)(probe))
static int register_error;
static void (*while_unregistering)(void);
/* The highest priority: before the probes of tracers, which request the stack. */
static int tracepoint_probe_register_prio(struct tracepoint *tp,
					  void (*fn)(void *data, struct pt_regs *regs, long id),
					  void *data, int prio)
{
	if (tp->probe || data || prio != INT_MAX)
		wrong("the probe is registered twice, or not as the first one");
	if (!register_error)
		tp->probe = fn;
	return register_error;
}
static void tracepoint_probe_unregister(struct tracepoint *tp,
					void (*fn)(void *data, struct pt_regs *regs, long id), void *data)
{
	if (!fn || tp->probe != fn)
		wrong("the probe is not registered");
	tp->probe = NULL;
	if (while_unregistering)
		while_unregistering();
	while_unregistering = NULL;
}
static unsigned int probes_ended;
static void tracepoint_synchronize_unregister(void)
{
	might_sleep();
	if (sys_enter_tracepoint.probe)
		wrong("the probe can still be called");
	probes_ended++;
}

#define _KUNWIND_HOOK_H
#define kunwind_hook_missing()	false
#define kunwind_tracepoint_find(name)	(&sys_enter_tracepoint)

#define _KUNWIND_COMPAT_TRACE_H
#define KUNWIND_DECLARE_TRACE(...)	struct unused
#define _KUNWIND_EVENTS_H
#include "../../kmod/trace/stack.h"
static void heard(const struct kunwind_stack *stack, u32 first, u32 nr);
static bool on_parts, on_whole;
#define trace_kunwind_callstack_enabled()	on_parts
#define trace_kunwind_callstack_whole_enabled()	on_whole
#define trace_kunwind_callstack_whole(stack)	heard(stack, 0, 0)
#define trace_kunwind_callstack			heard
#define this_cpu_inc_return(x)	(++(x))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#include "../../kmod/trace/stack_ids.c"
#include "../../kmod/trace/emitter.c"
#include "../../kmod/stack/stack_event.c"

/* ------------------------------------------- functions that stack_event.c calls */

static struct kunwind_space space;
static struct task_struct task = { .pid = 101, .tgid = 100, .start_time = 7 };
static bool guesses, walking, excluded;
static void (*in_walk)(void);

/* Frames of the next walk, and the first guessed one (0: none). */
static u32 frames, guessed;
static enum kunwind_reason reason = KUNWIND_COMPLETE;	/* why the next walks end */
static bool no_caller;		/* the last frame is a signal frame, whose caller has no address */

bool kunwind_callstack_guesses(void) { return guesses; }
struct kunwind_space *kunwind_space_find(const struct mm_struct *mm) { (void)mm; return &space; }
enum kunwind_reason kunwind_callstack_excluded(const struct pt_regs *regs)
{
	(void)regs;
	return excluded ? KUNWIND_KTHREAD : KUNWIND_COMPLETE;
}

enum kunwind_reason kunwind_callstack_walk(struct kunwind_space *of, const struct pt_regs *regs,
					   u32 valid, struct kunwind_request *request)
{
	u32 i;

	(void)of, (void)valid;
	request->count = 0;
	if (walking)
		return KUNWIND_NESTED;
	walking = true;
	if (in_walk)
		in_walk();
	walking = false;
	request->count = min(frames, request->capacity);
	for (i = 0; i < request->count; i++) {
		request->store[i] = regs->ip + i;
		if (guessed && i >= guessed)
			request->trust[i] = KUNWIND_TRUST_SCAN;
	}
	if (no_caller)
		request->trust[i] = KUNWIND_TRUST_SIGNAL;
	if (request->replay && frames > request->capacity)
		return KUNWIND_BUFFER_FULL;
	return reason;
}

/* --------------------------------------------------------------- the scene */

#define ROOM	(KUNWIND_MAX_FRAMES + 1)

static struct pt_regs regs;
static unsigned int emissions, parts;
static bool wrong;			/* a listener saw a stack that differs from the walk's */
static void (*in_listener)(void);
static struct { bool done; u32 count; unsigned long store[ROOM]; } tracer, other;

static bool is_right(const struct kunwind_stack *stack)
{
	u32 i;

	if (stack->count != frames || stack->tgid != task.tgid || stack->tid != task.pid ||
	    stack->syscall != (int)regs.orig_ax || stack->reason != reason)
		return false;
	for (i = 0; i < stack->count; i++)
		if (stack->addresses[i] != regs.ip + i || stack->trust[i] !=
		    (!i ? KUNWIND_TRUST_REGISTERS : guessed && i >= guessed ? KUNWIND_TRUST_SCAN :
		     KUNWIND_TRUST_CFI))
			return false;
	return true;
}

/* Two listeners: of whole stacks and of parts. The first runs @in_listener. */
static void heard(const struct kunwind_stack *stack, u32 first, u32 nr)
{
	void (*run)(void) = in_listener;

	wrong |= !is_right(stack) || first + nr > stack->count || nr > KUNWIND_STACK_PART;
	if (nr) {
		parts++;
		return;
	}
	wrong |= !stack->id || stack->id > numbered;
	emissions++;
	in_listener = NULL;
	if (run)
		run();
}

/* A tracer requests @size frames. Returns whether the event was emitted. */
static bool asks(u32 size)
{
	tracer.count = 0;
	memset(tracer.store, 0xee, sizeof(tracer.store));
	tracer.done = kunwind_stack_event(&space, &regs, KUNWIND_ALL_REGS, tracer.store, size, &tracer.count);
	return tracer.done;
}

/* The tracer has exactly the first @count addresses. */
static bool got(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (tracer.store[i] != regs.ip + i)
			return false;
	return tracer.done && tracer.count == count && tracer.store[count] == 0xeeeeeeeeeeeeeeeeUL;
}

static void enters(void)
{
	if (sys_enter_tracepoint.probe)
		sys_enter_tracepoint.probe(NULL, &regs, (long)regs.orig_ax);
}

static void begin(void)
{
	current = &task;
	regs = (struct pt_regs){ .ip = 0x400000, .sp = 0x7000, .orig_ax = 110 };
	frames = 10;
	guessed = level = 0;
	guesses = excluded = no_caller = false;
	callstack_syscalls = false;
	on_parts = on_whole = true;
	emissions = parts = 0;
	wrong = false;
	in_walk = in_listener = NULL;
	kunwind_emitter_begin();
	drain_workqueue(NULL);
}

static void end(void)
{
	kunwind_emitter_end();
	drain_workqueue(NULL);
}

/* ---------------------------------------------------------------- the tests */

static void test_once(void)
{
	begin();
	enters();
	tap_ok(asks(100) && emissions == 1 && !wrong && got(10), "system call: its stack is emitted");
	regs.ax = 5;
	tap_ok(!asks(100) && emissions == 1, "end of a system call: nothing is emitted");
	regs.ax = 0;
	enters();
	tap_ok(asks(100) && emissions == 2,
	       "next system call with equal registers: its stack is emitted");
	regs.bx++;
	tap_ok(asks(100) && emissions == 3, "interrupt with one register changed: its stack is emitted");
	tap_ok(!asks(100) && emissions == 3, "second tracer of one interrupt: nothing is emitted");
	callstack_syscalls = true;
	enters();
	tap_ok(emissions == 4 && !wrong,
	       "callstack_syscalls: a system call emits its stack without a tracer");
	tap_ok(!asks(100) && emissions == 4,
	       "callstack_syscalls: a tracer's request causes no second event");
	excluded = true;
	enters();
	tap_ok(emissions == 4, "callstack_syscalls: a kernel thread emits nothing");
	end();
	tap_ok(!asks(100) && emissions == 4 && !sys_enter_tracepoint.probe,
	       "event off: nothing is emitted");
}

/* Each register but rax, and the task, tell one entry from the next. */
static void test_mark(void)
{
	unsigned long *word = (unsigned long *)&regs;
	unsigned int i, missed = 0;

	begin();
	regs = (struct pt_regs){ .ip = 0x400000, .sp = 0x7000, .orig_ax = 110 };
	asks(100);
	for (i = 0; i < sizeof(regs) / sizeof(*word); i++) {
		if (word + i == &regs.ax)
			continue;
		word[i] += 1UL << 40;	/* also bits of the upper half only */
		missed += !asks(100);
	}
	tap_ok(!missed && !asks(100), "any register but rax changes: it is another kernel entry");
	task.pid++;
	tap_ok(asks(100), "another thread with equal registers: its stack is emitted");
	task.start_time++;
	tap_ok(asks(100), "later thread with the same number and registers: its stack is emitted");
	task.pid--;
	end();
}

/* Only one of the two tracepoints is on. */
static void test_listeners(void)
{
	begin();
	on_parts = false;
	tap_ok(asks(100) && emissions == 1 && !parts && !wrong, "only the whole stack is on: no parts");
	regs.bx++;
	on_parts = true;
	on_whole = false;
	tap_ok(asks(100) && emissions == 1 && parts == 1 && !wrong, "only parts are on: no whole stack");
	end();
}

/* Another task on another CPU emits its stack; its mark has the same place. */
static void mark_of_other_task(void)
{
	WRITE_ONCE(*mark_place(READ_ONCE(kunwind_emitter)), 1);
}

static void listener_asks(void)
{
	mark_of_other_task();
	other.done = kunwind_stack_event(&space, &regs, KUNWIND_ALL_REGS, other.store, 100,
					 &other.count);
}

static void test_listener(void)
{
	begin();
	guessed = 5;
	in_listener = listener_asks;
	tap_ok(asks(100) && !other.done && emissions == 1,
	       "listener of the event requests a stack: nothing is emitted inside the event");
	tap_ok(!wrong && parts == 1,
	       "listener of the event requests a stack: the next listener sees the right stack");
	regs.bx++;
	in_walk = listener_asks;
	tap_ok(asks(100) && !other.done && emissions == 2 && !wrong,
	       "page fault during the walk requests a stack: nothing is emitted");
	end();
}

static void interrupted(void)
{
	level = 2;
	in_walk = NULL;
	walking = false;		/* callstack.c has a flag for each context */
	other.done = kunwind_stack_event(&space, &regs, KUNWIND_ALL_REGS, other.store, 100,
					 &other.count);
	walking = true;
	level = 0;
}

/* A softirq in a walk, a hard interrupt in its walk, and an NMI in that one's. */
static unsigned int deep;

static void each_interrupted(void)
{
	const u8 outside = level;

	if (level == KUNWIND_CONTEXTS - 1)
		return;
	level++;
	walking = false;
	deep += kunwind_stack_event(&space, &regs, KUNWIND_ALL_REGS, other.store, 100, &other.count);
	walking = true;
	level = outside;
}

static void test_contexts(void)
{
	begin();
	in_walk = each_interrupted;
	guessed = 7;
	tap_ok(asks(100) && deep == KUNWIND_CONTEXTS - 1 && emissions == KUNWIND_CONTEXTS && !wrong,
	       "a walk in each context interrupts another one: all stacks are emitted");
	in_walk = NULL;
	guessed = 0;
	for (level = KUNWIND_CONTEXTS; level--;) {
		regs.bx++;
		wrong |= !asks(100);
	}
	level = 0;
	tap_ok(!wrong, "after them: each context emits the right stack");
	end();
}

static void test_trust(void)
{
	begin();
	guessed = 3;
	tap_ok(asks(100) && !wrong, "guessed frames: listeners see which frames are guessed");
	tap_ok(got(3), "guessed frames: the tracer gets only the frames before them");
	guesses = true;
	regs.bx++;
	tap_ok(asks(100) && got(10), "parameter guess: the tracer gets guessed frames, too");
	guesses = false;
	guessed = 0;
	regs.bx++;
	wrong = false;
	tap_ok(asks(100) && !wrong && got(10),
	       "next stack: it has no trust values of the previous one");
	regs.bx++;
	tap_ok(asks(4) && !wrong && got(4), "tracer with a small buffer: the event has the whole stack");
	guessed = 6;
	frames = 4;
	regs.bx++;
	tap_ok(asks(100) && !wrong && got(4), "shorter stack: its trust values are right");
	guessed = 0;
	no_caller = true;
	regs.bx++;
	tap_ok(asks(100) && !wrong,
	       "stack that ends at the signal frame of a jump to 0: its trust values are right");
	no_caller = false;
	frames = 10;
	regs.bx++;
	tap_ok(asks(100) && !wrong,
	       "stack after one that ended at a jump to 0: the extra trust value is reset");
	in_walk = interrupted;
	regs.bx++;
	tap_ok(asks(100) && other.done && !wrong, "interrupt during the walk: both stacks are emitted");
	end();
}

/* Walks in interrupts have a smaller budget, and know fewer registers in an NMI. */
static void test_early(void)
{
	begin();
	enters();
	level = 2;
	reason = KUNWIND_BUDGET_SPENT;
	frames = 3;
	tap_ok(asks(100) && !asks(100) && emissions == 1,
	       "stack that ends early in interrupts: it is emitted once");
	level = 0;
	reason = KUNWIND_COMPLETE;
	frames = 10;
	tap_ok(asks(100) && got(10) && !asks(100) && emissions == 2,
	       "first request in task context after it: the whole stack is emitted");
	level = 2;
	tap_ok(!asks(100) && emissions == 2, "interrupt after the whole stack: nothing is emitted");
	regs.bx++;
	tap_ok(asks(100) && emissions == 3, "whole stack in an interrupt: it is emitted");
	level = 0;
	tap_ok(!asks(100) && emissions == 3 && !wrong, "task context after it: nothing is emitted");
	regs.bx++;
	reason = KUNWIND_NO_RULE;
	tap_ok(asks(100) && !asks(100) && emissions == 4,
	       "stack that ends early in task context: it is emitted once");
	reason = KUNWIND_COMPLETE;
	end();
}

static void test_long(void)
{
	begin();
	frames = KUNWIND_MAX_FRAMES;
	tap_ok(asks(ROOM) && !wrong && parts == (KUNWIND_MAX_FRAMES - 1) / KUNWIND_STACK_PART + 1 &&
	       got(KUNWIND_MAX_FRAMES), "longest stack: it is emitted as a whole and in parts");
	frames = 0;
	regs.bx++;
	tap_ok(!asks(100) && emissions == 1, "stack without addresses: nothing is emitted");
	frames = 10;
	tap_ok(asks(100) && emissions == 2, "next request of this entry: its stack is emitted");
	end();
}

/* From kernel 6.14 on, set_event=kunwind:...:mod:kunwind does this. */
/* For a note, only stacks up to its length are walked in one go. */
static void test_note(void)
{
	static const u32 lengths[] = { 1, KUNWIND_REPLAY_FRAMES, KUNWIND_REPLAY_FRAMES + 1, 300 };
	static struct kunwind_replay note;
	struct kunwind_scratch *scratch;
	struct kunwind_stack stack;
	u32 i, bad = 0;

	begin();
	scratch = kunwind_emitter->cpu[0].scratch;
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		frames = lengths[i];
		kunwind_stack_event_walk(scratch, &space, &regs, KUNWIND_ALL_REGS, &note, &stack);
		bad += !is_right(&stack);
		kunwind_stack_event_done(scratch, &stack);
	}
	tap_ok(!bad, "walk for a note: a stack that is too deep for it is whole, too");
	end();
}

static void test_before_init(void)
{
	begin();
	kunwind_stack_event_init();
	drain_workqueue(NULL);
	tap_ok(sys_enter_tracepoint.probe, "event on before the module's init: system calls are probed");
	end();
}

static void test_no_memory(void)
{
	int i;

	for (i = 1; i <= 3; i++) {	/* room for stacks, ids, notes */
		fails = i;
		tap_ok(kunwind_emitter_begin() == -ENOMEM && !fails,
		       "allocation %d for a CPU fails: the event cannot be switched on", i);
	}
	begin();
	enters();
	tap_ok(asks(100) && got(10) && emissions == 1, "memory again: the event is switched on");
	end();
}

static bool probes;			/* walks take the probe for registered */
static void is_on_again(void)
{
	probes = READ_ONCE(kunwind_emitter->probing);
	kunwind_emitter_begin();
}

/* The work item that switches the event on and off. */
static void test_settle(void)
{
	struct kunwind_emitter *first;
	unsigned int periods;

	begin();
	first = kunwind_emitter;
	kunwind_emitter_begin();	/* the other tracepoint */
	drain_workqueue(NULL);
	tap_ok(sys_enter_tracepoint.probe && kunwind_emitter == first, "both tracepoints are on: one probe");
	kunwind_emitter_end();
	drain_workqueue(NULL);
	enters();
	tap_ok(sys_enter_tracepoint.probe && asks(100), "one of two is off: the event stays on");
	kunwind_emitter_end();
	while_unregistering = is_on_again;
	drain_workqueue(NULL);
	tap_ok(!probes, "before the probe is removed, walks do not rely on it any more");
	tap_ok(!memchr_inv(kunwind_emitter->call, 0, sizeof(kunwind_emitter->call)),
	       "on again while the probe is removed: numbers of earlier system calls are forgotten");
	periods = grace_periods;
	probes_ended = 0;
	enters();
	tap_ok(sys_enter_tracepoint.probe && kunwind_emitter && asks(100),
	       "on again while the probe is removed: the event is on");
	end();
	tap_ok(!sys_enter_tracepoint.probe && !kunwind_emitter, "off: neither probe nor memory is left");
	tap_ok(grace_periods > periods, "off: the memory is freed after a grace period");
	tap_ok(probes_ended == 1, "off: the memory is freed after the last probe has returned");
	register_error = -ENOMEM;
	kunwind_emitter_begin();
	drain_workqueue(NULL);
	tap_ok(kunwind_emitter && asks(100), "the probe cannot be registered: the event is on without it");
	kunwind_emitter_end();
	drain_workqueue(NULL);
	register_error = 0;
	kunwind_emitter_begin();
	drain_workqueue(NULL);
	tap_ok(sys_enter_tracepoint.probe, "after a failure: the next time, the probe is registered");
	end();
}

/* The module is unloaded while the event is on. */
static void test_unload(void)
{
	begin();
	flushed = 0;
	kunwind_stack_event_exit();
	tap_ok(!sys_enter_tracepoint.probe && !kunwind_emitter && flushed && !nr_works,
	       "module unload: neither probe nor memory nor work is left");
	tap_ok(kunwind_emitter_begin() == -ENODEV && !nr_works,
	       "module unload: the event cannot be switched on");
	kunwind_emitter_end();
	tap_ok(!nr_works && !users, "event off after the module's exit: no work is queued");
}

int main(void)
{
	test_before_init();
	test_no_memory();
	test_once();
	test_mark();
	test_listeners();
	test_listener();
	test_trust();
	test_contexts();
	test_early();
	test_long();
	test_note();
	test_settle();
	test_unload();
	return tap_done();
}
